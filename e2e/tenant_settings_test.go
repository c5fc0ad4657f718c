package e2e

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// setTenant changes settings of the session's tenant.
func (s *session) setTenant(settings ...string) {
	s.t.Helper()
	var out any
	if err := s.environment.admin(&out, append([]string{"tenant", "set", s.tenantID}, settings...)...); err != nil {
		s.t.Fatal(err)
	}
}

// A tenant's limit of created_at counts for the batches that are created after it was set.
func TestTenantSettingsOfLines(t *testing.T) {
	t.Parallel()
	api := loginNewTenant(t)
	api.enableBatches()
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
		if found != want {
			t.Errorf("created_at_out_of_range found: %t, want %t", found, want)
		}
	}
	expect(false)
	api.setTenant("max_past_days=30")
	expect(true)
	api.setTenant("max_past_days=0")
	expect(false)
}

// With four_eyes, a client does not verify its own draft; another client of the tenant does.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	maker := loginNewTenant(t)
	checker := loginAs(t, environment, newClient(t, environment, maker.tenantID))
	maker.setTenant("four_eyes=true")
	id := maker.newEntity("")
	verify := entityCommand + "/" + id + "/draft/" + maker.newDraft(id, uuid.NewString()) + "/verify"
	maker.expectStatus(403, "PUT", verify, `{"data":{"version":1}}`)
	checker.expectStatus(202, "PUT", verify, `{"data":{"version":1}}`)
}
