package platform_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// problem sends a request to an area whose errors are problem details, and returns those.
func problem(t *testing.T, method, path, body string, headers map[string]string) platform.Problem {
	t.Helper()
	status, text, r := sendTo(t, platform.ProblemHandler, method, path, body, headers)
	if got := r.MultiValueHeaders["Content-Type"]; len(got) != 1 || got[0] != "application/problem+json" {
		t.Errorf("got the content type %v of %s, want application/problem+json", got, text)
	}
	var p platform.Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Status != status {
		t.Fatalf("got %d %s, %v, want problem details with the status of the reply", status, text, err)
	}
	return p
}

// An error of any kind is problem details, with its code and the path of the request.
func TestProblems(t *testing.T) {
	const create = "/things"
	for name, tt := range map[string]struct {
		path, body string
		headers    map[string]string
		status     int
		code       string
	}{
		"no tenant":         {create, "", map[string]string{"X-TENANT-ID": "-"}, 400, "MissingTenantHeader"},
		"a wrong body":      {create, "{", nil, 400, "VALIDATION_ERROR"},
		"no permission":     {"/drawings", "", nil, 403, "permission_missing"},
		"another tenant":    {create, "", map[string]string{"X-TENANT-ID": "me"}, 403, "TenantMismatch"},
		"not found":         {create, `{"data":{"name":"gone"}}`, nil, 404, "thing_not_found"},
		"a conflict":        {create, `{"data":{"name":"clash"}}`, nil, 409, "CONFLICT"},
		"too large":         {create, strings.Repeat(" ", 1<<20+1), nil, 413, "body_too_large"},
		"another media":     {create, "{}", map[string]string{"Content-Type": "text/plain"}, 415, "content_type"},
		"too many requests": {create, `{"data":{"name":"often"}}`, nil, 429, "too_often"},
		"a failure":         {create, `{"data":{"name":"boom"}}`, nil, 500, "INTERNAL_SERVER_ERROR"},
		"an outage":         {create, `{"data":{"name":"away"}}`, nil, 503, "INTERNAL_SERVER_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			p := problem(t, "POST", tt.path, tt.body, tt.headers)
			want := platform.Problem{Type: "about:blank", Title: http.StatusText(tt.status), Status: tt.status,
				Instance: tt.path, ErrorCode: tt.code, Detail: p.Detail, ValidationErrors: p.ValidationErrors}
			if diff := cmp.Diff(want, p); diff != "" || p.Detail == "" || strings.Contains(p.Detail, "secret") {
				t.Errorf("want a detail that is safe for clients; want (-), got (+) %s:\n%s", p.Detail, diff)
			}
			if (p.ErrorCode == "VALIDATION_ERROR") != (len(p.ValidationErrors) > 0) {
				t.Errorf("got %s with the validation errors %v", p.ErrorCode, p.ValidationErrors)
			}
		})
	}
}

// Validation errors have the names that problem details give them.
func TestProblemsListValidationErrors(t *testing.T) {
	_, text, _ := sendTo(t, platform.ProblemHandler, "POST", "/things", `{"data":{"size":4}}`, nil)
	const want = `{"type":"about:blank","title":"Bad Request","status":400,"detail":"The request is not valid.",` +
		`"instance":"/things","errorCode":"VALIDATION_ERROR","validationErrors":[` +
		`{"propertyName":"name","errorMessage":"The value is missing.","attemptedValue":null,` +
		`"validatorType":"NotNullValidator"},` +
		`{"propertyName":"size","errorMessage":"The value must be between 0 and 3.","attemptedValue":4,` +
		`"validatorType":"InclusiveBetweenValidator"}]}`
	difftest.Equal(t, "text", want, text)
}

// A request without a token gets problem details from the function, too. (The gateway has a reply of its own.)
func TestProblemsWithoutAToken(t *testing.T) {
	handler := httpapi.Lambda(platform.ProblemHandler(routes(), nil, nil, slog.New(slog.DiscardHandler),
		func() time.Time { return now }))
	r := errtest.Must(handler(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: "GET", Path: "/things/1"}))(t)
	const want = `{"type":"about:blank","title":"Unauthorized","status":401,"detail":"Unauthorized",` +
		`"instance":"/things/1","errorCode":"unauthorized"}`
	difftest.Equal(t, "Body", want, r.Body)
}
