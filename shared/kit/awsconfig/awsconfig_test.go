package awsconfig

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/internal/environ"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// TestMain keeps the AWS settings of the developer out of the tests.
func TestMain(m *testing.M) {
	environ.Unset("AWS_")
	os.Exit(m.Run())
}

// A call to AWS that fails for a reason that passes is repeated, as often as the faults of docs/faults.md are survived.
func TestCallsAreRepeated(t *testing.T) {
	cfg := errtest.Must(Load(t.Context(), time.Millisecond))(t)
	difftest.Equal(t, "times that a call is attempted up to", 5, cfg.Retryer().MaxAttempts())
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
		cfg := errtest.Must(Load(t.Context(), time.Millisecond))(t)
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

// The settings of an endpoint have nothing of the environment, which may lead to another endpoint, and else what those
// of the environment have.
func TestAt(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"TableNames":["`+strings.Split(r.Header.Get("Authorization"), "/")[2]+`"]}`)
	}))
	defer server.Close()
	ours := errtest.Must(Load(t.Context(), 0))(t)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1",
		"AWS_PROFILE": "a-profile-that-does-not-exist", "AWS_REGION": "eu-west-3", "AWS_DEFAULTS_MODE": "no mode",
		"AWS_CONFIG_FILE": t.TempDir(), "AWS_CA_BUNDLE": "/no/file", "AWS_MAX_ATTEMPTS": "none",
	} {
		t.Setenv(name, value)
	}
	cfg := At(server.URL, "us-east-1", credentials.NewStaticCredentialsProvider("id", "secret", ""))
	got, err := dynamodb.NewFromConfig(cfg).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	if err != nil || calls.Load() != 1 || got.TableNames[0] != "us-east-1" {
		t.Errorf("got %+v and %v after %d calls, want the region us-east-1 after 1", got, err, calls.Load())
	}
	if cfg.RequestChecksumCalculation != ours.RequestChecksumCalculation ||
		cfg.ResponseChecksumValidation != ours.ResponseChecksumValidation ||
		cfg.Retryer().MaxAttempts() != ours.Retryer().MaxAttempts() {
		t.Errorf("got checksums %v and %v, want those of Load: %v and %v; and as many attempts",
			cfg.RequestChecksumCalculation, cfg.ResponseChecksumValidation, ours.RequestChecksumCalculation,
			ours.ResponseChecksumValidation)
	}
}
