package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/lambda"
	"sluice/local/template"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// functions holds the implementation of each function by name.
type functions map[string]func(ctx context.Context, payload []byte) (lambda.Result, error)

func (f functions) Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error) {
	return f[name](ctx, payload)
}

// respond returns a function that returns v as its payload.
func respond(v any) func(context.Context, []byte) (lambda.Result, error) {
	return func(context.Context, []byte) (lambda.Result, error) {
		text, err := json.Marshal(v)
		return lambda.Result{Payload: text}, err
	}
}

var api = template.API{
	ID: "Api", Stage: "live", BinaryMediaTypes: []string{"image/png"},
	Routes: []template.Route{
		{Method: "GET", Path: "/a/{id}", Function: "Echo"},
		{Method: "PUT", Path: "/a/{id}", Function: "Echo"},
		{Method: "GET", Path: "/a/fixed", Function: "Fixed"},
		{Method: "GET", Path: "/a/{id}/b/{n}", Function: "Echo"},
		{Method: "POST", Path: "/a", Function: "Echo"},
		{Method: "ANY", Path: "/g/{rest+}", Function: "Echo"},
		{Method: "GET", Path: "/closed", Function: "Echo", Authorizer: "Guard"},
	},
	Responses: map[string]template.GatewayResponse{
		"UNAUTHORIZED": {
			Status: 401,
			Headers: map[string]string{"WWW-Authenticate": "'Bearer'", "X-Request-Id": template.MappedRequestID,
				"X-Correlation-Id": template.MappedRequestHeader + "X-CORRELATION-ID"},
			Body: `{"message": "Unauthorized"}`,
		},
		"MISSING_AUTHENTICATION_TOKEN": {Status: 404, Body: `{"message": "Not found."}`},
		"DEFAULT_5XX":                  {Body: `{"message": $context.error.messageString}`},
	},
}

// newTestServer starts a gateway with the functions. Unless replaced, echo responds with its event and fixed with
// status 204.
func newTestServer(t *testing.T, f functions) *httptest.Server {
	t.Helper()
	return newTestServerWithin(t, f, time.Minute)
}

// newTestServerWithin is newTestServer with a limit for the time of a function.
func newTestServerWithin(t *testing.T, f functions, timeout time.Duration) *httptest.Server {
	t.Helper()
	all := functions{
		"echo": func(_ context.Context, payload []byte) (lambda.Result, error) {
			text, err := json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: string(payload)})
			return lambda.Result{Payload: text}, err
		},
		"fixed": respond(events.APIGatewayProxyResponse{StatusCode: 204}),
	}
	for name, implementation := range f {
		all[name] = implementation
	}
	server := httptest.NewServer(New(Config{API: api, Functions: all, Region: "eu-west-1", Account: "000000000000",
		Names: map[string]string{"Echo": "echo", "Fixed": "fixed", "Guard": "guard"},
		NewID: func() string { return "the-id" }, Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
		Timeout: timeout}))
	t.Cleanup(server.Close)
	return server
}

// send sends a request and returns the response and its body. Headers are names and values in turn.
func send(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r := errtest.Must(http.NewRequest(method, url, strings.NewReader(body)))(t)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp := errtest.Must(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	return resp, string(text)
}

func TestEvent(t *testing.T) {
	server := newTestServer(t, nil)
	_, text := send(t, "GET", server.URL+"/a/x%2Fy%20z/b/1?q=1&q=2%26&e=", "", "X-Two", "1", "X-Two", "2", "User-Agent",
		"toy")
	var e events.APIGatewayProxyRequest
	errtest.Fatal(t, json.Unmarshal([]byte(text), &e))
	host := strings.TrimPrefix(server.URL, "http://")
	want := events.APIGatewayProxyRequest{
		Resource: "/a/{id}/b/{n}", Path: "/a/x%2Fy%20z/b/1", HTTPMethod: "GET",
		Headers: map[string]string{"Accept-Encoding": "gzip", "Host": host, "User-Agent": "toy", "X-Two": "2",
			"X-Amzn-Trace-Id": "Root=the-id", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http"},
		MultiValueHeaders: map[string][]string{
			"Accept-Encoding":   {"gzip"},
			"Host":              {host},
			"User-Agent":        {"toy"},
			"X-Two":             {"1", "2"},
			"X-Amzn-Trace-Id":   {"Root=the-id"},
			"X-Forwarded-For":   {"127.0.0.1"},
			"X-Forwarded-Proto": {"http"},
		},
		QueryStringParameters:           map[string]string{"q": "2&", "e": ""},
		MultiValueQueryStringParameters: map[string][]string{"q": {"1", "2&"}, "e": {""}},
		PathParameters:                  map[string]string{"id": "x%2Fy%20z", "n": "1"},
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: "000000000000", ResourceID: "local", APIID: "local", Stage: "live", DomainName: host,
			DomainPrefix: "local",
			RequestID:    "the-id", ExtendedRequestID: "the-id", Protocol: "HTTP/1.1", ResourcePath: "/a/{id}/b/{n}",
			Path: "/live/a/x%2Fy%20z/b/1", HTTPMethod: "GET", RequestTime: "14/Nov/2023:22:13:20 +0000",
			RequestTimeEpoch: 1_700_000_000_000,
			Identity:         events.APIGatewayRequestIdentity{SourceIP: "127.0.0.1", UserAgent: "toy"},
		},
	}
	difftest.Equal(t, "e", want, e)
}

func TestBodies(t *testing.T) {
	server := newTestServer(t, nil)
	tests := []struct {
		contentType, body, want string
		encoded                 bool
	}{
		{"application/json", `{"a": "é"}`, `{"a": "é"}`, false},
		{"text/plain", "\xff", "\uFFFD", false},
		{"image/png; q=1", "\xff\x00", "/wA=", true},
	}
	for _, test := range tests {
		_, text := send(t, "POST", server.URL+"/a", test.body, "Content-Type", test.contentType)
		var e events.APIGatewayProxyRequest
		errtest.Fatal(t, json.Unmarshal([]byte(text), &e))
		difftest.Equal(t, fmt.Sprintf("%s %q: body", test.contentType, test.body), []any{test.want, test.encoded},
			[]any{e.Body, e.IsBase64Encoded})
	}
}

func TestRoutes(t *testing.T) {
	server := newTestServer(t, nil)
	tests := []struct {
		method, path string
		status       int
		resource     string
	}{
		{"GET", "/a/1", 200, "/a/{id}"}, {"GET", "/a/1/", 200, "/a/{id}"}, {"GET", "/a/fixed", 204, ""},
		{"GET", "/a/fixed2", 200, "/a/{id}"}, {"DELETE", "/g/x/y", 200, "/g/{rest+}"},
		{"GET", "/a", 404, ""}, {"POST", "/a/1", 404, ""}, {"GET", "/a//b/1", 404, ""}, {"GET", "/a/1/b/2/3", 404, ""},
		{"GET", "/", 404, ""}, {"GET", "/A/1", 404, ""}, {"GET", "/live/a/1", 404, ""}, {"GET", "/%61/1", 404, ""},
		// The resource that matches best lacks the method.
		{"PUT", "/a/1", 200, "/a/{id}"}, {"PUT", "/a/fixed", 404, ""},
	}
	for _, test := range tests {
		resp, text := send(t, test.method, server.URL+test.path, "")
		if resp.StatusCode != test.status || !strings.Contains(text, test.resource) {
			t.Errorf("%s %s: %d %s, want %d with the resource %q", test.method, test.path, resp.StatusCode, text,
				test.status, test.resource)
		}
		if test.status == 404 && text != `{"message": "Not found."}` {
			t.Errorf("%s %s: body %s, want the template's", test.method, test.path, text)
		}
	}
}

// The order of the routes in the template says nothing.
func TestFixedSegmentsPrecedeParameters(t *testing.T) {
	var all []template.Route
	for _, path := range []string{"/e/{id}/d/{doc}", "/e", "/e/{rest+}", "/e/{id}/d/new", "/f/{id}", "/e/{id}"} {
		all = append(all, template.Route{Method: "GET", Path: path})
	}
	sorted := sortRoutes(all)
	for path, want := range map[string]string{
		"/e/1/d/new": "/e/{id}/d/new", "/e/1/d/old": "/e/{id}/d/{doc}", "/e/1": "/e/{id}", "/e/1/x": "/e/{rest+}",
	} {
		if got, _, _ := sorted.find("GET", path); got.Path != want {
			t.Errorf("%s leads to %s, want %s", path, got.Path, want)
		}
	}
}

// For a path without a method, API Gateway takes a bearer token for a malformed signature.
func TestTokenWithoutRoute(t *testing.T) {
	closed := api
	closed.Responses = map[string]template.GatewayResponse{
		"DEFAULT_4XX": {Status: 404, Body: `{"message": "Nothing."}`},
	}
	server := httptest.NewServer(New(Config{API: closed, NewID: func() string { return "id" }, Now: time.Now}))
	defer server.Close()
	for _, method := range []string{"GET", "DELETE", "OPTIONS"} {
		req := errtest.Must(http.NewRequest(method, server.URL+"/a", nil))(t)
		req.Header.Set("Authorization", "Bearer x")
		resp := errtest.Must(http.DefaultClient.Do(req))(t)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 404 || string(text) != `{"message": "Nothing."}` {
			t.Errorf("%s: %d %s, %v; want 404 with the template's body", method, resp.StatusCode, text, err)
		}
	}
}

func TestResponses(t *testing.T) {
	fail := func(r lambda.Result, err error) func(context.Context, []byte) (lambda.Result, error) {
		return func(context.Context, []byte) (lambda.Result, error) { return r, err }
	}
	tests := []struct {
		name   string
		invoke func(context.Context, []byte) (lambda.Result, error)
		status int
		body   string
	}{
		{"text", respond(events.APIGatewayProxyResponse{StatusCode: 201, Body: "x"}), 201, "x"},
		{"no status", respond(map[string]string{"body": "x"}), 502, ""},
		{"no object", respond("x"), 502, ""},
		{"failed", fail(lambda.Result{Failed: true}, nil), 502, ""},
		{"too large", fail(lambda.Result{}, lambda.ErrTooLarge), 413, ""},
		{"throttled", fail(lambda.Result{}, &lambda.ThrottledError{}), 500, `{"message": "Internal server error"}`},
		{"stopped", fail(lambda.Result{}, errors.New("stopped")), 500, ""},
		{"slow", func(ctx context.Context, _ []byte) (lambda.Result, error) {
			<-ctx.Done()
			return lambda.Result{}, ctx.Err()
		}, 504, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			timeout := time.Minute
			if test.status == http.StatusGatewayTimeout {
				timeout = 50 * time.Millisecond
			}
			server := newTestServerWithin(t, functions{"fixed": test.invoke}, timeout)
			resp, text := send(t, "GET", server.URL+"/a/fixed", "")
			if resp.StatusCode != test.status || test.body != "" && text != test.body {
				t.Errorf("got %d %q, want %d %q", resp.StatusCode, text, test.status, test.body)
			}
			if test.status >= 400 && !strings.HasPrefix(text, `{"message":`) {
				t.Errorf("body %q, want an object with a message", text)
			}
		})
	}
	resp, _ := send(
		t,
		"GET",
		newTestServer(t, functions{"fixed": respond(events.APIGatewayProxyResponse{StatusCode: 401,
			Headers: map[string]string{
				"www-authenticate": "Bearer",
				"x-one":            "1",
				"Connection":       "close",
				"Content-Length":   "77",
			},
			MultiValueHeaders: map[string][]string{"X-Two": {"1", "2"}}})}).URL+"/a/fixed",
		"",
	)
	if resp.Header.Get("WWW-Authenticate") != "" || resp.Header.Get("X-Amzn-Remapped-Www-Authenticate") != "Bearer" ||
		len(resp.Header["X-Two"]) != 2 || resp.Header.Get("X-One") != "1" || resp.ContentLength != 0 {
		t.Errorf("headers %v, want X-One, both of X-Two and WWW-Authenticate renamed", resp.Header)
	}
}

// A body in base64 is decoded for who asks first for a binary media type of the API.
func TestBinaryResponses(t *testing.T) {
	tests := []struct {
		body, accept string
		status       int
		want         string
	}{
		{"/wA=", "image/png", 200, "\xff\x00"},
		{"/wA=", "image/png;q=0.9, text/plain", 200, "\xff\x00"},
		{"/wA=", "text/plain, image/png", 200, "/wA="},
		{"/wA=", "*/*", 200, "/wA="},
		{"/wA=", "", 200, "/wA="},
		{"*", "image/png", 502, ""},
	}
	for _, test := range tests {
		server := newTestServer(t, functions{
			"fixed": respond(events.APIGatewayProxyResponse{StatusCode: 200, Body: test.body, IsBase64Encoded: true}),
		})
		resp, got := send(t, "GET", server.URL+"/a/fixed", "", "Accept", test.accept)
		if resp.StatusCode != test.status || test.want != "" && got != test.want {
			t.Errorf("%s for a client that accepts %q: %d %q, want %d %q", test.body, test.accept, resp.StatusCode, got,
				test.status, test.want)
		}
	}
}
