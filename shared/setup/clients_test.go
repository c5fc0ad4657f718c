package setup

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// A call to AWS that fails for a reason that passes is repeated, as often as the faults of docs/faults.md are survived.
func TestCallsAreRepeated(t *testing.T) {
	cfg, err := LoadAWS(t.Context(), retrying(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Retryer().MaxAttempts(); got != 5 {
		t.Errorf("a call is attempted up to %d times, want 5", got)
	}
}

// A call whose reply is cut off is repeated, whether or not the connection is reset.
func TestCutOffReplies(t *testing.T) {
	const reply = `{"TableNames":["batches"]}`
	for _, sent := range []int{0, 1, len(reply) - 1, len(reply)} {
		var calls atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
			text := reply
			if calls.Add(1) == 1 {
				text = reply[:sent] // the server closes the connection when the handler has written less than announced
			}
			_, _ = io.WriteString(w, text)
		}))
		defer server.Close()
		cfg, err := LoadAWS(t.Context(), retrying(time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		cfg.BaseEndpoint, cfg.Region = &server.URL, "us-east-1"
		cfg.Credentials = credentials.NewStaticCredentialsProvider("id", "secret", "")
		got, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		want := int64(2)
		if sent == len(reply) {
			want = 1
		}
		if err != nil || len(got.TableNames) != 1 || calls.Load() != want {
			t.Errorf("%d bytes of %d: got %+v and %v after %d calls, want a table after %d", sent, len(reply), got, err,
				calls.Load(), want)
		}
	}
}
