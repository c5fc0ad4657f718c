package screeningdb_test

import (
	"fmt"
	"sync"
	"testing"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// Of a deletion of a provider and a change of the settings that makes it active, exactly one succeeds, at the same time
// and one after the other.
func TestActiveProvidersAreStored(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s, providers := screeningdb.New(db, "test-screenings"), screeningdb.NewProviders(db, "test-screenings", openBox{})
	read := func(id string) (screening.Provider, screening.Settings) {
		p, err := providers.GetProvider(ctx, tenant, id)
		must(t, err)
		settings, err := s.GetSettings(ctx, tenant)
		must(t, err)
		return p, settings
	}
	must(t, providers.CreateProvider(ctx, storedProvider("acme")))
	p, none := read("acme")
	active := screening.Settings{ActiveProviders: []string{screening.BuiltIn, "acme"}}
	must(t, s.SaveSettings(ctx, tenant, none, active))
	wantError(t, "a deletion by the settings before", providers.DeleteProvider(ctx, p, none), screening.ErrChanged)
	_, active = read("acme")
	wantError(t, "a deletion by the present settings", providers.DeleteProvider(ctx, p, active), screening.ErrActive)
	must(t, s.SaveSettings(ctx, tenant, active, none))
	_, none = read("acme")
	must(t, providers.DeleteProvider(ctx, p, none))
	wantError(t, "an activation after that", s.SaveSettings(ctx, tenant, none, active), screening.ErrChanged)

	for round := range 20 {
		id := fmt.Sprint("p", round)
		must(t, providers.CreateProvider(ctx, storedProvider(id)))
		p, settings := read(id)
		next := screening.Settings{ActiveProviders: []string{id}}
		var saved, deleted error
		var both sync.WaitGroup
		both.Go(func() { saved = s.SaveSettings(ctx, tenant, settings, next) })
		both.Go(func() { deleted = providers.DeleteProvider(ctx, p, settings) })
		both.Wait()
		if (saved == nil) == (deleted == nil) {
			t.Fatalf("the settings were saved with %v, the provider deleted with %v; want one of both", saved, deleted)
		}
		if saved == nil {
			p, settings = read(id)
			must(t, s.SaveSettings(ctx, tenant, settings, screening.Settings{}))
			_, settings = read(id)
			must(t, providers.DeleteProvider(ctx, p, settings))
		}
	}
}
