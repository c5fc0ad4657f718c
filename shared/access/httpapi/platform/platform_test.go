package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

type thing struct {
	Name  string            `json:"name"`
	Size  int               `json:"size"`
	On    bool              `json:"on"`
	Map   map[string]string `json:"map"`
	Parts []thing           `json:"parts"`
}

func (in *thing) Check(v *platform.ValidationErrors) {
	v.RequireText("name", in.Name, 5)
	v.CheckBetween("size", in.Size, 0, 3)
}

// shortTexts is an unenveloped body of texts, the last of which has at most one character.
type shortTexts []string

func (in *shortTexts) Check(v *platform.ValidationErrors) {
	last := len(*in) - 1
	v.CheckText(fmt.Sprintf("names.%d", last), (*in)[last], 1)
}

// routes are those that are tested, of either format of errors.
func routes() []httpapi.Route {
	errs := map[string]error{
		"gone":  fault.New(fault.NotFound, "thing_not_found", "No thing."),
		"clash": fault.New(fault.Conflict, "x", "Moved on."),
		"boom":  errors.New("secret"),
		"often": fault.New(fault.Throttled, "too_often", "Too many requests."),
		"away":  fault.New(fault.Unavailable, "away", "Try again.").WithCause(errors.New("secret")),
	}
	create := func(_ context.Context, _ *platform.Request, in thing) (string, error) { return in.Name, errs[in.Name] }
	encode := func(_ context.Context, _ *platform.Request, in thing) (platform.EncodedData, error) {
		return platform.EncodedData(`{ "<name>": "` + in.Name + `"}`), errs[in.Name]
	}
	createWithWarning := func(_ context.Context, _ *platform.Request, in thing) (platform.WithWarnings[string], error) {
		return platform.WithWarnings[string]{Data: in.Name,
			Messages: []platform.Message{platform.Warning("", "So so.")}}, errs[in.Name]
	}
	accept := func(context.Context, *platform.Request, shortTexts) (platform.NoData, error) {
		return platform.NoData{}, nil
	}
	read := func(_ context.Context, r *platform.Request, _ platform.NoBody) (string, error) {
		if id := r.PathValue("id"); id != "x" {
			return id, nil
		}
		return r.PathUUID("id")
	}
	filter := func(_ context.Context, r *platform.Request, _ platform.NoBody) (any, error) {
		return nil, r.Validate(func(v *platform.ValidationErrors) {
			v.CheckQueryUUID("model")
			v.CheckQueryBool("all")
		})
	}
	return []httpapi.Route{
		{Method: "POST", Path: "/things", Permissions: []string{"Edit", "Draw"}, Endpoint: platform.Endpoint(create)},
		{Method: "POST", Path: "/drawings", Permissions: []string{"Draw"}, Endpoint: platform.Endpoint(create)},
		{Method: "POST", Path: "/flat", Endpoint: platform.Endpoint(createWithWarning, platform.FlattenErrors())},
		{Method: "POST", Path: "/encoded", Endpoint: platform.Endpoint(encode, platform.ReadOnly())},
		{Method: "POST", Path: "/search", Endpoint: platform.Endpoint(create, platform.ReadOnly())},
		{Method: "PUT", Path: "/unenveloped", Endpoint: platform.Endpoint(accept, platform.Unenveloped("names"))},
		{Method: "GET", Path: "/things/{id}", Endpoint: platform.Endpoint(read)},
		{Method: "DELETE", Path: "/things", Endpoint: platform.Endpoint(filter)},
	}
}

// send sends a request; the value "-" takes a header away.
func send(t *testing.T, method, path, body string,
	headers map[string]string) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	return sendTo(t, platform.Handler, method, path, body, headers)
}

// sendTo is send for the routes with the errors of a constructor of handlers.
func sendTo(t *testing.T,
	newHandler func([]httpapi.Route, *ratelimit.Limiter, *audit.Log, *slog.Logger, func() time.Time) http.Handler,
	method, path, body string, headers map[string]string) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	handler := newHandler(routes(), nil, nil, slog.New(slog.DiscardHandler), func() time.Time { return now })
	path, query, _ := strings.Cut(path, "?")
	values := errtest.Must(url.ParseQuery(query))(t)
	c := httpapi.Caller{Tenant: tenant, Client: "c", Permissions: []string{"Edit"}, Expires: now.Add(time.Hour)}
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: values,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {tenant}, "Content-Type": {"application/json"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: c.Context()},
	}
	for name, value := range headers {
		if e.MultiValueHeaders[name] = []string{value}; value == "-" {
			delete(e.MultiValueHeaders, name)
		}
	}
	r := errtest.Must(httpapi.Lambda(handler)(t.Context(), e))(t)
	return r.StatusCode, r.Body, r
}

func TestEnvelopes(t *testing.T) {
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"a command", "POST", "/things", `{"data":{"name":"a"}}`, 202, `{"data":"a","messages":[]}`},
		{"a command with warnings", "POST", "/flat", `{"data":{"name":"a"}}`, 202,
			`{"data":"a","messages":[{"message":"So so.","type":"Warning"}]}`},
		{"encoded data", "POST", "/encoded", `{"data":{"name":"a"}}`, 200, `{"data":{ "<name>": "a"},"messages":[]}`},
		{"an error in place of encoded data", "POST", "/encoded", `{"data":{"name":"gone"}}`, 404,
			`{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		{"flattened errors", "POST", "/flat", `{"data":{"size":4}}`, 400,
			`{"data":null,"messages":[{"message":"The request is not valid. ` +
				`name: The value is missing. size: The value must be between 0 and 3.","type":"Error",` +
				`"errorCode":"invalid_request"}]}`},
		{"another error", "POST", "/flat", `{"data":{"name":"gone"}}`, 404,
			`{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		{"a read", "GET", "/things/7", "", 200, `{"data":"7","messages":[]}`},
		{"a search", "POST", "/search", `{"data":{"name":"a"}}`, 200, `{"data":"a","messages":[]}`},
		{"an unenveloped body", "PUT", "/unenveloped", `["a"]`, 202, `{"data":null,"messages":[]}`},
		{"no parameters", "DELETE", "/things", "", 202, `{"data":null,"messages":[]}`},
		{"good parameters", "DELETE", "/things?all=true&model=" + tenant, "", 202, `{"data":null,"messages":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := send(t, tt.method, tt.path, tt.body, nil)
			difftest.Equal(t, "status and body", []any{tt.status, tt.want}, []any{status, body})
		})
	}
}

func TestErrors(t *testing.T) {
	for name, want := range map[string]struct {
		status int
		body   string
	}{
		"clash": {409, `{"data":{},"messages":[{"message":"Moved on.","type":"Error","errorCode":"CONFLICT"}]}`},
		"gone":  {404, `{"data":{},"messages":[{"message":"No thing.","type":"Error","errorCode":"thing_not_found"}]}`},
		"boom": {500, `{"data":{},"messages":[{"message":"Internal server error.","type":"Error",` +
			`"errorCode":"INTERNAL_SERVER_ERROR"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, _ := send(t, "POST", "/things", `{"data":{"name":"`+name+`"}}`, nil)
			difftest.Equal(t, "status and body", []any{want.status, want.body}, []any{status, body})
		})
	}
}

func TestHeaders(t *testing.T) {
	for name, tt := range map[string]struct {
		headers map[string]string
		status  int
		body    string // a part of it
	}{
		"no tenant":       {map[string]string{"X-TENANT-ID": "-"}, 400, `"errorCode":"MissingTenantHeader"`},
		"an empty tenant": {map[string]string{"X-TENANT-ID": ""}, 400, `"errorCode":"MissingTenantHeader"`},
		"another tenant": {map[string]string{"X-TENANT-ID": "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"}, 403,
			`"type":"Forbidden"`},
		"not a UUID": {map[string]string{"X-TENANT-ID": "me"}, 403, `"type":"Forbidden"`},
		"upper case": {map[string]string{"X-TENANT-ID": strings.ToUpper(tenant)}, 202, `"a"`},
		"another type": {map[string]string{"Content-Type": "text/plain"}, 415,
			`"title":"Unsupported Media Type"`},
		"with correlation":        {map[string]string{"X-CORRELATION-ID": "abc"}, 202, `"a"`},
		"the longest correlation": {map[string]string{"X-CORRELATION-ID": strings.Repeat("x", 128)}, 202, `"a"`},
		"too long a correlation": {map[string]string{"X-CORRELATION-ID": strings.Repeat("x", 129)}, 400,
			`"errorCode":"correlation_id_too_long"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, r := send(t, "POST", "/things", `{"data":{"name":"a"}}`, tt.headers)
			if status != tt.status || !strings.Contains(body, tt.body) {
				t.Errorf("got %d %s, want %d with %s", status, body, tt.status, tt.body)
			}
			got := r.MultiValueHeaders["X-Correlation-Id"]
			sent := tt.headers["X-CORRELATION-ID"]
			if sent != "" && len(sent) <= 128 && (len(got) != 1 || got[0] != sent) {
				t.Errorf("got the correlation ID %v, want %s", got, sent)
			}
			want := "application/json"
			if status == 415 {
				want = "application/problem+json"
			}
			if got := r.MultiValueHeaders["Content-Type"]; len(got) != 1 || got[0] != want {
				t.Errorf("got the content type %v, want %s", got, want)
			}
		})
	}
}

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
