package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

const feature = "batch"

func fullCaller() httpapi.Caller {
	return httpapi.Caller{
		Tenant: "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11", Client: "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01",
		Permissions: []string{"Read", "Write"}, Features: []string{feature},
		Layers: access.Layers{Geographic: []string{"Ireland", "United Kingdom"},
			BusinessRelated: []string{"Retail"}},
		Attributes: map[string]string{"maxPast": "3600", "maxFuture": "2592000", "mainEntity": "payment_type"},
		Expires:    now.Add(time.Second).Local(),
	}
}

// testAPI is an API in a Lambda function, with the log that it writes.
type testAPI struct {
	httpapi.API
	log bytes.Buffer
}

func newTestAPI(routes ...httpapi.Route) *testAPI {
	a := &testAPI{}
	a.API = httpapi.API{
		Routes: routes, Errors: httpapi.MonitoringErrors, Log: slog.New(slog.NewJSONHandler(&a.log, nil)),
		Now: func() time.Time { return now },
	}
	return a
}

// newEvent returns a request of a caller; without an authorizer's context if the caller is nil.
func newEvent(method, path, body string, c *httpapi.Caller) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueHeaders: map[string][]string{},
		RequestContext: events.APIGatewayProxyRequestContext{DomainName: "api.test", Stage: "live"},
	}
	if body != "" {
		e.MultiValueHeaders["content-type"] = []string{"application/json"}
	}
	if c != nil {
		e.RequestContext.Authorizer = c.Context()
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
	r, err := httpapi.Lambda(a.Handler())(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(r.Body)
	if r.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(r.Body); err != nil {
			t.Fatal(err)
		}
	}
	return r.StatusCode, string(body), r
}

// logged returns the lines of the log.
func (a *testAPI) logged(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(a.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
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

// What the authorizer returns arrives at the endpoint, unchanged.
func TestCallerArrives(t *testing.T) {
	var got httpapi.Caller
	a := newTestAPI(getRoute(func(c httpapi.Caller, _ string) (httpapi.Reply, error) {
		got = c
		return httpapi.Reply{}, nil
	}))
	for name, want := range map[string]httpapi.Caller{
		"full": fullCaller(),
		"default layers and no attributes": {
			Tenant: "t", Client: "c", Permissions: []string{"Read"}, Features: []string{feature},
			Expires: now.Add(time.Hour).Local(),
			Layers:  access.Layers{}.OrDefault(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body, _ := a.send(t, newEvent("GET", "/things/1", "", &want)); status != 200 {
				t.Fatalf("got %d %s, want 200", status, body)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sent (-), arrived (+):\n%s", diff)
			}
		})
	}
}

// Authorizer and functions of different releases exchange the context: its keys and values never change.
func TestAuthorizerContext(t *testing.T) {
	want := map[string]any{
		"tenant": "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11", "client": "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01",
		"permissions": "Read Write", "features": "batch", "geographic": "Ireland\nUnited Kingdom", "business": "Retail",
		"maxPast": "3600", "maxFuture": "2592000", "mainEntity": "payment_type", "expires": "1795680901",
	}
	want["expires"] = fmt.Sprint(now.Unix() + 1)
	if diff := cmp.Diff(want, fullCaller().Context()); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestAuthorization(t *testing.T) {
	with := func(change func(c *httpapi.Caller)) *httpapi.Caller {
		c := fullCaller()
		change(&c)
		return &c
	}
	tests := []struct {
		name    string
		caller  *httpapi.Caller
		status  int
		message string
	}{
		{"a caller with everything", with(func(*httpapi.Caller) {}), 200, ""},
		{"no authorizer", nil, 401, "Unauthorized"},
		{"no tenant", with(func(c *httpapi.Caller) { c.Tenant = "" }), 401, "Unauthorized"},
		{"a token that expired after the authorizer",
			with(func(c *httpapi.Caller) { c.Expires = now.Add(-10 * time.Second) }), 200, ""},
		{"a token that expired earlier", with(func(c *httpapi.Caller) { c.Expires = now.Add(-11 * time.Second) }), 401,
			"Unauthorized"},
		{"another permission", with(func(c *httpapi.Caller) { c.Permissions = []string{"Write"} }), 403,
			"The client lacks the permission Read."},
		{"a part of the permission's name", with(func(c *httpapi.Caller) { c.Permissions = []string{"Rea", "Reader"} }),
			403, "The client lacks the permission Read."},
		{"no permission", with(func(c *httpapi.Caller) { c.Permissions = nil }), 403,
			"The client lacks the permission Read."},
		{"no feature", with(func(c *httpapi.Caller) { c.Features = nil }), 403,
			"The batch feature is not enabled for this tenant. Ask for it to be enabled."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("GET", "/things/1", "", tt.caller))
			want := `{"message":"` + tt.message + `"}`
			if tt.status == 200 {
				want = `"1"`
			}
			if status != tt.status || body != want {
				t.Errorf("got %d %s, want %d %s", status, body, tt.status, want)
			}
		})
	}
	t.Run("a context that cannot be read", func(t *testing.T) {
		e := newEvent("GET", "/things/1", "", with(func(*httpapi.Caller) {}))
		e.RequestContext.Authorizer["expires"] = "soon"
		if status, body, _ := newTestAPI(echoRoute()).send(t, e); status != 401 {
			t.Errorf("got %d %s, want 401", status, body)
		}
	})
}

// A path parameter is decoded once, whatever it holds; a path of no route is not found and never redirected.
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
	if status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("DELETE", "/things/a", "", &c)); status != 404 {
		t.Errorf("another method: got %d %s, want 404", status, body)
	}
	if status, body, _ := newTestAPI(echoRoute()).send(t, newEvent("GET", "/things/%zz", "", &c)); status != 400 {
		t.Errorf("a broken escape: got %d %s, want 400", status, body)
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

type thing struct {
	Name  string         `json:"name"`
	On    *bool          `json:"on"`
	Count int            `json:"count"`
	Parts []thing        `json:"parts"`
	Extra map[string]any `json:"extra"`
}

// postRoute is a route that answers with the body that it has decoded.
func postRoute() httpapi.Route {
	return httpapi.Route{Method: "POST", Path: "/things", Endpoint: httpapi.JSON(
		func(_ context.Context, _ httpapi.Caller, in thing) (thing, error) { return in, nil })}
}

func TestGoodBodies(t *testing.T) {
	c := fullCaller()
	for _, body := range []string{"", "{}", " {} \n", `{"name":"é","on":true,"parts":[{"name":"x"}]}`,
		`{"unknown":[1]}`, `{"on":null}`} {
		t.Run(body, func(t *testing.T) {
			status, reply, r := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", body, &c))
			if status != 200 || r.MultiValueHeaders["Content-Type"][0] != "application/json" {
				t.Errorf("got %d %s %v, want 200 application/json", status, reply, r.MultiValueHeaders)
			}
		})
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		t.Run(contentType, func(t *testing.T) {
			e := newEvent("POST", "/things", "{}", &c)
			e.MultiValueHeaders["content-type"] = []string{contentType}
			if status, reply, _ := newTestAPI(postRoute()).send(t, e); status != 200 {
				t.Errorf("got %d %s, want 200", status, reply)
			}
		})
	}
	t.Run("base64", func(t *testing.T) {
		e := newEvent("POST", "/things", base64.StdEncoding.EncodeToString([]byte(`{"name":"x"}`)), &c)
		e.IsBase64Encoded = true
		if status, reply, _ := newTestAPI(postRoute()).send(t, e); status != 200 ||
			!strings.Contains(reply, `"name":"x"`) {
			t.Errorf(`got %d %s, want 200 with "name":"x"`, status, reply)
		}
	})
}

func TestBadBodies(t *testing.T) {
	c := fullCaller()
	tests := []struct {
		name, body string
		loc        []any
		code       string
	}{
		{"not JSON", "hello", []any{"body", 0.0}, "json_invalid"},
		{"only a space", " ", []any{"body", 1.0}, "json_invalid"},
		{"cut short", `{"name":"x"`, []any{"body", 11.0}, "json_invalid"},
		{"trailing data", `{} {}`, []any{"body", 3.0}, "json_invalid"},
		{"an array", `[]`, []any{"body"}, "object_type"},
		{"null", `null`, []any{"body"}, "object_type"},
		{"a string", `"{}"`, []any{"body"}, "object_type"},
		{"a wrong type", `{"on":"yes"}`, []any{"body", "on"}, "bool_type"},
		{"a wrong type below", `{"parts":[{},{"name":7}]}`, []any{"body", "parts", 1.0, "name"}, "string_type"},
		{"a fraction", `{"count":1.5}`, []any{"body", "count"}, "integer_type"},
		{"a key twice", `{"name":"a","name":"b"}`, []any{"body", "name"}, "json_duplicate_key"},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", nil, "json_invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", tt.body, &c))
			var got struct {
				Detail []struct {
					Loc       []any
					Msg, Type string
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 422 || len(got.Detail) != 1 {
				t.Fatalf("got %d %s, %v, want 422 with one validation error", status, body, err)
			}
			d := got.Detail[0]
			if d.Type != tt.code || d.Msg == "" || tt.loc != nil && !cmp.Equal(d.Loc, tt.loc) {
				t.Errorf("got %s, want a message with %v %s", body, tt.loc, tt.code)
			}
		})
	}
}

func TestContentTypeAndSize(t *testing.T) {
	c := fullCaller()
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"application/json-patch+json",
		"application/json;;"} {
		t.Run("content type "+contentType, func(t *testing.T) {
			e := newEvent("POST", "/things", "{}", &c)
			e.MultiValueHeaders["content-type"] = []string{contentType}
			const want = `{"message":"The content type must be application/json."}`
			if status, body, _ := newTestAPI(postRoute()).send(t, e); status != 415 || body != want {
				t.Errorf("got %d %s, want 415 %s", status, body, want)
			}
		})
	}
	for size, want := range map[int]int{99: 200, 100: 200, 101: 413} {
		t.Run(fmt.Sprintf("%d bytes of 100", size), func(t *testing.T) {
			a := newTestAPI(postRoute())
			a.MaxBody = 100
			status, reply, _ := a.send(t, newEvent("POST", "/things", `{"name":"`+repeat("x", size-11)+`"}`, &c))
			if status != want {
				t.Errorf("got %d %s, want %d", status, reply, want)
			}
		})
	}
	tooLarge := `{"name":"` + repeat("x", httpapi.DefaultMaxBody) + `"}`
	if status, reply, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", tooLarge, &c)); status != 413 {
		t.Errorf("over the default limit: got %d %s, want 413", status, reply)
	}
}

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
			if status != tt.status || body != tt.body {
				t.Errorf("got %d %s, want %d %s", status, body, tt.status, tt.body)
			}
			failed, served := 0, 0
			for _, line := range a.logged(t) {
				switch line["msg"] {
				case "request failed":
					failed++
				case "served":
					served++
					if line["route"] != "/things/{id}" || line["status"] != float64(tt.status) ||
						line["method"] != "GET" {
						t.Errorf("got the access log %v, want GET /things/{id} %d", line, tt.status)
					}
				}
			}
			if want := map[bool]int{true: 1}[tt.logged]; failed != want || served != 1 {
				t.Errorf("got %d causes and %d requests in the log, want %d and 1:\n%s", failed, served, want,
					a.log.String())
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
		if status != 503 || body != want || time.Since(start) != 27*time.Second {
			t.Errorf("got %d %s after %v, want 503 %s after 27s", status, body, time.Since(start), want)
		}
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
			if status != tt.status || body != tt.body {
				t.Errorf("got %d %q, want %d %q", status, body, tt.status, tt.body)
			}
			if got := r.MultiValueHeaders["X-Of-Ours"]; tt.id == "empty" && (len(got) != 1 || got[0] != "1") {
				t.Errorf("got the header %v, want 1", got)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"name":"x","on":true}`, `{"parts":[{"name":7}]}`,
		"{\"a\":\"\xff\"}", `{"a":1,"a":2}`, "[", `{"count":1e400}`} {
		f.Add(seed)
	}
	c := fullCaller()
	f.Fuzz(func(t *testing.T, body string) {
		status, reply, _ := newTestAPI(postRoute()).send(t, newEvent("POST", "/things", body, &c))
		if status != 200 && status != 422 || !json.Valid([]byte(reply)) {
			t.Errorf("got %d %s, want 200 or 422 with JSON", status, reply)
		}
	})
}
