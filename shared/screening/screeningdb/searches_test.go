package screeningdb_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// A batch is found from its creation on until its last search has ended or it is overridden, and not before it is due.
func TestSearchingBatchesAreFound(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	create := func(journey string, providers ...screening.ProviderRun) screening.Batch {
		b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, JourneyID: journey,
			CreatedAt: now,
			Version:   1}
		b = errtest.Must(s.Create(ctx, b.Begin(providers, now), nil))(t)
		return b
	}
	found := func(id string, before time.Time) (is bool) {
		err := s.EachSearching(ctx, before, func(owner, found string) error {
			is = is || owner == tenant && found == id
			return nil
		})
		errtest.Fatal(t, err)
		return is
	}
	later := now.Add(time.Second)
	b, idle := create("j", screening.ProviderRun{ID: "p"}, screening.ProviderRun{ID: "q"}), create("")
	if !found(b.ID, later) || found(b.ID, now) || found(idle.ID, later) {
		t.Error("want the batch that searches from a second after its creation on, and not the other one")
	}
	if err := s.Postpone(ctx, tenant, b.ID, later); err != nil || found(b.ID, later) ||
		!found(b.ID, later.Add(time.Second)) {
		t.Errorf("postponed: %v, want it to be found after that time alone", err)
	}
	if err := s.Postpone(ctx, tenant, idle.ID, now); err != nil || found(idle.ID, later) {
		t.Errorf("postponing a batch without searches: %v, want nothing", err)
	}
	for i, provider := range []string{"p", "q"} {
		b, _, _ = b.FinishProvider(screening.Answer{ID: provider, ProviderID: provider})
		if err := s.Save(ctx, b); err != nil || found(b.ID, later) != (i == 0) {
			t.Errorf("after the answer of %s: %v, want it to be found while q searches", provider, err)
		}
	}
	replaced := create("k", screening.ProviderRun{ID: "p"})
	create("k")
	if found(replaced.ID, later) {
		t.Error("an overridden batch is found")
	}
	visits := errors.New("stop")
	create("", screening.ProviderRun{ID: "p"})
	errtest.Is(t, "EachSearching", s.EachSearching(ctx, later, func(string, string) error { return visits }), visits)
}
