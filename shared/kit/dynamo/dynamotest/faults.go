package dynamotest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// StartFaulty is Start with a client whose batch calls fail as those to a busy table do: every third call is throttled,
// and every third call leaves half of its items unprocessed. The counter tells how many faults were injected.
func StartFaulty(t testing.TB) (*dynamodb.Client, *atomic.Int64) {
	t.Helper()
	f := &faults{}
	options := Start(t).Options()
	options.HTTPClient = f
	options.RetryMaxAttempts = 1
	return dynamodb.New(options), &f.injected
}

type faults struct{ calls, injected atomic.Int64 }

func (f *faults) Do(r *http.Request) (*http.Response, error) {
	operation := r.Header.Get("X-Amz-Target")
	if !strings.HasSuffix(operation, "BatchWriteItem") && !strings.HasSuffix(operation, "BatchGetItem") {
		return http.DefaultClient.Do(r)
	}
	switch f.calls.Add(1) % 3 {
	case 0:
		f.injected.Add(1)
		return Respond(http.StatusBadRequest,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",`+
				`"message":"slow down"}`), nil
	case 1:
		return f.half(r)
	}
	return http.DefaultClient.Do(r)
}

// half sends the first half of a request's items on and reports the others as left over.
func (f *faults) half(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in struct {
		RequestItems map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	left := map[string]json.RawMessage{}
	for table, raw := range in.RequestItems {
		first, rest, ok := cut(raw)
		if !ok {
			return send(r, text)
		}
		in.RequestItems[table], left[table] = first, rest
	}
	f.injected.Add(1)
	sent, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	resp, err := send(r, sent)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, err
	}
	out["UnprocessedItems"], out["UnprocessedKeys"] = left, left
	reply, err := json.Marshal(out)
	return Respond(http.StatusOK, string(reply)), err
}

// cut halves the items of a write or the keys of a read.
func cut(raw json.RawMessage) (first, rest json.RawMessage, ok bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		if len(items) < 2 {
			return nil, nil, false
		}
		return marshal(items[:len(items)/2]), marshal(items[len(items)/2:]), true
	}
	var keys map[string]any
	if json.Unmarshal(raw, &keys) != nil {
		return nil, nil, false
	}
	all := keys["Keys"].([]any)
	if len(all) < 2 {
		return nil, nil, false
	}
	keys["Keys"] = all[:len(all)/2]
	first = marshal(keys)
	keys["Keys"] = all[len(all)/2:]
	return first, marshal(keys), true
}

func marshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what was JSON is JSON
	}
	return text
}

func send(r *http.Request, body []byte) (*http.Response, error) {
	again, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	again.Header = r.Header.Clone()
	return http.DefaultClient.Do(again)
}

// Respond makes the HTTP response of a DynamoDB server, for clients that inject faults.
func Respond(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(strings.NewReader(body)),
	}
}

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
