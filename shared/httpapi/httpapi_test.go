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
	"sluice/shared/batch"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/transaction"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

func someone() httpapi.Caller {
	return httpapi.Caller{
		Tenant: "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11", Client: "5d0c7a9e-2f0b-4f5e-9a86-0c9d8f6d6a01",
		Permissions: []string{"Read", "Write"}, Layers: access.Layers{Geographic: []string{"Ireland", "United Kingdom"}, BusinessRelated: []string{"Retail"}}, Features: []string{httpapi.FeatureBatch},
		Settings: batch.Settings{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: transaction.ByPaymentType},
		Expires:  now.Add(time.Second).Local(),
	}
}

// door is an API behind the Lambda adapter, with the log it wrote.
type door struct {
	api httpapi.API
	log bytes.Buffer
}

func newDoor(routes ...httpapi.Route) *door {
	d := &door{}
	d.api = httpapi.API{
		Routes: routes, Errors: httpapi.MonitoringErrors, Log: slog.New(slog.NewJSONHandler(&d.log, nil)), Now: func() time.Time { return now },
	}
	return d
}

// event is a request by a caller; nil: without an authorizer's context.
func event(method, path, body string, c *httpapi.Caller) events.APIGatewayProxyRequest {
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

func (d *door) send(t *testing.T, e events.APIGatewayProxyRequest) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	return d.sendWithin(t.Context(), t, e)
}

func (d *door) sendWithin(ctx context.Context, t *testing.T, e events.APIGatewayProxyRequest) (int, string, events.APIGatewayProxyResponse) {
	t.Helper()
	r, err := httpapi.Lambda(d.api.Handler())(ctx, e)
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

func (d *door) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(d.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func get(f func(c httpapi.Caller, id string) (httpapi.Reply, error)) httpapi.Route {
	return httpapi.Route{Method: "GET", Path: "/things/{id}", Permissions: []string{"Read"}, Feature: httpapi.FeatureBatch,
		Endpoint: httpapi.Path("id", func(_ context.Context, c httpapi.Caller, id string) (httpapi.Reply, error) { return f(c, id) })}
}

func echo() httpapi.Route {
	return get(func(c httpapi.Caller, id string) (httpapi.Reply, error) { return httpapi.Reply{Body: id}, nil })
}

// What the authorizer says arrives at the endpoint, unchanged.
func TestTheCallerArrives(t *testing.T) {
	var got httpapi.Caller
	d := newDoor(get(func(c httpapi.Caller, _ string) (httpapi.Reply, error) { got = c; return httpapi.Reply{}, nil }))
	for name, want := range map[string]httpapi.Caller{
		"full": someone(),
		"with default settings": {
			Tenant: "t", Client: "c", Permissions: []string{"Read"}, Features: []string{"batch"}, Expires: now.Add(time.Hour).Local(),
			Layers: access.Layers{}.OrDefault(),
		},
	} {
		if status, body, _ := d.send(t, event("GET", "/things/1", "", &want)); status != 200 {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhoIsLetIn(t *testing.T) {
	with := func(change func(c *httpapi.Caller)) *httpapi.Caller {
		c := someone()
		change(&c)
		return &c
	}
	tests := []struct {
		name   string
		caller *httpapi.Caller
		status int
		says   string
	}{
		{"a caller with everything", with(func(*httpapi.Caller) {}), 200, "1"},
		{"no authorizer", nil, 401, "Unauthorized"},
		{"no tenant", with(func(c *httpapi.Caller) { c.Tenant = "" }), 401, "Unauthorized"},
		{"a token that ended on the way from the authorizer", with(func(c *httpapi.Caller) { c.Expires = now.Add(-10 * time.Second) }), 200, "1"},
		{"a token that ended before", with(func(c *httpapi.Caller) { c.Expires = now.Add(-11 * time.Second) }), 401, "Unauthorized"},
		{"another permission", with(func(c *httpapi.Caller) { c.Permissions = []string{"Write"} }), 403, "The client lacks the permission Read."},
		{"a part of the permission's name", with(func(c *httpapi.Caller) { c.Permissions = []string{"Rea", "Reader"} }), 403, "The client lacks the permission Read."},
		{"no permission", with(func(c *httpapi.Caller) { c.Permissions = nil }), 403, "The client lacks the permission Read."},
		{"no feature", with(func(c *httpapi.Caller) { c.Features = nil }), 403, "The batch feature is not enabled for this tenant. Ask for it to be enabled."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDoor(echo())
			status, body, _ := d.send(t, event("GET", "/things/1", "", tt.caller))
			want := `{"message":"` + tt.says + `"}`
			if tt.status == 200 {
				want = `"1"`
			}
			if status != tt.status || body != want {
				t.Errorf("%d %s, want %d %s", status, body, tt.status, want)
			}
		})
	}
	t.Run("a broken context", func(t *testing.T) {
		e := event("GET", "/things/1", "", with(func(*httpapi.Caller) {}))
		e.RequestContext.Authorizer["expires"] = "soon"
		if status, _, _ := newDoor(echo()).send(t, e); status != 401 {
			t.Errorf("%d", status)
		}
	})
}

// A path parameter is decoded once, whatever it holds; a path that is none of ours is not found, never a redirect.
func TestPaths(t *testing.T) {
	c := someone()
	for path, want := range map[string]string{
		"/things/a":               "a",
		"/things/a%2Fb":           "a/b",
		"/things/a%2F%2Fb":        "a//b",
		"/things/%2E%2E":          "..",
		"/things/a%20b+c":         "a b+c",
		"/things/a%252Fb":         "a%2Fb",
		"/things/%C3%A9%00":       "é\x00",
		"/things/%3F%23%26":       "?#&",
		"/things/" + long("x"):    long("x"),
		"/things/a:b@c;d,e=f~'()": "a:b@c;d,e=f~'()",
	} {
		status, body, _ := newDoor(echo()).send(t, event("GET", path, "", &c))
		var got string
		if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || got != want {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	for _, path := range []string{"/", "", "/things", "/things/", "/things/a/", "/things/a/b", "//things/a", "/x/../things/a", "/things/..", "/Things/a"} {
		status, body, r := newDoor(echo()).send(t, event("GET", path, "", &c))
		if status != 404 || body != `{"message":"Not found."}` || r.MultiValueHeaders["Location"] != nil {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, _, _ := newDoor(echo()).send(t, event("DELETE", "/things/a", "", &c)); status != 404 {
		t.Errorf("another method: %d", status)
	}
	if status, body, _ := newDoor(echo()).send(t, event("GET", "/things/%zz", "", &c)); status != 400 {
		t.Errorf("a broken escape: %d %s", status, body)
	}
}

func long(s string) string { return strings.Repeat(s, 255) }

type thing struct {
	Name  string         `json:"name"`
	On    *bool          `json:"on"`
	Count int            `json:"count"`
	Parts []thing        `json:"parts"`
	Extra map[string]any `json:"extra"`
}

func post() httpapi.Route {
	return httpapi.Route{Method: "POST", Path: "/things", Endpoint: httpapi.JSON(
		func(_ context.Context, _ httpapi.Caller, in thing) (thing, error) { return in, nil })}
}

func TestGoodBodies(t *testing.T) {
	c := someone()
	for _, body := range []string{"", "{}", " {} \n", `{"name":"é","on":true,"parts":[{"name":"x"}]}`, `{"unknown":[1]}`, `{"on":null}`} {
		if status, reply, r := newDoor(post()).send(t, event("POST", "/things", body, &c)); status != 200 || r.MultiValueHeaders["Content-Type"][0] != "application/json" {
			t.Errorf("%q: %d %s", body, status, reply)
		}
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
		e := event("POST", "/things", "{}", &c)
		e.MultiValueHeaders["content-type"] = []string{contentType}
		if status, reply, _ := newDoor(post()).send(t, e); status != 200 {
			t.Errorf("%q: %d %s", contentType, status, reply)
		}
	}
	e := event("POST", "/things", base64.StdEncoding.EncodeToString([]byte(`{"name":"x"}`)), &c)
	e.IsBase64Encoded = true
	if status, reply, _ := newDoor(post()).send(t, e); status != 200 || !strings.Contains(reply, `"name":"x"`) {
		t.Errorf("base64: %d %s", status, reply)
	}
}

func TestBadBodies(t *testing.T) {
	c := someone()
	tests := []struct {
		name, body string
		loc        []any
		code       string
	}{
		{"no JSON", "hello", []any{"body", 0.0}, "json_invalid"},
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
			status, body, _ := newDoor(post()).send(t, event("POST", "/things", tt.body, &c))
			var got struct {
				Detail []struct {
					Loc       []any
					Msg, Type string
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 422 || len(got.Detail) != 1 {
				t.Fatalf("%d %s", status, body)
			}
			d := got.Detail[0]
			if d.Type != tt.code || d.Msg == "" || tt.loc != nil && !cmp.Equal(d.Loc, tt.loc) {
				t.Errorf("%s, want %v %s", body, tt.loc, tt.code)
			}
		})
	}
}

func TestContentTypeAndSize(t *testing.T) {
	c := someone()
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", "application/json;;"} {
		e := event("POST", "/things", "{}", &c)
		e.MultiValueHeaders["content-type"] = []string{contentType}
		if status, body, _ := newDoor(post()).send(t, e); status != 415 || body != `{"message":"The content type must be application/json."}` {
			t.Errorf("%q: %d %s", contentType, status, body)
		}
	}
	for _, size := range []int{99, 100, 101} {
		d := newDoor(post())
		d.api.MaxBody = 100
		body := `{"name":"` + strings.Repeat("x", size-11) + `"}`
		status, reply, _ := d.send(t, event("POST", "/things", body, &c))
		if want := map[bool]int{true: 413, false: 200}[size > 100]; status != want {
			t.Errorf("%d bytes: %d %s", size, status, reply)
		}
	}
	big := `{"name":"` + strings.Repeat("x", httpapi.DefaultMaxBody) + `"}`
	if status, reply, _ := newDoor(post()).send(t, event("POST", "/things", big, &c)); status != 413 {
		t.Errorf("%d %s", status, reply)
	}
}

// Every kind of failure has its status; the text of a foreign error and of a panic stays inside, and in the log once.
func TestFailures(t *testing.T) {
	c := someone()
	tests := []struct {
		err    error
		status int
		body   string
		logged bool
	}{
		{fault.New(fault.BadRequest, "x", "Bad."), 400, `{"message":"Bad."}`, false},
		{fault.New(fault.NotFound, "x", "None."), 404, `{"message":"None."}`, false},
		{fault.New(fault.Conflict, "x", "Moved."), 409, `{"message":"Moved."}`, false},
		{fault.New(fault.Throttled, "x", "Slow."), 429, `{"message":"Slow."}`, false},
		{fault.New(fault.Unavailable, "x", "Later.").Because(errors.New("secret")), 503, `{"message":"Later."}`, true},
		{fault.New(fault.Invalid, "x", "Wrong."), 422, `{"detail":[{"loc":["body"],"msg":"Wrong.","type":"x"}]}`, false},
		{errors.New("secret"), 500, `{"message":"Internal server error."}`, true},
		{nil, 500, `{"message":"Internal server error."}`, true}, // a panic
	}
	for _, tt := range tests {
		d := newDoor(get(func(httpapi.Caller, string) (httpapi.Reply, error) {
			if tt.err == nil {
				panic("secret")
			}
			return httpapi.Reply{}, tt.err
		}))
		status, body, _ := d.send(t, event("GET", "/things/1", "", &c))
		if status != tt.status || body != tt.body {
			t.Errorf("%v: %d %s", tt.err, status, body)
		}
		var causes, served int
		for _, line := range d.lines(t) {
			switch line["msg"] {
			case "request failed":
				causes++
			case "served":
				served++
				if line["route"] != "/things/{id}" || line["status"] != float64(tt.status) || line["method"] != "GET" {
					t.Errorf("access log: %v", line)
				}
			}
		}
		if want := map[bool]int{true: 1}[tt.logged]; causes != want || served != 1 {
			t.Errorf("%v: %d causes, %d requests in the log\n%s", tt.err, causes, served, d.log.String())
		}
	}
}

// A request that hangs is answered, and logged, while its invocation still has time.
func TestALateRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := someone()
		route := get(nil)
		route.Endpoint = func(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
			<-ctx.Done()
			return httpapi.Reply{}, fmt.Errorf("read: %w", ctx.Err())
		}
		d := newDoor(route)
		ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
		defer cancel()
		start := time.Now()
		status, body, _ := d.sendWithin(ctx, t, event("GET", "/things/1", "", &c))
		if status != 503 || body != `{"message":"The service did not answer in time. Try again."}` || time.Since(start) != 27*time.Second {
			t.Errorf("%d %s after %v", status, body, time.Since(start))
		}
	})
}

func TestReplies(t *testing.T) {
	c := someone()
	d := newDoor(get(func(_ httpapi.Caller, id string) (httpapi.Reply, error) {
		switch id {
		case "empty":
			return httpapi.Reply{Status: 204, Header: map[string][]string{"X-Of-Ours": {"1"}}}, nil
		case "channel":
			return httpapi.Reply{Body: make(chan int)}, nil
		}
		return httpapi.Reply{Status: 202, Body: map[string]string{"url": "https://x/?a=1&b=<2>"}}, nil
	}))
	if status, body, r := d.send(t, event("GET", "/things/empty", "", &c)); status != 204 || body != "" || r.MultiValueHeaders["X-Of-Ours"][0] != "1" {
		t.Errorf("%d %q %v", status, body, r.MultiValueHeaders)
	}
	if status, body, _ := d.send(t, event("GET", "/things/channel", "", &c)); status != 500 || body != `{"message":"Internal server error."}` {
		t.Errorf("%d %q", status, body)
	}
	status, body, _ := d.send(t, event("GET", "/things/other", "", &c))
	if status != 202 || body != `{"url":"https://x/?a=1&b=<2>"}` {
		t.Errorf("%d %q", status, body)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"name":"x","on":true}`, `{"parts":[{"name":7}]}`, "{\"a\":\"\xff\"}", `{"a":1,"a":2}`, "[", `{"count":1e400}`} {
		f.Add(seed)
	}
	c := someone()
	f.Fuzz(func(t *testing.T, body string) {
		status, reply, _ := newDoor(post()).send(t, event("POST", "/things", body, &c))
		if status != 200 && status != 422 || !json.Valid([]byte(reply)) {
			t.Errorf("%d %s", status, reply)
		}
	})
}
