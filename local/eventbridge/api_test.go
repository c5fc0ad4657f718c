package eventbridge

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/local/template"
	"sluice/shared/kit/difftest"
)

func TestPutEvents(t *testing.T) {
	t.Parallel()
	entry := func(bus, source, detail string) string {
		return fmt.Sprintf(`{"EventBusName":%q,"Source":%q,"DetailType":"d","Detail":%q,"Time":1764080001.5}`, bus,
			source, detail)
	}
	good := entry("default", "sluice.batch", `{"a":"\u00e9"}`)
	for _, test := range []struct {
		name, operation, body string
		status                int
		want                  string
		published             int
	}{
		{"one", "PutEvents", `{"Entries":[` + good + `]}`, 200, `{"FailedEntryCount":0,"Entries":[{"EventId":"id"}]}`,
			1},
		{"by ARN", "PutEvents", `{"Entries":[` + entry("arn:aws:events:r:a:event-bus/default", "x", "{}") + `]}`, 200,
			`"FailedEntryCount":0`, 1},
		{"some are refused", "PutEvents", `{"Entries":[` + good + `,` + entry("", "aws.states", "{}") + `,` +
			entry("", "x", "[]") + `,` + entry("", "", "{}") + `]}`, 200,
			`{"FailedEntryCount":3,"Entries":[{"EventId":"id"},` +
				`{"ErrorCode":"NotAuthorizedForSourceException","ErrorMessage":"Not authorized for the source."},` +
				`{"ErrorCode":"MalformedDetail","ErrorMessage":"Detail is malformed."},{"ErrorCode":"InvalidArgument"`,
			1},
		{"unknown bus", "PutEvents", `{"Entries":[` + good + `,` + entry("other", "x", "{}") + `]}`, 400,
			"ResourceNotFoundException", 0},
		{"none", "PutEvents", `{"Entries":[]}`, 400, "ValidationException", 0},
		{"eleven", "PutEvents", `{"Entries":[` + strings.Repeat(good+",", 10) + good + `]}`, 400, "ValidationException",
			0},
		{"not JSON", "PutEvents", `{`, 400, "SerializationException", 0},
		{"another operation", "PutRule", `{}`, 400, "UnknownOperationException", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			invoked := 0
			b := New(t.Context(), Config{
				Rules:  []template.Rule{{Pattern: map[string]any{"detail-type": []any{"d"}}, Functions: []string{"F"}}},
				Region: "r", Account: "a", NewID: func() string { return "id" }, Log: &log,
				Invoke: func(template.Rule, string, []byte) error { invoked++; return nil },
			})
			defer b.Close()
			r := httptest.NewRequest("POST", "/", strings.NewReader(test.body))
			r.Header.Set("X-Amz-Target", TargetPrefix+test.operation)
			w := httptest.NewRecorder()
			b.ServeHTTP(w, r)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, test.status, test.want)
			}
			difftest.Equal(t, "result", []any{test.published, test.published},
				[]any{strings.Count(log.String(), "\n"), invoked})
			if test.name == "one" && !strings.Contains(log.String(), `"detail":{"a":"\u00e9"},"detail-type":"d"`) ||
				test.published > 0 && !strings.Contains(log.String(), `"time":"2025-11-25T14:13:21Z"`) {
				t.Errorf("the log has %s", log.String())
			}
		})
	}
}
