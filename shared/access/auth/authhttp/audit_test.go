package authhttp_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"

	"sluice/shared/access/auth/authhttp"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// recorded returns the records of the audit trail and empties it.
func (id *identity) recorded(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(id.trail.String()) {
		var record map[string]any
		errtest.Fatal(t, json.Unmarshal([]byte(line), &record))
		for _, name := range []string{"tenant", "client", "token_id", "source", "method", "objects", "reason", "status",
			"request_id"} {
			value, exists := record[name]
			if !exists {
				t.Errorf("the record %s does not have %s", line, name)
			}
			if value == nil {
				delete(record, name)
			}
		}
		out = append(out, record)
	}
	id.trail.Reset()
	return out
}

// Each token that is issued or refused leaves a record with the client that was named, the reason, and no secret.
func TestTokenRequestsAreRecorded(t *testing.T) {
	id := newIdentity(t, "")
	for _, tt := range []struct {
		name   string
		change func(form url.Values)
		want   map[string]any
	}{
		{"issued", func(url.Values) {}, map[string]any{
			"outcome": "ok", "status": 200., "token_id": tokenID}},
		{"a wrong secret", func(f url.Values) { f.Set("client_secret", "wrong") }, map[string]any{
			"outcome": "denied", "status": 400., "reason": "invalid_client"}},
		{"an unknown client", func(f url.Values) { f.Set("client_id", "nobody\n") }, map[string]any{
			"outcome": "denied", "status": 400., "reason": "invalid_client", "client": "nobody?"}},
		{"a secret in the wrong field", func(f url.Values) { f.Set("client_id", id.secret) }, map[string]any{
			"outcome": "denied", "status": 400., "reason": "invalid_client", "client": id.secret[:16] + "..."}},
		{"another tenant", func(f url.Values) { f.Set("scope", "tenant/x") }, map[string]any{
			"outcome": "refused", "status": 400., "reason": "invalid_scope", "tenant": "x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			form := id.form()
			tt.change(form)
			_, body, _ := id.post(t, form.Encode(), nil)
			want := map[string]any{
				"time": "2026-11-26T08:15:00Z", "record": "audit", "method": "POST", "route": "/oauth2/token", "ms": 0.,
				"tenant": id.tenant.ID, "client": id.client.ID,
				"source": "203.0.113.7", "request_id": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
			}
			maps.Copy(want, tt.want)
			trail := id.trail.String()
			difftest.Equal(t, "the result", []map[string]any{want}, id.recorded(t))
			token, _ := body["access_token"].(string)
			if strings.Contains(trail, id.secret) || token != "" && strings.Contains(trail, token) {
				t.Errorf("the trail holds a secret: %s", trail)
			}
		})
	}
}

// A request that the authorizer refuses never reaches a function, so the authorizer records it; it records no other.
func TestUnauthorizedRequestsAreRecorded(t *testing.T) {
	id := newIdentity(t, "")
	token := id.issueToken(t)
	id.recorded(t)
	errtest.Fatal(t, errtest.Of(id.authorizer.Run(t.Context(), newRequest(t, "Bearer "+token))))
	difftest.Len(t, "an authorized request: got the records of the authorizer", 0, id.recorded(t))
	payload := strings.Split(token, ".")[1]
	claimed := map[string]any{"tenant": id.tenant.ID, "client": id.client.ID, "token_id": tokenID}
	for _, tt := range []struct {
		name, reason string
		request      authhttp.AuthorizerRequest
		claims       map[string]any
	}{
		{"no token", "token_missing", withoutHeader(t), nil},
		{"no JWT", "token_invalid", newRequest(t, "Bearer x"), nil},
		{"a forged token", "token_invalid", newRequest(t, "Bearer x."+payload+".z"), claimed},
		{"below a greedy path", "token_invalid", onGreedyPath(t, "x", "PUT"), map[string]any{"method": "PUT",
			"route": documentRoute, "objects": map[string]any{"id": "7"}}},
		{"below a greedy path, for no route", "token_invalid", onGreedyPath(t, "x", "HEAD"), map[string]any{
			"method": "HEAD", "route": "/"}},
		{"a client that was disabled", "client_disabled", newRequest(t, "Bearer "+token), claimed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.reason == "client_disabled" {
				errtest.Fatal(t, errtest.Of(id.registry.DisableClient(t.Context(), id.client.ID)))
			}
			id.expectUnauthorized(t, tt.request)
			want := map[string]any{
				"time": "2026-11-26T08:15:00Z", "record": "audit", "outcome": "denied", "status": 401.,
				"reason": tt.reason,
				"method": "GET", "route": "/tm/realtime/api/transactions/batch/status/{batch_id}", "ms": 0.,
				"objects": map[string]any{"batch_id": "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"},
				"source":  "203.0.113.7", "request_id": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
			}
			if tt.claims["route"] != nil {
				delete(want, "objects")
			}
			maps.Copy(want, tt.claims)
			difftest.Equal(t, "the result", []map[string]any{want}, id.recorded(t))
		})
	}
}
