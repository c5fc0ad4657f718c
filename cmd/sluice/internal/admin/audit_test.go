package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/shared/access/audit"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// serveLogs is the log group of the installation's functions.
func (f *fakeInstallation) serveLogs(t *testing.T, w http.ResponseWriter, r *http.Request) {
	var in struct {
		LogGroupName, LogStreamName string
		LogEvents                   []struct{ Message string }
	}
	errtest.Fatal(t, json.NewDecoder(r.Body).Decode(&in))
	if in.LogGroupName != "/sluice/test/functions" || !strings.HasPrefix(in.LogStreamName, "admin/") {
		t.Errorf("got the log group %q and stream %q", in.LogGroupName, in.LogStreamName)
	}
	if f.logFails {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"AccessDeniedException"}`))
		return
	}
	if f.losesStreams && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".CreateLogStream") {
		if f.streams[in.LogStreamName] {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"ResourceAlreadyExistsException"}`))
			return
		}
		f.streams[in.LogStreamName] = true
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if len(in.LogEvents) > 10_000 || r.ContentLength > 1<<20 {
		t.Errorf("got %d events in %d bytes, want at most 10,000 and 1 MB", len(in.LogEvents), r.ContentLength)
	}
	for _, e := range in.LogEvents {
		if strings.Contains(e.Message, `"record":"transition"`) {
			var transition audit.Transition
			errtest.Fatal(t, json.Unmarshal([]byte(e.Message), &transition))
			f.transitions = append(f.transitions, transition)
			continue
		}
		var record audit.Record
		errtest.Fatal(t, json.Unmarshal([]byte(e.Message), &record))
		f.records = append(f.records, record)
	}
	_, _ = w.Write([]byte("{}"))
}

// Each change of a status that an import makes is recorded with the act that made it; what changes nothing leaves
// nothing.
func TestImportedStatusesAreRecorded(t *testing.T) {
	f := newFakeInstallation(t)
	runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant)
	file := filepath.Join(t.TempDir(), "entities.jsonl")
	const many = 2500
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, `{"id":"%03d%s","status":"Compliant"}`+"\n", i, strings.Repeat("x", 240))
	}
	for i, want := range []int{many, 0, 1} {
		if i == 2 {
			text.Reset()
			text.WriteString(`{"id":"000` + strings.Repeat("x", 240) + `","status":"ClientOffboarded"}`)
		}
		errtest.Fatal(t, os.WriteFile(file, []byte(text.String()), 0o600))
		f.transitions = nil
		runAdmin[importOutput](t, f, "entities", "import", file)
		difftest.Equal(t, fmt.Sprintf("import %d: changes are recorded", i), want, len(f.transitions))
		act := f.records[len(f.records)-1]
		for _, r := range f.transitions {
			if r.Tenant != f.tenant || r.Message != "entity transition" || r.RequestID != act.RequestID ||
				r.Entity == "" || r.Time.IsZero() {
				t.Fatalf("got the record %+v, want the tenant, the entity and the ID of the act %+v", r, act)
			}
		}
	}
	if r := f.transitions[0]; r.From != "Compliant" || r.To != "ClientOffboarded" {
		t.Errorf("got from %s to %s, want from Compliant to ClientOffboarded", r.From, r.To)
	}
}

// Every act of an administrator leaves two records, with who did it, on what, and how it ended.
func TestAdminActsAreRecorded(t *testing.T) {
	f := newFakeInstallation(t)
	for _, test := range []struct {
		name     string
		args     []string
		route    string
		want     audit.Outcome
		contains map[string]string
	}{
		{"a new tenant", []string{"tenant", "create", "--id", f.tenant}, "admin tenant create", audit.OK,
			map[string]string{"tenant_id": f.tenant}},
		{"a new client", []string{"client", "create", "--permission", "BatchRead"}, "admin client create", audit.OK,
			map[string]string{"tenant_id": f.tenant, "permissions": `["BatchRead"]`}},
		{"a feature", []string{"tenant", "enable-batch", f.tenant}, "admin tenant enable-batch", audit.OK,
			map[string]string{"tenant_id": f.tenant, "batch_enabled": "true", "arguments": f.tenant}},
		{"an unknown client", []string{"client", "disable", "x"}, "admin client disable", audit.Failed,
			map[string]string{"arguments": "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.records = nil
			_, stdout, stderr := f.run(t, test.args...)
			if len(f.records) != 2 {
				t.Fatalf("got the records %+v, want two; the command printed %s", f.records, stderr)
			}
			begin, end := f.records[0], f.records[1]
			if begin.Outcome != audit.Started || end.Outcome != test.want || begin.RequestID != end.RequestID {
				t.Errorf("got the outcomes %s and %s, want started and %s of one act", begin.Outcome, end.Outcome,
					test.want)
			}
			if end.Kind != "audit" || end.Route != test.route || !strings.HasPrefix(end.Caller, "operator (") ||
				end.Tenant != f.tenant || end.Time.Before(begin.Time) {
				t.Errorf("got the record %+v, want one of the operator", end)
			}
			for name, value := range test.contains {
				if end.Objects[name] != value {
					t.Errorf("got the objects %v, want %s %s", end.Objects, name, value)
				}
			}
			var made clientOutput
			if json.Unmarshal([]byte(stdout), &made) == nil && made.ClientSecret != "" {
				if text, _ := json.Marshal(f.records); strings.Contains(string(text), made.ClientSecret) {
					t.Error("the records hold the secret of the client")
				}
			}
		})
	}
}

// A stream whose creation was answered with an error although it was done does not prevent the act.
func TestStreamIsCreatedByALostAnswer(t *testing.T) {
	f := newFakeInstallation(t)
	f.losesStreams, f.streams = true, map[string]bool{}
	runAdmin[tenantOutput](t, f, "tenant", "create", "--id", f.tenant)
	if len(f.records) != 2 || len(f.streams) != 1 {
		t.Errorf("got the records %+v in %d streams, want two in one", f.records, len(f.streams))
	}
}

// An act that cannot be recorded is not begun.
func TestUnrecordedActsAreNotBegun(t *testing.T) {
	f := newFakeInstallation(t)
	f.logFails = true
	code, stdout, stderr := f.run(t, "tenant", "create", "--id", f.tenant)
	if code == 0 || stdout != "" || !strings.Contains(stderr, "nothing was done, because it cannot be recorded") {
		t.Errorf("got the exit code %d, %q and %q, want a refusal", code, stdout, stderr)
	}
	difftest.Equal(t, "tenants", 0, len(errtest.Must(f.registry.Tenants(t.Context()))(t)))
}
