package dynamotest

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Forgetful returns a client of the same server that does each write of one item and loses its first answer, so that
// the SDK repeats it. Transactions are repeated as one by their tokens, on AWS.
func Forgetful(db *dynamodb.Client) *dynamodb.Client {
	options := db.Options()
	options.HTTPClient = &forgetful{seen: map[string]bool{}}
	options.RetryMaxAttempts = 0
	options.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	return dynamodb.New(options)
}

// forgetful loses the first answer of each call that writes.
type forgetful struct {
	mu sync.Mutex
	// seen are the invocations of the SDK that have lost an answer.
	seen map[string]bool
}

func (f *forgetful) Do(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultClient.Do(r)
	operation := r.Header.Get("X-Amz-Target")
	isWrite := strings.HasSuffix(operation, ".PutItem") || strings.HasSuffix(operation, ".UpdateItem") ||
		strings.HasSuffix(operation, ".DeleteItem")
	invocation := r.Header.Get("Amz-Sdk-Invocation-Id")
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || !isWrite || resp.StatusCode != http.StatusOK || f.seen[invocation] {
		return resp, err
	}
	f.seen[invocation] = true
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return Respond(http.StatusInternalServerError, `{"__type":"InternalServerError","message":"the answer is lost"}`),
		nil
}
