package e2e

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// auditRecord is a record of the audit trail, of either kind.
type auditRecord map[string]any

// auditTrail returns the records that match, oldest first. The functions print them before they reply.
func auditTrail(t *testing.T, e *Environment, matches func(auditRecord) bool) (found []auditRecord) {
	t.Helper()
	skipWithout(t, functionLog)
	must(t, eachLine(e.logFile("audit.jsonl"), func(line []byte) error {
		var r auditRecord
		err := json.Unmarshal(line, &r)
		if err == nil && matches(r) {
			found = append(found, r)
		}
		return err
	}))
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
		{"below a greedy path", api, "GET", documentQueries + "/" + u.BatchID, map[string]any{
			"route": documentQueries + "/{id}", "outcome": "refused", "status": 404., "reason": "document_not_found"}},
		{"below a greedy path, not authorized", &session{t: t, environment: environment, token: "none"}, "GET",
			documentQueries + "/" + u.BatchID, map[string]any{"route": documentQueries + "/{id}", "outcome": "denied"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := test.api.call(test.method, test.path, "")
			r := waitForRecord(t, environment, requestIDOf(answer.header))
			expectMembers(t, r, test.want)
			objects, _ := r["objects"].(map[string]any)
			assert(t, objects["batch_id"] == u.BatchID || objects["id"] == u.BatchID,
				"the record %v does not name the object", r)
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

// personal are values that are in lines of files and nowhere else in the suite. No log may have them.
var personal = struct{ name, account, city string }{"Zaphira Quellwasser", "NL91ABNA0417164300", "Oberkaltenbrunn"}

// personalLine returns a valid line with personal data.
func personalLine() line {
	return validLine().withUnknown("receiver", map[string]any{
		"external_id": "someone", "full_name": personal.name, "account_number": personal.account, "city": personal.city,
	})
}

// grepBatch searches a log for a batch, as docs/operations.md says.
func grepBatch(t *testing.T, e *Environment, log, batchID string) []string {
	t.Helper()
	out, err := exec.Command("grep", "--", batchID, filepath.Join(e.Data, "logs", log)).Output()
	require(t, err == nil, "grep %s in %s: %v", batchID, log, err)
	return slices.Collect(strings.Lines(string(out)))
}

// The logs have every status of a batch and how it ended, under its ID.
func TestBatchesAreFoundInTheLogs(t *testing.T) {
	api := begin(t, functionLog)
	invalid := personalLine().with("ip_address", personal.name).withModification("currency", personal.city)
	for _, test := range []struct {
		name     string
		file     []byte
		statuses []string
		want     map[string]any
	}{
		{
			"processed", jsonLines(personalLine(), personalLine()),
			[]string{"AWAITING_UPLOAD", "UPLOADED", "VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED",
				"IN_PROGRESS", "PROCESSED"},
			map[string]any{"lines": 2., "accepted": 2., "invalid": 0., "lines_per_second": nil},
		},
		{"failed", jsonLines(personalLine(), invalid),
			[]string{"AWAITING_UPLOAD", "UPLOADED", "VALIDATION_STARTED", "VALIDATION_FAILED"},
			map[string]any{"lines": 2., "accepted": 1., "invalid": 1., "error": nil}},
		{"errored", []byte(eicar), []string{"AWAITING_UPLOAD", "UPLOADED", "ERROR"},
			map[string]any{"lines": 0., "error": nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			batchID := api.startBatch(true, test.file)
			last, _ := api.follow(batchID)
			if want := test.statuses[len(test.statuses)-1]; last.Status != want {
				t.Fatalf("the batch ended with %s (%s), want %s", last.Status, last.ErrorMessage, want)
			}
			statuses, end := waitForEnd(t, batchID)
			assert(t, slices.Equal(statuses, test.statuses), "got the statuses %v, want %v", statuses, test.statuses)
			want := map[string]any{"batch": batchID, "tenant": environment.TenantID, "client": environment.ClientID,
				"from": test.statuses[len(test.statuses)-2], "bytes": float64(len(test.file)), "seconds": nil,
				"received_at": nil, "etag": nil}
			for name, value := range test.want {
				want[name] = value
			}
			expectMembers(t, end, want)
			all := strings.Join(grepBatch(t, environment, "functions.log", batchID), "")
			for _, part := range []string{
				`"route":"` + transactionsPath + `batch/generate-upload-url"`, `"msg":"batch created"`,
				`"msg":"upload scanned"`, `"msg":"batch finished"`,
			} {
				assert(t, strings.Contains(all, part), "the log does not have %s:\n%s", part, all)
			}
		})
	}
}

// waitForEnd waits until the audit trail has the end of a batch. It returns the statuses that the batch was in, and the
// record of its end.
func waitForEnd(t *testing.T, batchID string) (statuses []string, end auditRecord) {
	t.Helper()
	eventually(t, "the record of the end", func() bool {
		statuses = nil
		for _, text := range grepBatch(t, environment, "audit.jsonl", batchID) {
			var r auditRecord
			must(t, json.Unmarshal([]byte(text), &r))
			if r["record"] == "transition" {
				statuses = append(statuses, r["to"].(string))
				end = r
			}
		}
		return end["msg"] == "batch finished"
	})
	return statuses, end
}
