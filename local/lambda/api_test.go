package lambda

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

func TestInvokeAPI(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	server := httptest.NewServer(h)
	defer server.Close()
	arn := "arn:aws:lambda:eu-west-1:000000000000:function:toy"
	tests := []struct {
		name, kind, body  string
		status            int
		errorType, failed string
	}{
		{"toy", "", `{"Text":"x"}`, 200, "", ""},
		{arn, "RequestResponse", ``, 200, "", ""},
		{arn + ":$LATEST", "", `{}`, 200, "", ""},
		{arn + ":7", "", `{}`, 404, "ResourceNotFoundException", ""},
		{"toy", "", `{"Do":"fail"}`, 200, "", "Unhandled"},
		{"toy", "Event", `{}`, 202, "", ""},
		{"toy", "DryRun", `{}`, 400, "InvalidParameterValueException", ""},
		{"toy", "event", `{}`, 400, "InvalidParameterValueException", ""},
		{"other", "", `{}`, 404, "ResourceNotFoundException", ""},
		{"other", "Event", `{}`, 404, "ResourceNotFoundException", ""},
		{"toy", "", `{`, 400, "InvalidRequestContentException", ""},
		{"toy", "", `"` + strings.Repeat("x", MaxPayload) + `"`, 413, "RequestTooLargeException", ""},
		{"toy", "Event", `"` + strings.Repeat("x", maxAsyncPayload) + `"`, 413, "RequestTooLargeException", ""},
	}
	for _, test := range tests {
		r := errtest.Must(http.NewRequest(http.MethodPost, server.URL+PathPrefix+test.name+"/invocations",
			strings.NewReader(test.body)))(t)
		r.Header.Set("X-Amz-Invocation-Type", test.kind)
		resp := errtest.Must(http.DefaultClient.Do(r))(t)
		resp.Body.Close()
		if resp.StatusCode != test.status || resp.Header.Get("X-Amzn-ErrorType") != test.errorType ||
			resp.Header.Get("X-Amz-Function-Error") != test.failed {
			t.Errorf("%s %s %.20s: %d %v, want %d with error %q and function error %q", test.name, test.kind, test.body,
				resp.StatusCode, resp.Header, test.status, test.errorType, test.failed)
		}
	}
}
