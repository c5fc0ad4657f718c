package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
)

// auditRecord is a record of the audit trail, of either kind.
type auditRecord map[string]any

// auditTrail returns the records that match, oldest first. The functions print them before they reply.
func auditTrail(t *testing.T, e *Environment, matches func(auditRecord) bool) []auditRecord {
	t.Helper()
	skipWithout(t, functionLog)
	file := ok(os.Open(filepath.Join(e.Data, "logs", "audit.jsonl")))(t)
	defer file.Close()
	var found []auditRecord
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var r auditRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("the audit trail has the line %s: %v", lines.Bytes(), err)
		}
		if matches(r) {
			found = append(found, r)
		}
	}
	must(t, lines.Err())
	return found
}

// waitForRecord returns the record of a request, which is in the trail soon after its reply has come.
func waitForRecord(t *testing.T, e *Environment, requestID string) auditRecord {
	t.Helper()
	var found []auditRecord
	eventually(t, "a record of the request "+requestID, func() bool {
		found = auditTrail(t, e, func(r auditRecord) bool {
			return r["request_id"] == requestID && r["record"] == "audit"
		})
		return len(found) > 0
	})
	require(t, len(found) == 1, "got the records %v of the request %s, want one", found, requestID)
	return found[0]
}

// expectMembers checks members of a record; the value nil means any but "".
func expectMembers(t *testing.T, r auditRecord, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got := r[name]; value == nil && (got == nil || got == "") || value != nil && got != value {
			t.Errorf("the record %v has %s %v, want %v", r, name, got, value)
		}
	}
}

// Every request leaves a record with the tenant, the client, the token, the source address, the objects and the
// outcome.
func TestRequestsAreInTheAuditTrail(t *testing.T) {
	api := begin(t, functionLog)
	other := loginNewTenant(t)
	other.enableBatches()
	u := api.newUpload(true)
	path := transactionsPath + "batch/status/" + u.BatchID
	for _, test := range []struct {
		name   string
		api    *session
		method string
		path   string
		want   map[string]any
	}{
		{"served", api, "GET", path, map[string]any{
			"tenant": environment.TenantID, "client": environment.ClientID, "token_id": nil, "source": "127.0.0.1",
			"method": "GET", "route": transactionsPath + "batch/status/{batch_id}", "outcome": "ok", "status": 202.}},
		{"another tenant's", other, "GET", path, map[string]any{
			"tenant": other.tenantID, "outcome": "refused", "status": 404., "reason": "foreign_tenant"}},
		{"not authorized", &session{t: t, environment: environment, token: "none"}, "GET", path, map[string]any{
			"outcome": "denied", "status": 401., "reason": "token_invalid", "source": "127.0.0.1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := test.api.call(test.method, test.path, "")
			r := waitForRecord(t, environment, requestIDOf(answer.header))
			expectMembers(t, r, test.want)
			if objects, _ := r["objects"].(map[string]any); objects["batch_id"] != u.BatchID {
				t.Errorf("the record %v does not name the batch", r)
			}
		})
	}
}

// Each change of an entity's lifecycle status leaves a record, by the client that made it; what changes no status
// leaves none.
func TestChangesOfEntitiesAreInTheAuditTrail(t *testing.T) {
	api := begin(t, functionLog)
	id := api.newEntity("")
	rejected := api.newDraft(id, uuid.NewString())
	api.mustCall("PUT", entityCommand+"/"+id+"/draft/"+rejected+"/reject", "", nil)
	verified := api.newDraft(id, uuid.NewString())
	api.mustCall("PUT", entityCommand+"/"+id+"/draft/"+verified, `{"data":{"properties":{},"version":1}}`, nil)
	api.mustCall("PUT", entityCommand+"/"+id+"/draft/"+verified+"/verify", `{"data":{"version":-1}}`, nil)
	api.expect(409, "PUT", entityCommand+"/"+id+"/draft/"+verified+"/verify", `{"data":{"version":-1}}`)
	want := [][2]string{{"", "Unknown"}, {"Unknown", "OnboardingInProgress"}, {"OnboardingInProgress", "Unknown"},
		{"Unknown", "OnboardingInProgress"}, {"OnboardingInProgress", "Compliant"}}
	var records []auditRecord
	eventually(t, "the records of the changes", func() bool {
		records = auditTrail(t, environment, func(r auditRecord) bool { return r["entity"] == id })
		return len(records) >= len(want)
	})
	require(t, len(records) == len(want), "got the records %v, want %v", records, want)
	for i, r := range records {
		expectMembers(t, r, map[string]any{"record": "transition", "msg": "entity transition", "from": want[i][0],
			"to": want[i][1], "tenant": environment.TenantID, "client": environment.ClientID, "request_id": nil,
			"time": nil})
	}
}

// requestIDOf returns the ID of a request, which the gateway also gives to requests that reach no function.
func requestIDOf(h http.Header) string { return h.Get("X-Amzn-Requestid") }

// A refused token leaves a record of the client that was claimed, an issued one of its ID.
func TestTokenRequestsAreInTheAuditTrail(t *testing.T) {
	t.Parallel()
	skipWithout(t, functionLog)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {environment.ClientID},
		"client_secret": {environment.ClientSecret}, "scope": {environment.Scope}}
	unknown := uuid.NewString()
	for name, test := range map[string]struct {
		clientID, secret string
		want             map[string]any
	}{
		"issued": {environment.ClientID, environment.ClientSecret, map[string]any{
			"client": environment.ClientID, "token_id": nil, "outcome": "ok", "status": 200.}},
		"a wrong secret": {environment.ClientID, "wrong", map[string]any{
			"client": environment.ClientID, "outcome": "denied", "reason": "invalid_client"}},
		"an unknown client": {unknown, "wrong", map[string]any{
			"client": unknown, "outcome": "denied", "reason": "invalid_client"}},
	} {
		form.Set("client_id", test.clientID)
		form.Set("client_secret", test.secret)
		resp := ok(http.PostForm(environment.TokenURL, form))(t)
		resp.Body.Close()
		t.Run(name, func(t *testing.T) {
			expectMembers(t, waitForRecord(t, environment, requestIDOf(resp.Header)), test.want)
		})
	}
}

// Each act of an administrator leaves a record of its beginning and its end, with the caller's name and without
// secrets, which checkLogs looks for.
func TestAdminActsAreInTheAuditTrail(t *testing.T) {
	t.Parallel()
	skipWithout(t, functionLog)
	made := newClient(t, environment, environment.TenantID, "--permission", "BatchRead")
	records := auditTrail(t, environment, func(r auditRecord) bool {
		objects, _ := r["objects"].(map[string]any)
		return r["route"] == "admin client create" && objects["client_id"] == made.ClientID
	})
	require(t, len(records) == 1, "got the records %v, want one of the client's creation", records)
	expectMembers(t, records[0], map[string]any{"record": "audit", "outcome": "ok", "caller": nil,
		"tenant": environment.TenantID, "request_id": nil})
	begins := auditTrail(t, environment,
		func(r auditRecord) bool { return r["request_id"] == records[0]["request_id"] })
	assert(t, len(begins) == 2 && begins[0]["outcome"] == "started",
		"got the records %v, want the beginning and the end of the act", begins)
}
