package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/local/lambda"
	"sluice/local/template"
)

type functions map[string]func(ctx context.Context, payload []byte) (lambda.Result, error)

func (f functions) Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error) {
	return f[name](ctx, payload)
}

func answer(v any) func(context.Context, []byte) (lambda.Result, error) {
	return func(context.Context, []byte) (lambda.Result, error) {
		text, err := json.Marshal(v)
		return lambda.Result{Payload: text}, err
	}
}

var api = template.API{
	ID: "Api", Stage: "live", BinaryMediaTypes: []string{"image/png"},
	Routes: []template.Route{
		{Method: "GET", Path: "/a/{id}", Function: "Echo"},
		{Method: "GET", Path: "/a/fixed", Function: "Fixed"},
		{Method: "GET", Path: "/a/{id}/b/{n}", Function: "Echo"},
		{Method: "POST", Path: "/a", Function: "Echo"},
		{Method: "ANY", Path: "/g/{rest+}", Function: "Echo"},
		{Method: "GET", Path: "/closed", Function: "Echo", Authorizer: "Guard"},
	},
	Responses: map[string]template.GatewayResponse{
		"UNAUTHORIZED":                 {Status: 401, Headers: map[string]string{"WWW-Authenticate": "Bearer"}, Body: `{"message": "Unauthorized"}`},
		"MISSING_AUTHENTICATION_TOKEN": {Status: 404, Body: `{"message": "Not found."}`},
		"DEFAULT_5XX":                  {Body: `{"message": $context.error.messageString}`},
	},
}

// serve starts a gateway whose Echo answers with its event.
func serve(t *testing.T, f functions) *httptest.Server {
	t.Helper()
	all := functions{
		"echo": func(_ context.Context, payload []byte) (lambda.Result, error) {
			text, err := json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: string(payload)})
			return lambda.Result{Payload: text}, err
		},
		"fixed": answer(events.APIGatewayProxyResponse{StatusCode: 204}),
	}
	for name, do := range f {
		all[name] = do
	}
	server := httptest.NewServer(New(Config{API: api, Functions: all, Region: "eu-west-1", Account: "000000000000",
		Names: map[string]string{"Echo": "echo", "Fixed": "fixed", "Guard": "guard"},
		NewID: func() string { return "the-id" }, Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
		Timeout: 500 * time.Millisecond}))
	t.Cleanup(server.Close)
	return server
}

func do(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

func TestEvent(t *testing.T) {
	server := serve(t, nil)
	_, text := do(t, "GET", server.URL+"/a/x%2Fy%20z/b/1?q=1&q=2%26&e=", "", "X-Two", "1", "X-Two", "2", "User-Agent", "toy")
	var e events.APIGatewayProxyRequest
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(server.URL, "http://")
	want := events.APIGatewayProxyRequest{
		Resource: "/a/{id}/b/{n}", Path: "/a/x%2Fy%20z/b/1", HTTPMethod: "GET",
		Headers: map[string]string{"Accept-Encoding": "gzip", "Host": host, "User-Agent": "toy", "X-Two": "2",
			"X-Amzn-Trace-Id": "Root=the-id", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http"},
		MultiValueHeaders: map[string][]string{"Accept-Encoding": {"gzip"}, "Host": {host}, "User-Agent": {"toy"}, "X-Two": {"1", "2"},
			"X-Amzn-Trace-Id": {"Root=the-id"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Proto": {"http"}},
		QueryStringParameters:           map[string]string{"q": "2&", "e": ""},
		MultiValueQueryStringParameters: map[string][]string{"q": {"1", "2&"}, "e": {""}},
		PathParameters:                  map[string]string{"id": "x%2Fy%20z", "n": "1"},
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: "000000000000", ResourceID: "local", APIID: "local", Stage: "live", DomainName: host, DomainPrefix: "local",
			RequestID: "the-id", ExtendedRequestID: "the-id", Protocol: "HTTP/1.1", ResourcePath: "/a/{id}/b/{n}",
			Path: "/live/a/x%2Fy%20z/b/1", HTTPMethod: "GET", RequestTime: "14/Nov/2023:22:13:20 +0000", RequestTimeEpoch: 1_700_000_000_000,
			Identity: events.APIGatewayRequestIdentity{SourceIP: "127.0.0.1", UserAgent: "toy"},
		},
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
}

func TestBodies(t *testing.T) {
	server := serve(t, nil)
	tests := []struct {
		contentType, body, want string
		encoded                 bool
	}{
		{"application/json", `{"a": "é"}`, `{"a": "é"}`, false},
		{"text/plain", "\xff", "\uFFFD", false},
		{"image/png; q=1", "\xff\x00", "/wA=", true},
	}
	for _, test := range tests {
		_, text := do(t, "POST", server.URL+"/a", test.body, "Content-Type", test.contentType)
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if e.Body != test.want || e.IsBase64Encoded != test.encoded {
			t.Errorf("%s %q: %q, %v", test.contentType, test.body, e.Body, e.IsBase64Encoded)
		}
	}
}

func TestRoutes(t *testing.T) {
	server := serve(t, nil)
	tests := []struct {
		method, path string
		status       int
		resource     string
	}{
		{"GET", "/a/1", 200, "/a/{id}"}, {"GET", "/a/1/", 200, "/a/{id}"}, {"GET", "/a/fixed", 204, ""},
		{"GET", "/a/fixed2", 200, "/a/{id}"}, {"DELETE", "/g/x/y", 200, "/g/{rest+}"},
		{"GET", "/a", 404, ""}, {"POST", "/a/1", 404, ""}, {"GET", "/a//b/1", 404, ""}, {"GET", "/a/1/b/2/3", 404, ""},
		{"GET", "/", 404, ""}, {"GET", "/A/1", 404, ""}, {"GET", "/live/a/1", 404, ""}, {"GET", "/%61/1", 404, ""},
	}
	for _, test := range tests {
		resp, text := do(t, test.method, server.URL+test.path, "")
		if resp.StatusCode != test.status || !strings.Contains(text, test.resource) {
			t.Errorf("%s %s: %d %s", test.method, test.path, resp.StatusCode, text)
		}
		if test.status == 404 && text != `{"message": "Not found."}` {
			t.Errorf("%s %s: %s", test.method, test.path, text)
		}
	}
}

// Where there is no method, API Gateway takes a bearer token for a signature.
func TestATokenWhereThereIsNoRoute(t *testing.T) {
	nothing := api
	nothing.Responses = map[string]template.GatewayResponse{"DEFAULT_4XX": {Status: 404, Body: `{"message": "Nothing."}`}}
	server := httptest.NewServer(New(Config{API: nothing, NewID: func() string { return "id" }, Now: time.Now}))
	defer server.Close()
	for _, method := range []string{"GET", "DELETE", "OPTIONS"} {
		req, err := http.NewRequest(method, server.URL+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 404 || string(text) != `{"message": "Nothing."}` {
			t.Errorf("%s: %d %s %v", method, resp.StatusCode, text, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	fail := func(r lambda.Result, err error) func(context.Context, []byte) (lambda.Result, error) {
		return func(context.Context, []byte) (lambda.Result, error) { return r, err }
	}
	tests := []struct {
		name   string
		do     func(context.Context, []byte) (lambda.Result, error)
		status int
		body   string
	}{
		{"text", answer(events.APIGatewayProxyResponse{StatusCode: 201, Body: "x"}), 201, "x"},
		{"binary", answer(events.APIGatewayProxyResponse{StatusCode: 200, Body: "/wA=", IsBase64Encoded: true}), 200, "\xff\x00"},
		{"broken base64", answer(events.APIGatewayProxyResponse{StatusCode: 200, Body: "*", IsBase64Encoded: true}), 502, ""},
		{"no status", answer(map[string]string{"body": "x"}), 502, ""},
		{"no object", answer("x"), 502, ""},
		{"failed", fail(lambda.Result{Failed: true}, nil), 502, ""},
		{"too large", fail(lambda.Result{}, lambda.ErrTooLarge), 413, ""},
		{"stopped", fail(lambda.Result{}, errors.New("stopped")), 500, ""},
		{"slow", func(ctx context.Context, _ []byte) (lambda.Result, error) {
			<-ctx.Done()
			return lambda.Result{}, ctx.Err()
		}, 504, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, text := do(t, "GET", serve(t, functions{"fixed": test.do}).URL+"/a/fixed", "")
			if resp.StatusCode != test.status || test.body != "" && text != test.body {
				t.Errorf("%d %q", resp.StatusCode, text)
			}
			if test.status >= 400 && !strings.HasPrefix(text, `{"message":`) {
				t.Errorf("body %q", text)
			}
		})
	}
	resp, _ := do(t, "GET", serve(t, functions{"fixed": answer(events.APIGatewayProxyResponse{StatusCode: 401,
		Headers:           map[string]string{"www-authenticate": "Bearer", "x-one": "1", "Connection": "close", "Content-Length": "77"},
		MultiValueHeaders: map[string][]string{"X-Two": {"1", "2"}}})}).URL+"/a/fixed", "")
	if resp.Header.Get("WWW-Authenticate") != "" || resp.Header.Get("X-Amzn-Remapped-Www-Authenticate") != "Bearer" ||
		len(resp.Header["X-Two"]) != 2 || resp.Header.Get("X-One") != "1" || resp.ContentLength != 0 {
		t.Errorf("headers %v", resp.Header)
	}
}

func TestBodyLimit(t *testing.T) {
	server := serve(t, functions{"echo": answer(events.APIGatewayProxyResponse{StatusCode: 200})})
	for n, want := range map[int]int{MaxBody - 1: 200, MaxBody: 200, MaxBody + 1: 413} {
		if resp, _ := do(t, "POST", server.URL+"/a", strings.Repeat("x", n)); resp.StatusCode != want {
			t.Errorf("%d bytes: %d", n, resp.StatusCode)
		}
	}
}

func TestAuthorizer(t *testing.T) {
	policy := func(effect, resource string) events.APIGatewayCustomAuthorizerPolicy {
		return events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Effect: effect, Action: []string{"execute-api:Invoke"}, Resource: []string{resource}}}}
	}
	guard := func(r events.APIGatewayCustomAuthorizerResponse) func(context.Context, []byte) (lambda.Result, error) {
		return answer(r)
	}
	failed := func(message string) func(context.Context, []byte) (lambda.Result, error) {
		return func(context.Context, []byte) (lambda.Result, error) {
			return lambda.Result{Failed: true, Payload: []byte(`{"errorMessage":"` + message + `"}`)}, nil
		}
	}
	const own = "arn:aws:execute-api:eu-west-1:000000000000:local/live/GET/closed"
	tests := []struct {
		name   string
		guard  func(context.Context, []byte) (lambda.Result, error)
		status int
	}{
		{"allowed", guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p", PolicyDocument: policy("Allow", own)}), 200},
		{"wildcard", guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p",
			PolicyDocument: policy("Allow", "arn:aws:execute-api:*:*:local/live/*")}), 200},
		{"another resource", guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p", PolicyDocument: policy("Allow", own+"x")}), 403},
		{"denied", guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p", PolicyDocument: policy("Deny", "*")}), 403},
		{"no principal", guard(events.APIGatewayCustomAuthorizerResponse{PolicyDocument: policy("Allow", "*")}), 500},
		{"nested context", guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p", PolicyDocument: policy("Allow", "*"),
			Context: map[string]any{"a": []string{"b"}}}), 500},
		{"no policy", answer("x"), 500},
		{"unauthorized", failed("Unauthorized"), 401},
		{"another failure", failed("unauthorized"), 500},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, text := do(t, "GET", serve(t, functions{"guard": test.guard}).URL+"/closed", "")
			if resp.StatusCode != test.status {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
			if (resp.Header.Get("WWW-Authenticate") == "Bearer") != (test.status == 401) {
				t.Errorf("headers %v", resp.Header)
			}
		})
	}
	var asked events.APIGatewayCustomAuthorizerRequestTypeRequest
	server := serve(t, functions{"guard": func(_ context.Context, payload []byte) (lambda.Result, error) {
		if err := json.Unmarshal(payload, &asked); err != nil {
			return lambda.Result{}, err
		}
		return guard(events.APIGatewayCustomAuthorizerResponse{PrincipalID: "p", PolicyDocument: policy("Allow", "*"),
			Context: map[string]any{"tenant": "t", "n": 1, "b": true}})(t.Context(), nil)
	}})
	_, text := do(t, "GET", server.URL+"/closed?a=b", "", "Authorization", "Bearer x")
	var e events.APIGatewayProxyRequest
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"principalId": "p", "integrationLatency": 0.0, "tenant": "t", "n": "1", "b": "true"}
	if diff := cmp.Diff(want, e.RequestContext.Authorizer); diff != "" {
		t.Error(diff)
	}
	if asked.Type != "REQUEST" || asked.MethodArn != own || asked.Headers["Authorization"] != "Bearer x" ||
		asked.QueryStringParameters["a"] != "b" {
		t.Errorf("the authorizer was asked %+v", asked)
	}
}

func TestWildcard(t *testing.T) {
	for pattern, want := range map[string]bool{"*": true, "abc": true, "a*": true, "*c": true, "a?c": true, "a*b*c": true, "a*bc*": true,
		"": false, "ab": false, "abcd": false, "b*": false, "a?": false, "*d": false} {
		if wildcard(pattern, "abc") != want {
			t.Errorf("%s: not %v", pattern, want)
		}
	}
}
