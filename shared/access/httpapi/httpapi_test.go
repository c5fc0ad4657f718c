package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"sluice/shared/access"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

const feature = "batch"

func fullCaller() httpapi.Caller {
	return httpapi.Caller{
		Tenant: "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11", Client: "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01",
		Permissions: []string{"Read", "Write"}, Features: []string{feature},
		Layers: access.Layers{Geographic: []string{"Ireland", "United Kingdom"},
			BusinessRelated: []string{"Retail"}},
		TokenID:    "0c5f4d4e-7a83-4e0e-9d9b-0a1f6a1c7c55",
		Attributes: map[string]string{"maxPast": "3600", "maxFuture": "2592000", "mainEntity": "payment_type"},
		Expires:    now.Add(time.Second).Local(),
	}
}

// testAPI is an API in a Lambda function, with the log and the audit trail that it writes.
type testAPI struct {
	httpapi.API
	log, trail bytes.Buffer
}

func newTestAPI(routes ...httpapi.Route) *testAPI {
	a := &testAPI{}
	a.API = httpapi.API{
		Routes: routes, Errors: httpapi.MonitoringErrors, Log: slog.New(slog.NewJSONHandler(&a.log, nil)),
		Now: func() time.Time { return now },
	}
	a.Audit = audit.New(&a.trail, a.Now, audit.RequestID)
	return a
}

// newEvent returns a request of a caller; without an authorizer's context if the caller is nil.
func newEvent(method, path, body string, c *httpapi.Caller) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueHeaders: map[string][]string{},
		RequestContext: events.APIGatewayProxyRequestContext{DomainName: "api.test", Stage: "live",
			RequestID: "request-1", Identity: events.APIGatewayRequestIdentity{SourceIP: "203.0.113.7"}},
	}
	if body != "" {
		e.MultiValueHeaders["content-type"] = []string{"application/json"}
	}
	if c != nil {
		e.RequestContext.Authorizer = c.Context()
		e.RequestContext.Authorizer[httpapi.ContextRoute] = "/things/{id}" // which is for the gateway
	}
	return e
}

func (a *testAPI) send(t *testing.T, e events.APIGatewayProxyRequest) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	return a.sendWithin(t.Context(), t, e)
}

func (a *testAPI) sendWithin(ctx context.Context, t *testing.T,
	e events.APIGatewayProxyRequest) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	r := errtest.Must(httpapi.Lambda(a.Handler())(ctx, e))(t)
	body := []byte(r.Body)
	if r.IsBase64Encoded {
		body = errtest.Must(base64.StdEncoding.DecodeString(r.Body))(t)
	}
	return r.StatusCode, string(body), r
}

// logged returns the lines of the log.
func (a *testAPI) logged(t *testing.T) []map[string]any {
	t.Helper()
	return decodeLines(t, a.log.String())
}

// recorded returns the records of the audit trail.
func (a *testAPI) recorded(t *testing.T) []map[string]any {
	t.Helper()
	records := decodeLines(t, a.trail.String())
	for _, r := range records {
		maps.DeleteFunc(r, func(_ string, value any) bool { return value == nil }) // members without a value
	}
	return records
}

func decodeLines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(text) {
		var m map[string]any
		errtest.Fatal(t, json.Unmarshal([]byte(line), &m))
		out = append(out, m)
	}
	return out
}

// getRoute is a route that needs a permission and a feature; its endpoint gets the path parameter.
func getRoute(f func(c httpapi.Caller, id string) (httpapi.Reply, error)) httpapi.Route {
	return httpapi.Route{Method: "GET", Path: "/things/{id}", Permissions: []string{"Read"}, Feature: feature,
		Endpoint: func(_ context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
			return f(c, r.PathValue("id"))
		}}
}

// echoRoute is a route that answers with its path parameter.
func echoRoute() httpapi.Route {
	return getRoute(func(c httpapi.Caller, id string) (httpapi.Reply, error) { return httpapi.Reply{Body: id}, nil })
}

// Every path parameter is decoded once; a path of no route is not found and never redirected.
func TestPaths(t *testing.T) {
	c := fullCaller()
	for path, want := range map[string]string{
		"/things/a":                   "a",
		"/things/a%2Fb":               "a/b",
		"/things/a%2F%2Fb":            "a//b",
		"/things/%2E%2E":              "..",
		"/things/a%20b+c":             "a b+c",
		"/things/a%252Fb":             "a%2Fb",
		"/things/%C3%A9%00":           "é\x00",
		"/things/%3F%23%26":           "?#&",
		"/things/" + repeat("x", 255): repeat("x", 255),
		"/things/a:b@c;d,e=f~'()":     "a:b@c;d,e=f~'()",
	} {
		t.Run(path, func(t *testing.T) {
			status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("GET", path, "", &c))
			var got string
			if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || got != want {
				t.Errorf("got %d %q, %v, want 200 %q", status, body, err, want)
			}
		})
	}
	for _, path := range []string{"/", "", "/things", "/things/", "/things/a/", "/things/a/b", "//things/a",
		"/x/../things/a", "/things/..",
		"/Things/a"} {
		t.Run("no route "+path, func(t *testing.T) {
			status, body, r := newTestAPI(echoRoute()).send(t, newEvent("GET", path, "", &c))
			if status != 404 || body != `{"message":"Not found."}` || r.MultiValueHeaders["Location"] != nil {
				t.Errorf("got %d %s %v, want 404 without Location", status, body, r.MultiValueHeaders)
			}
		})
	}
	for _, method := range []string{"DELETE", "HEAD", "OPTIONS"} {
		status, body, _ := newTestAPI(echoRoute()).send(t, newEvent(method, "/things/a", "", &c))
		difftest.Equal(t, "another method", []any{404, `{"message":"Not found."}`}, []any{status, body})
	}
	if status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("GET", "/other", "", nil)); status != 401 {
		t.Errorf("no route and no caller: got %d %s, want 401", status, body)
	}
	if status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("GET", "/things/%zz", "", &c)); status != 400 {
		t.Errorf("a broken escape: got %d %s, want 400", status, body)
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// Every kind of error has its status. The text of a foreign error and of a panic is logged once and never sent.
func TestErrors(t *testing.T) {
	c := fullCaller()
	tests := []struct {
		name   string
		err    error // nil panics
		status int
		body   string
		logged bool
	}{
		{"bad request", fault.New(fault.BadRequest, "x", "Bad."), 400, `{"message":"Bad."}`, false},
		{"not found", fault.New(fault.NotFound, "x", "None."), 404, `{"message":"None."}`, false},
		{"conflict", fault.New(fault.Conflict, "x", "Moved."), 409, `{"message":"Moved."}`, false},
		{"throttled", fault.New(fault.Throttled, "x", "Slow."), 429, `{"message":"Slow."}`, false},
		{"unavailable", fault.New(fault.Unavailable, "x", "Later.").WithCause(errors.New("secret")), 503,
			`{"message":"Later."}`, true},
		{"invalid", fault.New(fault.Invalid, "x", "Wrong."), 422,
			`{"detail":[{"loc":["body"],"msg":"Wrong.","type":"x"}]}`, false},
		{"a throttled call", fmt.Errorf("secret: %w", &smithy.GenericAPIError{Code: "ThrottlingException"}), 503,
			`{"message":"The service is busy. Try again later."}`, true},
		{"another error of AWS", &smithy.GenericAPIError{Code: "ValidationException"}, 500,
			`{"message":"Internal server error."}`, true},
		{"a foreign error", errors.New("secret"), 500, `{"message":"Internal server error."}`, true},
		{"a panic", nil, 500, `{"message":"Internal server error."}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newTestAPI(getRoute(func(httpapi.Caller, string) (httpapi.Reply, error) {
				if tt.err == nil {
					panic("secret")
				}
				return httpapi.Reply{}, tt.err
			}))
			status, body, _ := a.send(t, newEvent("GET", "/things/1", "", &c))
			difftest.Equal(t, "status and body", []any{tt.status, tt.body}, []any{status, body})
			failed := 0
			for _, line := range a.logged(t) {
				if line["msg"] == "request failed" {
					failed++
				}
			}
			records := a.recorded(t)
			if want := map[bool]int{true: 1}[tt.logged]; failed != want || len(records) != 1 {
				t.Fatalf("got %d causes and %d requests in the log, want %d and 1:\n%s%s", failed, len(records), want,
					a.log.String(), a.trail.String())
			}
			if r := records[0]; r["route"] != "/things/{id}" || r["status"] != float64(tt.status) ||
				r["method"] != "GET" {
				t.Errorf("got the record %v, want GET /things/{id} %d", r, tt.status)
			}
		})
	}
}

// A request that hangs is answered, and logged, while its invocation still has time.
func TestLateRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fullCaller()
		route := getRoute(nil)
		route.Endpoint = func(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
			<-ctx.Done()
			return httpapi.Reply{}, fmt.Errorf("read: %w", ctx.Err())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
		defer cancel()
		start := time.Now()
		status, body, _ := newTestAPI(route).sendWithin(ctx, t, newEvent("GET", "/things/1", "", &c))
		const want = `{"message":"The service did not answer in time. Try again."}`
		difftest.Equal(t, "result", []any{503, want, 27 * time.Second}, []any{status, body, time.Since(start)})
	})
}

func TestReplies(t *testing.T) {
	c := fullCaller()
	a := newTestAPI(getRoute(func(_ httpapi.Caller, id string) (httpapi.Reply, error) {
		switch id {
		case "empty":
			return httpapi.Reply{Status: 204, Header: map[string][]string{"X-Of-Ours": {"1"}}}, nil
		case "channel":
			return httpapi.Reply{Body: make(chan int)}, nil
		}
		return httpapi.Reply{Status: 202, Body: map[string]string{"url": "https://x/?a=1&b=<2>"}}, nil
	}))
	for _, tt := range []struct {
		id     string
		status int
		body   string
	}{
		{"empty", 204, ""},
		{"channel", 500, `{"message":"Internal server error."}`},
		{"other", 202, `{"url":"https://x/?a=1&b=<2>"}`},
	} {
		t.Run(tt.id, func(t *testing.T) {
			status, body, r := a.send(t, newEvent("GET", "/things/"+tt.id, "", &c))
			difftest.Equal(t, "status and body", []any{tt.status, tt.body}, []any{status, body})
			if got := r.MultiValueHeaders["X-Of-Ours"]; tt.id == "empty" && (len(got) != 1 || got[0] != "1") {
				t.Errorf("got the header %v, want 1", got)
			}
		})
	}
}
