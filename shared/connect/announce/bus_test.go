package announce_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"

	"sluice/shared/connect/announce"
	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A message is sent only if the bus confirms its entry.
func TestBusAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		answer string
		want   string
	}{
		{"accepted", 200, `{"FailedEntryCount":0,"Entries":[{"EventId":"e"}]}`, ""},
		{"refused entry", 200, `{"FailedEntryCount":1,"Entries":[{"ErrorCode":"ThrottlingException",` +
			`"ErrorMessage":"slow"}]}`,
			"ThrottlingException: slow"},
		{"no entry", 200, `{"FailedEntryCount":0,"Entries":[]}`, "no entry"},
		{"refused request", 400, `{"__type":"AccessDeniedException","message":"no"}`, "AccessDeniedException"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var request struct{ Entries []map[string]any }
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				errtest.Is(t, "Decode", json.NewDecoder(r.Body).Decode(&request), nil)
				w.Header().Set("Content-Type", "application/x-amz-json-1.1")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.answer)
			}))
			defer server.Close()
			bus := announce.NewBus(eventbridge.New(eventbridge.Options{
				BaseEndpoint: &server.URL, Region: "us-east-1", Retryer: aws.NopRetryer{},
				Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
			}), "a-bus")
			m := event.Message{ID: "m", Type: event.BatchFailed, Payload: []byte(`{"name":"é"}`),
				When: time.Unix(1764080001, 0)}
			err := bus.Send(t.Context(), m)
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
			detail := errtest.Must(m.Encode())(t)
			want := []map[string]any{{"EventBusName": "a-bus", "Source": "sluice.batch", "Time": 1764080001.,
				"DetailType": "batchtransaction:ingestionFailed", "Detail": string(detail)}}
			difftest.Equal(t, "entries", want, request.Entries)
		})
	}
}
