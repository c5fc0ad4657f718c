package screeninghttp_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

// The batches of an entity and its history have all of them, newest first, however many there are; none is read alone.
func TestManyBatchesOfAnEntity(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var ids []string
	for i := range 120 {
		b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Closed, EntityIDs: []string{"e"},
			CreatedAt: now.Add(time.Duration(i) * time.Second), ClosedAt: now, Version: 1}
		e := screening.Entity{ID: "e", Version: 1, Assessment: &screening.Assessment{Rationale: b.ID}}
		if i%2 == 0 {
			e.Assessment = nil // nobody has assessed it there
		}
		errtest.Fatal(t, errtest.Of(a.store.Create(t.Context(), b, []screening.Entity{e})))
		ids = append(ids, b.ID)
	}
	var list []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e", "", &list)
	if len(list) != len(ids) {
		t.Fatalf("the entity has %d batches, want %d", len(list), len(ids))
	}
	for i, b := range list {
		if want := ids[len(ids)-1-i]; b.BatchID != want {
			t.Fatalf("batch %d is %s, want %s", i, b.BatchID, want)
		}
	}
	var history []screeninghttp.HistoryReply
	a.succeed("GET", queries+"/batch/entity/e/materiality-assessment-history", "", &history)
	if len(history) != len(ids)/2 {
		t.Fatalf("the history has %d assessments, want %d", len(history), len(ids)/2)
	}
	for i, h := range history {
		if want := ids[len(ids)-1-2*i]; h.BatchID != want || h.EntityMaterialityAssessment.Assessment == nil {
			t.Fatalf("assessment %d is of batch %s, want %s", i, h.BatchID, want)
		}
	}
	if a.hook.reads != 0 {
		t.Errorf("%d batches were read one by one", a.hook.reads)
	}
}
