package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/audit"
)

// serveLogs is the log group of the installation's functions.
func (f *fakeInstallation) serveLogs(t *testing.T, w http.ResponseWriter, r *http.Request) {
	var in struct {
		LogGroupName, LogStreamName string
		LogEvents                   []struct{ Message string }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		t.Error(err)
	}
	if in.LogGroupName != "/sluice/test/functions" || !strings.HasPrefix(in.LogStreamName, "admin/") {
		t.Errorf("got the log group %q and stream %q", in.LogGroupName, in.LogStreamName)
	}
	if f.logFails {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"AccessDeniedException"}`))
		return
	}
	for _, e := range in.LogEvents {
		var record audit.Record
		if err := json.Unmarshal([]byte(e.Message), &record); err != nil {
			t.Error(err)
		}
		f.records = append(f.records, record)
	}
	_, _ = w.Write([]byte("{}"))
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
				t.Errorf("got the outcomes %s and %s, want started and %s of one act", begin.Outcome, end.Outcome, test.want)
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

// An act that cannot be recorded is not begun.
func TestUnrecordedActsAreNotBegun(t *testing.T) {
	f := newFakeInstallation(t)
	f.logFails = true
	code, stdout, stderr := f.run(t, "tenant", "create", "--id", f.tenant)
	if code == 0 || stdout != "" || !strings.Contains(stderr, "nothing was done, because it cannot be recorded") {
		t.Errorf("got the exit code %d, %q and %q, want a refusal", code, stdout, stderr)
	}
	if tenants, err := f.registry.Tenants(t.Context()); err != nil || len(tenants) != 0 {
		t.Errorf("got the tenants %v, %v, want none", tenants, err)
	}
}
