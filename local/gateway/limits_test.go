package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/lambda"
	"sluice/local/template"
	"sluice/shared/kit/difftest"
)

func TestBodyLimit(t *testing.T) {
	server := newTestServer(t, functions{"echo": respond(events.APIGatewayProxyResponse{StatusCode: 200})})
	for n, want := range map[int]int{MaxBody - 1: 200, MaxBody: 200, MaxBody + 1: 413} {
		if resp, _ := send(t, "POST", server.URL+"/a", strings.Repeat("x", n)); resp.StatusCode != want {
			t.Errorf("%d bytes: status %d, want %d", n, resp.StatusCode, want)
		}
	}
}

// A request that is too large for API Gateway is not one of an unknown path, whatever the template makes of others.
func TestHeadLimits(t *testing.T) {
	own := api
	own.Responses = map[string]template.GatewayResponse{"DEFAULT_4XX": {Status: 404}}
	server := httptest.NewServer(New(Config{API: own, Names: map[string]string{"Echo": "echo"}, Functions: functions{
		"echo": respond(events.APIGatewayProxyResponse{StatusCode: 200})}, NewID: func() string { return "id" },
		Now: time.Now}))
	defer server.Close()
	const sent = len("127.0.0.1:") + len("gzip") + len("toy") // Host without its port, Accept-Encoding and User-Agent
	room := MaxHeaders - sent - len(server.URL[strings.LastIndex(server.URL, ":")+1:])
	tests := []struct {
		name, path, header string
		want               int
	}{
		{"largest headers", "/a/1", strings.Repeat("h", room), 200},
		{"headers too large", "/a/1", strings.Repeat("h", room+1), 431},
		{"longest URL", "/a/" + strings.Repeat("u", maxURL-len("/a/")), "", 200},
		{"URL too long", "/a/" + strings.Repeat("u", maxURL-len("/a/")+1), "", 414},
		{"pipe", "/a/1?q=a|b", "", 404},
		{"brace", "/a/1?q={}", "", 404},
		{"escaped pipe and braces", "/a/1?q=%7C%7B%7D", "", 200},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, _ := send(t, "GET", server.URL+test.path, "", "User-Agent", "toy", "X-Large", test.header)
			difftest.Equal(t, "status", test.want, resp.StatusCode)
		})
	}
}

// A web page that has its name lead to this machine is refused.
func TestHosts(t *testing.T) {
	g := New(Config{API: api, Names: map[string]string{"Echo": "echo"}, Hosts: []string{"bench", "0.0.0.0"},
		Functions: functions{"echo": respond(events.APIGatewayProxyResponse{StatusCode: 200})},
		NewID:     func() string { return "id" }, Now: time.Now})
	for host, want := range map[string]int{"": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "[::1]": 200,
		"192.168.1.7": 200, "localhost:8080": 200, "LocalHost.": 200, "a.localhost": 200, "Bench:80": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"notlocalhost": 421} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/a/1", nil)
		r.Host = host
		if g.ServeHTTP(w, r); w.Code != want || want == 421 && !strings.Contains(w.Body.String(), "use its address") {
			t.Errorf("%q: got %d %s, want %d", host, w.Code, w.Body, want)
		}
	}
}

// The template can say what clients see of a function that is throttled, apart from one that has failed.
func TestThrottledFunctions(t *testing.T) {
	throttled := func(context.Context, []byte) (lambda.Result, error) {
		return lambda.Result{},
			&lambda.ThrottledError{}
	}
	failed := func(context.Context, []byte) (lambda.Result, error) { return lambda.Result{Failed: true}, nil }
	own := api
	own.Responses = map[string]template.GatewayResponse{
		"INTEGRATION_FAILURE": {Status: 503, Headers: map[string]string{"Retry-After": "'1'"}},
		"AUTHORIZER_FAILURE":  {Status: 503, Headers: map[string]string{"Retry-After": "'2'"}},
	}
	server := httptest.NewServer(New(Config{API: own, Names: map[string]string{"Echo": "echo", "Fixed": "fixed",
		"Guard": "guard"}, Functions: functions{"echo": failed, "fixed": throttled, "guard": throttled},
		NewID: func() string { return "id" }, Now: time.Now}))
	defer server.Close()
	for path, want := range map[string]struct {
		status int
		after  string
	}{"/a/fixed": {503, "1"}, "/closed": {503, "2"}, "/a/1": {502, ""}} {
		resp, _ := send(t, "GET", server.URL+path, "")
		if after := resp.Header.Get("Retry-After"); resp.StatusCode != want.status || after != want.after {
			t.Errorf("%s: got %d with Retry-After %q, want %d with %q", path, resp.StatusCode, after, want.status,
				want.after)
		}
	}
}

// The limits of the stage hold for each method on its own.
func TestThrottling(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	limited := api
	limited.ThrottlingRate, limited.ThrottlingBurst = 2, 3
	ok := respond(events.APIGatewayProxyResponse{StatusCode: 200})
	config := Config{API: limited, Names: map[string]string{"Echo": "echo", "Fixed": "fixed"},
		Functions: functions{"echo": ok, "fixed": ok}, NewID: func() string { return "id" },
		Now: func() time.Time { return now }, Throttles: true}
	g := New(config)
	// get sends requests to a path until one is throttled, and returns the number of the others.
	get := func(path string) (n int) {
		for ; n < 10; n++ {
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
			if w.Code == http.StatusTooManyRequests {
				if w.Header().Get("x-amzn-ErrorType") != "THROTTLED" {
					t.Errorf("headers %v, want the type THROTTLED", w.Header())
				}
				return n
			}
		}
		return n
	}
	for _, step := range []struct {
		after time.Duration
		path  string
		want  int
	}{
		{0, "/a/1", 3}, {0, "/a/2", 0}, {0, "/a/fixed", 3}, {500 * time.Millisecond, "/a/1", 1},
		{time.Second, "/a/1", 2}, {time.Hour, "/a/1", 3},
	} {
		now = now.Add(step.after)
		difftest.Equal(t, fmt.Sprintf("%v later, %s: requests were admitted", step.after, step.path), step.want,
			get(step.path))
	}
	config.Throttles = false
	if g = New(config); get("/a/1") != 10 {
		t.Error("an API without the limit throttles")
	}
}
