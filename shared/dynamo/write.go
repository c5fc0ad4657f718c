package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"
)

// writeAll puts items 25 at a time, a few calls at once, writing again what a throttled table leaves over. The items have
// distinct keys: one call with a key twice is refused whole.
func writeAll(ctx context.Context, db *dynamodb.Client, table string, puts []types.WriteRequest) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelism)
	for part := range slices.Chunk(puts, writeBatch) {
		g.Go(func() error { return writeSome(ctx, db, table, part) })
	}
	return g.Wait()
}

func writeSome(ctx context.Context, db *dynamodb.Client, table string, left []types.WriteRequest) error {
	for wait := newBackoff(); ; {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: left},
		})
		if throttled(err) {
			if err := wait.sleep(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if left = out.UnprocessedItems[table]; len(left) == 0 {
			return nil
		}
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// throttled reports whether a table refused a call for its rate. The SDK has tried a few times by then and gives up early
// when many calls fail; here every line must be written, and only the deadline ends that.
func throttled(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	_, is := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return is
}

// backoff spreads the retries of throttled calls: full jitter, from 20 ms to 2 s. It ends with the context only, because
// the caller's deadline, not a count, says how long trying is worth while.
type backoff struct{ limit time.Duration }

func newBackoff() *backoff { return &backoff{20 * time.Millisecond} }

func (b *backoff) sleep(ctx context.Context) error {
	timer := time.NewTimer(rand.N(b.limit))
	defer timer.Stop()
	b.limit = min(2*b.limit, 2*time.Second)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
