package httpapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
)

// The values that the authorizer returns arrive at the endpoint, unchanged.
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
		"token_id": "0c5f4d4e-7a83-4e0e-9d9b-0a1f6a1c7c55",
		"maxPast":  "3600", "maxFuture": "2592000", "mainEntity": "payment_type", "expires": "1795680901",
	}
	want["expires"] = fmt.Sprint(now.Unix() + 1)
	difftest.Equal(t, "the result", want, fullCaller().Context())
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
			difftest.Equal(t, "status and body", []any{tt.status, want}, []any{status, body})
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
