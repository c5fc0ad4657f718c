package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/ratelimit/ratelimittest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/fault"
)

// newLimitedAPI returns an API with a limited route, whose endpoint fails for the ID none, and a public one.
func newLimitedAPI() (*testAPI, *ratelimittest.Memory) {
	a := newTestAPI(
		httpapi.Route{Method: "GET", Path: "/limited/{id}", Permissions: []string{"Read"}, Limit: ratelimit.UploadURLs,
			Endpoint: func(_ context.Context, _ httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
				if r.PathValue("id") == "none" {
					return httpapi.Reply{}, fault.New(fault.NotFound, "none", "There is none.")
				}
				return httpapi.Reply{Body: "x"}, nil
			}},
		httpapi.Route{Method: "POST", Path: "/public", Public: true, Limit: ratelimit.TokenRequests,
			Endpoint: func(context.Context, httpapi.Caller, *http.Request) (httpapi.Reply, error) {
				return httpapi.Reply{Body: "x"}, nil
			}},
	)
	store := ratelimittest.NewMemory()
	a.Limits = ratelimit.NewLimiter(store, a.Now)
	return a, store
}

// limitHeader returns the header fields of a reply about a limit.
func limitHeader(r events.APIGatewayProxyResponse) []string {
	h := http.Header(r.MultiValueHeaders)
	return []string{h.Get("X-Rate-Limit-Remaining"), h.Get("X-Rate-Limit-Reset"), h.Get("Retry-After")}
}

func TestLimitOfATenant(t *testing.T) {
	a, _ := newLimitedAPI()
	c := fullCaller()
	c.Attributes[ratelimit.Attribute] = "upload_urls_per_minute=3"
	get := func(c httpapi.Caller, id string, wantStatus int, want ...string) {
		t.Helper()
		status, body, r := a.send(t, newEvent("GET", "/limited/"+id, "", &c))
		if diff := cmp.Diff(want, limitHeader(r)); status != wantStatus || diff != "" {
			t.Errorf("%d %s, want %d; header, want (-), got (+):\n%s", status, body, wantStatus, diff)
		}
	}
	forbidden := c
	forbidden.Permissions = nil
	get(forbidden, "1", 403, "", "", "")
	get(c, "1", 200, "2", "20", "")
	get(c, "none", 404, "1", "20", "")
	get(c, "1", 200, "0", "20", "")
	get(c, "1", 429, "0", "20", "20")

	other := fullCaller()
	other.Tenant = "another"
	other.Attributes = nil
	get(other, "1", 200, "19", "3", "")
	other.Attributes = map[string]string{ratelimit.Attribute: "upload_urls_per_minute=0"}
	get(other, "1", 200, "", "", "")

	status, body, _ := a.send(t, newEvent("GET", "/limited/1", "", &c))
	difftest.Equal(t, "result",
		[]any{429, `{"message":"Too many requests: the limit \"upload_urls\" is used up. Try again ` + `in 20 s."}`},
		[]any{status, body})
	records := a.recorded(t)
	if last := records[len(records)-1]; last["reason"] != "rate_limited" || last["outcome"] != "refused" ||
		last["tenant"] != c.Tenant {
		t.Errorf("the record of a request over the limit is %v", last)
	}
}

// The limit of an object counts beside that of the tenant, for each object, however its ID is written.
func TestLimitOfAnObject(t *testing.T) {
	a := newTestAPI(httpapi.Route{Method: "POST", Path: "/objects/{id}/{part}", Limit: ratelimit.UploadURLs,
		ObjectLimit: ratelimit.WebhookSends,
		Endpoint: func(context.Context, httpapi.Caller, *http.Request) (httpapi.Reply, error) {
			return httpapi.Reply{Body: "x"}, nil
		}})
	store := ratelimittest.NewMemory()
	a.Limits = ratelimit.NewLimiter(store, a.Now)
	c := fullCaller()
	c.Attributes[ratelimit.Attribute] = "upload_urls_per_minute=6 webhook_sends_per_minute=2"
	const one, other = "0190a8c0-0000-7000-8000-00000000000a", "0190a8c0-0000-7000-8000-00000000000b"
	for i, test := range []struct {
		id     string
		status int
		want   []string
	}{
		{one, 200, []string{"1", "30", ""}},
		{strings.ToUpper(one), 200, []string{"0", "30", ""}},
		{one, 429, []string{"0", "30", "30"}},
		{other, 200, []string{"1", "30", ""}},
		{strings.Repeat("x", 5000), 200, []string{"1", "10", ""}}, // not an object: only the tenant's limit counts
		{other, 200, []string{"0", "30", ""}},
		{other, 429, []string{"0", "10", "10"}}, // the tenant's limit
	} {
		status, body, r := a.send(t, newEvent("POST", "/objects/"+test.id+"/1", "", &c))
		if diff := cmp.Diff(test.want, limitHeader(r)); status != test.status || diff != "" {
			t.Errorf("request %d: %d %s, want %d; header, want (-), got (+):\n%s", i, status, body, test.status, diff)
		}
	}
	difftest.Equal(t, "writes", 10, store.Writes())
}

func TestLimitOfAnAddress(t *testing.T) {
	a, _ := newLimitedAPI()
	a.TokenRequests = ratelimit.TokenRequestLimit(2)
	post := func(source string, header map[string][]string) int {
		t.Helper()
		e := newEvent("POST", "/public", "", nil)
		e.RequestContext.Identity.SourceIP = source
		e.MultiValueHeaders = header
		status, _, _ := a.send(t, e)
		return status
	}
	for i, test := range []struct {
		source, forwarded string
		want              int
	}{
		{"203.0.113.7", "", 200}, {"203.0.113.7", "198.51.100.1", 200}, {"203.0.113.7", "198.51.100.2", 429},
		{"203.0.113.8", "203.0.113.7", 200},
		{"2001:db8::1", "", 200}, {"2001:db8::ffff", "", 200}, {"2001:db8::2:0:0:1", "", 429},
		{"2001:db8:0:1::1", "", 200},
		{"::ffff:198.51.100.9", "", 200}, {"::ffff:198.51.100.10", "", 200}, {"::ffff:198.51.100.11", "", 200},
	} {
		header := map[string][]string{}
		if test.forwarded != "" {
			header["X-Forwarded-For"] = []string{test.forwarded}
		}
		difftest.Equal(t, fmt.Sprintf("request %d from %s", i, test.source), test.want, post(test.source, header))
	}
	a.TokenRequests = ratelimit.TokenRequestLimit(0)
	difftest.Equal(t, "without a limit", 200, post("203.0.113.7", nil))
}

// An outage of the limits is no outage of the service, and is logged.
func TestLimitIsNotChecked(t *testing.T) {
	a, store := newLimitedAPI()
	store.Fail = func() error { return errors.New("no answer") }
	c := fullCaller()
	for range 25 {
		if status, _, r := a.send(t, newEvent("GET", "/limited/1", "", &c)); status != 200 ||
			strings.Join(limitHeader(r), "") != "" {
			t.Fatalf("got %d with %v, want 200 without rate headers", status, limitHeader(r))
		}
	}
	n := 0
	for _, line := range a.logged(t) {
		if line["msg"] == "a limit was not checked" && line["level"] == "ERROR" {
			n++
		}
	}
	difftest.Equal(t, "result", []any{25, 1}, []any{n, store.Writes()})
}

// Faults of endpoints may say when to try again, too.
func TestRetryAfter(t *testing.T) {
	a := newTestAPI(httpapi.Route{Method: "GET", Path: "/full", Public: true,
		Endpoint: func(context.Context, httpapi.Caller, *http.Request) (httpapi.Reply, error) {
			return httpapi.Reply{}, fault.New(fault.Throttled, "full", "Full.").WithRetryAfter(1500 * time.Millisecond)
		}})
	if status, _, r := a.send(t, newEvent("GET", "/full", "", nil)); status != 429 || limitHeader(r)[2] != "2" {
		t.Errorf("got %d with %v, want 429 with Retry-After: 2", status, limitHeader(r))
	}
}
