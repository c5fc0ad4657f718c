package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"
)

// PutAll puts items 25 at a time, a few calls at once, writing again what a throttled table leaves over. The items have
// distinct keys: one call with a key twice is refused whole.
func PutAll(ctx context.Context, db *dynamodb.Client, table string, puts []types.WriteRequest) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Concurrency)
	for part := range slices.Chunk(puts, MaxPutItems) {
		g.Go(func() error { return writeSome(ctx, db, table, part) })
	}
	return g.Wait()
}

func writeSome(ctx context.Context, db *dynamodb.Client, table string, left []types.WriteRequest) error {
	for wait := NewBackoff(); ; {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: left},
		})
		if IsThrottled(err) {
			if err := wait.Wait(ctx); err != nil {
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
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}

// IsThrottled reports whether a table refused a call for its rate. The SDK has tried a few times by then and gives up early
// when many calls fail; here every line must be written, and only the deadline ends that.
func IsThrottled(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	_, is := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return is
}

// Backoff spreads the retries of throttled calls: full jitter, from 20 ms to 2 s. It ends with the context only, because
// the caller's deadline, not a count, says how long trying is worth while.
type Backoff struct{ limit time.Duration }

func NewBackoff() *Backoff { return &Backoff{20 * time.Millisecond} }

func (b *Backoff) Wait(ctx context.Context) error {
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

// RetryConflicts repeats a write while transactions of others hold its items.
func RetryConflicts(ctx context.Context, write func() error) error {
	for wait := NewBackoff(); ; {
		err := write()
		if !locked(err) {
			return err
		}
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}

const ConditionFailed = "ConditionalCheckFailed"

func locked(err error) bool {
	var conflict *types.TransactionConflictException
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) {
		return errors.As(err, &conflict)
	}
	held := false
	for _, r := range canceled.CancellationReasons {
		switch aws.ToString(r.Code) {
		case ConditionFailed:
			return false
		case "TransactionConflict":
			held = true
		}
	}
	return held
}
