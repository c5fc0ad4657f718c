package awsconfig

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// earlyAnswers is an HTTP client that gets the answer to a request when it has sent the body and not yet seen its end,
// as net/http may on a busy machine. It fails the first requests.
type earlyAnswers struct {
	answer string
	failed int
	// bodies are the bodies of the requests, sent the bytes read from each.
	bodies []io.Reader
	sent   []string
}

func (e *earlyAnswers) Do(r *http.Request) (*http.Response, error) {
	text := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, text); err != nil {
		return nil, err
	}
	e.bodies, e.sent = append(e.bodies, r.Body), append(e.sent, string(text))
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(e.answer))}
	if len(e.sent) <= e.failed {
		answer.StatusCode = http.StatusInternalServerError
	}
	return answer, nil
}

// net/http sees the end of a body that the SDK has closed, and no error, for which it would close the connection; then
// the answer would be lost and the call repeated.
func TestAnswersBeforeTheEndOfTheBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, answer string
		call         func(aws.Config) error
	}{
		{"an event", `{"Entries":[{"EventId":"e"}]}`, func(cfg aws.Config) error {
			_, err := eventbridge.NewFromConfig(cfg).PutEvents(t.Context(),
				&eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{Detail: aws.String("{}")}}})
			return err
		}},
		{"an object", "", func(cfg aws.Config) error {
			_, err := s3.NewFromConfig(cfg).PutObject(t.Context(),
				&s3.PutObjectInput{Bucket: aws.String("b"), Key: aws.String("k"),
					Body: bytes.NewReader([]byte("content"))})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := &earlyAnswers{answer: test.answer, failed: 2}
			cfg := errtest.Must(Load(t.Context(), time.Millisecond, config.WithRegion("us-east-1"),
				config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("id", "secret", ""))))(t)
			cfg.HTTPClient = client
			errtest.Fatal(t, test.call(cfg))
			if len(client.sent) != client.failed+1 || client.sent[0] == "" ||
				client.sent[0] != client.sent[client.failed] {
				t.Errorf("sent %q, want the same body %d times", client.sent, client.failed+1)
			}
			for i, body := range client.bodies {
				difftest.Equal(t, fmt.Sprintf("request %d: more bytes of after its answer, the body", i), int64(0),
					errtest.Must(io.Copy(io.Discard, body))(t))
			}
		})
	}
}
