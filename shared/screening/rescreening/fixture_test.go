package rescreening_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/lookup"
	"sluice/shared/screening/rescreening"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/watchlist"
)

const tenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

// office is a tenant's screening with a list "un", on a real store and a catalog in memory.
type office struct {
	t      *testing.T
	store  *screeningdb.Store
	lists  *catalogtest.Memory
	now    time.Time
	events []event.Message
	// criteria are the search criteria of all screened entities.
	criteria screening.SearchCriteria
	// failures is how many more events cannot be sent.
	failures int
	*rescreening.Rescreening
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, store: screeningdb.New(dynamotest.Start(t), "test-screenings"), lists: catalogtest.NewMemory(),
		now: catalogtest.Now}
	o.Rescreening = &rescreening.Rescreening{
		Rounds: o.store, Batches: o.store, Lists: o.lists, Files: o.lists, Events: o, MaxMatches: 2,
		Now: func() time.Time { return o.now }, Log: slog.New(slog.DiscardHandler),
	}
	return o
}

// Send implements event.Sender.
func (o *office) Send(_ context.Context, m event.Message) error {
	if o.failures > 0 {
		o.failures--
		return errors.New("the event bus does not answer")
	}
	if !slices.ContainsFunc(o.events, func(e event.Message) bool { return e.ID == m.ID }) {
		o.events = append(o.events, m)
	}
	return nil
}

func (o *office) must(err error) {
	o.t.Helper()
	errtest.Fatal(o.t, err)
}

// update imports the list and lets time pass.
func (o *office) update(entries ...watchlist.Entry) {
	o.t.Helper()
	o.lists.Import(o.t, catalog.Shared, "un", append(entries, catalogtest.Person("other",
		"Someone Else Altogether"))...)
	o.now = o.now.Add(time.Hour)
}

// screen stores a batch of individuals of a journey, whose search of the present lists has ended.
func (o *office) screen(journey string, names ...string) screening.Batch {
	o.t.Helper()
	ctx := o.t.Context()
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, Type: screening.TypeScreening,
		JourneyID: journey,
		ProcessID: "onboarding", CreatedAt: o.now, Version: 1, Threshold: 80}
	loaded, err := o.lists.Loader().Current(ctx, tenant, nil)
	o.must(err)
	for _, l := range loaded {
		b.Lists = append(b.Lists, screening.ListVersion{List: l.List, Owner: l.Owner, Version: l.Version.Version})
	}
	run := screening.ProviderRun{ID: screening.BuiltIn, Status: screening.SearchComplete, AnswerID: "answer " + b.ID}
	var entities []screening.Entity
	var matches []screening.Match
	for _, name := range names {
		e := screening.Entity{ID: name, Version: 1, Criteria: o.criteria}
		e.Criteria.Type, e.Criteria.FullName = screening.Individual, name
		entities, b.EntityIDs = append(entities, e), append(b.EntityIDs, e.ID)
		found, err := lookup.Find(catalog.NewScreener(loaded...), lookup.Questions(e.Criteria, nil), b.Threshold)
		o.must(err)
		for _, f := range found {
			id := lookup.UniqueID(f.Found)
			matches = append(matches, screening.Match{ID: screening.NewMatchID(run.AnswerID, e.ID, id), BatchID: b.ID,
				EntityID: e.ID, AnswerID: run.AnswerID, UniqueID: id, Version: 1,
				Resolution: screening.Resolution{Status: screening.Unresolved}})
		}
	}
	run.Matches, b.Matches, b.Unresolved = len(matches), len(matches), len(matches)
	b.Providers = []screening.ProviderRun{run}
	o.must(o.store.AddMatches(ctx, tenant, matches))
	b, err = o.store.Create(ctx, b, entities)
	o.must(err)
	return b
}

// resolve gives all matches of an entity a status, in all of its batches.
func (o *office) resolve(entityID string, status screening.MatchStatus) {
	o.t.Helper()
	for _, b := range o.batches(entityID) {
		matches, _, err := o.store.ListMatches(o.t.Context(), b, entityID, "", 100)
		o.must(err)
		resolutions := map[string]screening.Resolution{}
		for _, m := range matches {
			resolutions[m.ID] = screening.Resolution{Status: status, Reason: "Another person",
				Action: &screening.MatchAction{By: "me", Type: screening.ActorClient, At: o.now}}
		}
		b, matches, err = b.Resolve(matches, resolutions)
		o.must(err)
		o.must(o.store.Resolve(o.t.Context(), b, matches))
	}
}

// batches returns the batches of an entity, the first one first.
func (o *office) batches(entityID string) []screening.Batch {
	o.t.Helper()
	ids, _, err := o.store.ListBatchesOf(o.t.Context(), tenant, entityID, "", 100)
	o.must(err)
	var batches []screening.Batch
	for _, id := range slices.Backward(ids) {
		b, err := o.store.Get(o.t.Context(), tenant, id)
		o.must(err)
		batches = append(batches, b)
	}
	return batches
}

// expect rescreens twice, and checks what is in the rescreening batches of an entity: the entries' IDs, those of a
// batch in brackets.
func (o *office) expect(what, entityID, want string) {
	o.t.Helper()
	for range 2 {
		o.must(o.Run(o.t.Context()))
	}
	var got []string
	for _, b := range o.batches(entityID) {
		if b.Type != screening.TypeRescreening {
			continue
		}
		matches, _, err := o.store.ListMatches(o.t.Context(), b, entityID, "", 100)
		o.must(err)
		var ids []string
		for _, m := range matches {
			ids = append(ids, strings.TrimPrefix(m.UniqueID, "un:"))
		}
		slices.Sort(ids)
		got = append(got, "["+strings.Join(ids, " ")+"]")
	}
	slices.Sort(got)
	difftest.Equal(o.t, what+": the rescreening batches", want, strings.Join(got, ""))
}

func born(e watchlist.Entry, date string) watchlist.Entry {
	e.BirthDates = []string{date}
	return e
}

const asked = "Anatoly Velkanov"
