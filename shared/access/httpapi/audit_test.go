package httpapi_test

import (
	"strings"
	"testing"

	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/fault"
)

// Every request leaves one record, which names the caller, the objects and the outcome, at any level of the log.
func TestAuditRecords(t *testing.T) {
	full := fullCaller()
	withoutPermission := fullCaller()
	withoutPermission.Permissions = nil
	route := getRoute(func(_ httpapi.Caller, id string) (httpapi.Reply, error) {
		if id == "none" {
			return httpapi.Reply{}, fault.New(fault.NotFound, "thing_not_found", "Thing not found.")
		}
		return httpapi.Reply{Body: "secret"}, nil
	})
	for _, tt := range []struct {
		name, path string
		caller     *httpapi.Caller
		want       map[string]any
	}{
		{"served", "/things/a%0Ab", &full, map[string]any{
			"objects": map[string]any{"id": "a?b"}, "outcome": "ok", "status": 200.}},
		{"refused", "/things/none", &full, map[string]any{
			"objects": map[string]any{"id": "none"}, "outcome": "refused", "reason": "thing_not_found",
			"status": 404.}},
		{"a permission that is missing", "/things/1", &withoutPermission, map[string]any{
			"objects": map[string]any{"id": "1"}, "outcome": "denied", "reason": "permission_missing", "status": 403.}},
		{"no caller", "/things/1", nil, map[string]any{
			"objects": map[string]any{"id": "1"}, "outcome": "denied", "reason": "unauthorized", "status": 401.}},
		{"an ID without end", "/things/" + strings.Repeat("é", 1000), &full, map[string]any{
			"objects": map[string]any{"id": strings.Repeat("é", 127) + "?"}, "outcome": "ok", "status": 200.}},
		{"no route", "/other?token=secret", &full, map[string]any{
			"route": "/", "outcome": "refused", "reason": "not_found", "status": 404.}},
		{"no request", "/things/%zz", &full, map[string]any{
			"route": "/", "outcome": "refused", "reason": "malformed_request", "status": 400.}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newTestAPI(route)
			_, _, reply := a.send(t, newEvent("GET", tt.path, "", tt.caller))
			want := map[string]any{
				"time": "2026-11-26T08:15:00Z", "record": "audit", "source": "203.0.113.7", "method": "GET",
				"route": "/things/{id}", "ms": 0., "request_id": "request-1",
			}
			if tt.caller != nil && tt.want["reason"] != "malformed_request" {
				want["tenant"], want["client"], want["token_id"] = full.Tenant, full.Client, full.TokenID
			}
			for name, value := range tt.want {
				want[name] = value
			}
			difftest.Equal(t, "the result", []map[string]any{want}, a.recorded(t))
			if id := reply.MultiValueHeaders["X-Request-Id"]; len(id) != 1 || id[0] != "request-1" {
				t.Errorf("got the request ID %v, want that of the gateway", id)
			}
		})
	}
}
