package lambda

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Results of another Lambda endpoint are the same as if the function had run here.
func TestRemoteEndpoint(t *testing.T) {
	t.Parallel()
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		difftest.Equal(t, "request", []any{http.MethodPost, "/2015-03-31/functions/toy/invocations"},
			[]any{r.Method, r.URL.Path})
		switch string(body) {
		case `"fails"`:
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `{"errorType":"Transient","errorMessage":"later"}`)
		case `"is missing"`:
			w.WriteHeader(http.StatusNotFound)
		case `"times out"`:
		case `"answers too much"`:
			_, _ = io.WriteString(w, `"`+strings.Repeat("x", MaxPayload)+`"`)
		case `"hangs"`:
			<-r.Context().Done()
		default:
			_, _ = w.Write(body)
		}
	}))
	defer remote.Close()
	// newService returns a service that waits for the endpoint twice as long as the limit.
	newService := func(limit time.Duration) *Service {
		s := errtest.Must(New(context.Background(), Config{
			Functions: []Function{{Name: "toy", Endpoint: remote.URL, Timeout: limit, Concurrency: 1}},
			Log:       &testLog{}, NewID: uuid.NewString, TempDir: t.TempDir(), JournalDir: t.TempDir(),
			DeadLetterDir: t.TempDir(), InitTimeout: limit,
		}))(t)
		t.Cleanup(s.Close)
		return s
	}
	patient, impatient := newService(timeout), newService(10*time.Millisecond)
	for payload, want := range map[string]string{
		`{"a":1}`: "", `"fails"`: "Transient", `"is missing"`: "Lambda.ServiceException",
		`"times out"`:        "Sandbox.Timedout",
		`"answers too much"`: "Function.ResponseSizeTooLarge", `"hangs"`: "Sandbox.Timedout",
	} {
		s := patient
		if payload == `"hangs"` {
			s = impatient
		}
		r, err := s.Invoke(t.Context(), "toy", []byte(payload))
		if err != nil || r.Failed != (want != "") || r.ErrorType != want || want == "" && string(r.Payload) != payload {
			t.Errorf("%s: failed = %v with %q (%.200s), %v; want %q", payload, r.Failed, r.ErrorType, r.Payload, err,
				want)
		}
	}
	remote.Close()
	difftest.Equal(t, "endpoint not running", "Lambda.ServiceException",
		errtest.Must(patient.Invoke(t.Context(), "toy", []byte(`1`)))(t).ErrorType)
}
