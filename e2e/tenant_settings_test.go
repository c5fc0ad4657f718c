package e2e

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// setTenant changes settings of the session's tenant.
func (s *session) setTenant(settings ...string) {
	s.t.Helper()
	must(s.t, s.environment.admin(nil, append([]string{"tenant", "set", s.tenantID}, settings...)...))
}

// A tenant's limit of created_at counts for the batches that are created after it was set.
func TestTenantSettingsOfLines(t *testing.T) {
	api := beginBatchTenant(t)
	old := validLine().with("created_at", time.Now().AddDate(-1, 0, 0).UTC().Format(time.RFC3339))
	expect := func(want bool) {
		t.Helper()
		last := api.process(true, jsonLines(old))
		if last.Status != "VALIDATION_FAILED" { // the tenant has no entities
			t.Fatalf("the batch ended with %s, want VALIDATION_FAILED", last.Status)
		}
		found := false
		for _, l := range api.report(last.BatchID) {
			found = found || hasCode(l, "created_at_out_of_range")
		}
		assert(t, found == want, "created_at_out_of_range found: %t, want %t", found, want)
	}
	expect(false)
	api.setTenant("max_past_days=30")
	expect(true)
	api.setTenant("max_past_days=0")
	expect(false)
}

// With four_eyes, a client does not verify its own draft; another client of the tenant does.
func TestFourEyes(t *testing.T) {
	maker := beginTenant(t)
	checker := loginAs(t, environment, newClient(t, environment, maker.tenantID))
	maker.setTenant("four_eyes=true")
	id := maker.newEntity("")
	verify := entityCommand + "/" + id + "/draft/" + maker.newDraft(id, uuid.NewString()) + "/verify"
	maker.expect(403, "PUT", verify, `{"data":{"version":1}}`)
	checker.expect(202, "PUT", verify, `{"data":{"version":1}}`)
}
