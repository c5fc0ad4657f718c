package screeningdb_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

func newBatch(journey, process string, entityIDs ...string) (screening.Batch, []screening.Entity) {
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, Type: screening.TypeScreening,
		JourneyID: journey, ProcessID: process, EntityIDs: entityIDs, CreatedAt: now, Version: 1,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}}}
	var entities []screening.Entity
	for _, id := range entityIDs {
		entities = append(entities, screening.Entity{ID: id, BatchID: b.ID, Version: 1,
			Criteria: screening.SearchCriteria{Type: screening.Individual, FullName: "Ivan Petrov"}})
	}
	return b, entities
}

// Of batches of the same journey and process that are created at the same time exactly one is active in the end, and
// each of the others is overridden by exactly one.
func TestConcurrentBatchesOverrideEachOther(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	const count = 6
	var wg sync.WaitGroup
	ids := make([]string, count)
	for i := range count {
		wg.Go(func() {
			for { // a client repeats what meets too many others
				b, entities := newBatch("journey", "process", "e")
				created, err := s.Create(ctx, b, entities)
				if errors.Is(err, screening.ErrChanged) {
					continue
				}
				errtest.Is(t, "error", err, nil)
				ids[i] = created.ID
				return
			}
		})
	}
	wg.Wait()
	overridden := map[string]int{}
	open := 0
	for _, id := range ids {
		b := errtest.Must(s.Get(ctx, tenant, id))(t)
		for _, previous := range b.OverriddenIDs {
			overridden[previous]++
		}
		if b.Status == screening.Open {
			open++
			difftest.Equal(t, "the active batch", id, errtest.Must(s.FindActive(ctx, tenant, "journey", "process"))(t))
		}
	}
	difftest.Equal(t, "result", []any{1, count - 1}, []any{open, len(overridden)})
	for id, times := range overridden {
		difftest.Equal(t, "times that batch "+id+" is overridden", 1, times)
	}
}

// A batch that is created again, as by two rescreenings at the same time, keeps the decisions of people since.
func TestCreatingABatchAgainReplacesNothing(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, entities := newBatch("", "", "e")
	errtest.Fatal(t, errtest.Of(s.Create(ctx, b, entities)))
	assessed := entities[0]
	assessed.Version, assessed.Assessment = 2, &screening.Assessment{Rationale: "harmless"}
	errtest.Fatal(t, s.SaveEntity(ctx, b, assessed))
	errtest.Is(t, "created again", errtest.Of(s.Create(ctx, b, entities)), screening.ErrChanged)
	stored, err := s.GetEntities(ctx, tenant, b.ID, b.EntityIDs)
	if err != nil || len(stored) != 1 || stored[0].Version != 2 || stored[0].Assessment == nil {
		t.Errorf("got %+v, %v, want the entity as it was assessed", stored, err)
	}
}

// The size of a match is the size of the provider's data: the aliases that the client named do not count.
func TestMatchesOfManyAliases(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, _ := newBatch("", "", "e")
	m := newMatch(b, "e", "answer", "1")
	m.Data.Name = strings.Repeat("x", 31_000)
	for i := range screening.MaxAliases {
		m.AliasIDs = append(m.AliasIDs, strings.Repeat("y", 250)+fmt.Sprint(i))
	}
	errtest.Fatal(t, s.AddMatches(ctx, tenant, []screening.Match{m}))
	m.Data.Name = strings.Repeat("x", screening.MaxMatchBytes)
	err := s.AddMatches(ctx, tenant, []screening.Match{m})
	if f := fault.As(err); f == nil || f.Kind != fault.TooLarge {
		t.Errorf("too large: got %v, want a fault of the kind TooLarge", err)
	}
}

// The matches of an answer that did not end its provider's search are not read.
func TestOnlyTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, entities := newBatch("", "", "e#1", "e")
	b = errtest.Must(s.Create(ctx, b, entities))(t)
	for _, answer := range []string{"first", "second"} {
		var matches []screening.Match
		for i := range 3 {
			matches = append(matches, newMatch(b, "e", answer, fmt.Sprint(answer, i)))
		}
		matches = append(matches, newMatch(b, "e#1", answer, "other"))
		for range 2 { // adding again changes nothing
			errtest.Fatal(t, s.AddMatches(ctx, tenant, matches))
		}
		after, isFirst, err := b.FinishProvider(screening.Answer{ID: answer, ProviderID: "p", Matches: len(matches)})
		errtest.Fatal(t, err)
		difftest.Equal(t, "the "+answer+" answer is the first", answer == "first", isFirst)
		if isFirst {
			errtest.Fatal(t, s.Save(ctx, after))
			b = after
		}
	}
	var got []string
	for after := ""; ; {
		page, next, err := s.ListMatches(ctx, b, "e", after, 2)
		errtest.Fatal(t, err)
		for _, m := range page {
			got = append(got, m.AnswerID)
		}
		if after = next; after == "" {
			break
		}
	}
	difftest.Equal(t, "the answers of the matches", []string{"first", "first", "first"}, got)
	difftest.Equal(t, "result", []any{4, 4}, []any{b.Unresolved, b.Matches})
}

func newMatch(b screening.Batch, entityID, answer, unique string) screening.Match {
	return screening.Match{ID: screening.NewMatchID(answer, entityID, unique), BatchID: b.ID, EntityID: entityID,
		AnswerID: answer, AliasIDs: []string{screening.PrimaryName}, UniqueID: unique, Version: 1,
		Data:       screening.MatchData{ProviderID: "p", ProviderSourceName: "list", Name: "PETROV, Ivan"},
		Resolution: screening.Resolution{Status: screening.Unresolved}}
}

// Batches are read together in the order of their IDs, more of them than one call of DynamoDB reads; those that do not
// exist are left out.
func TestBatchesAreReadTogether(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	var ids, want []string
	for i := range 130 {
		b, entities := newBatch("", "", "e")
		if i%10 != 3 {
			_, err := s.Create(ctx, b, entities)
			must(t, err)
			want = append(want, b.ID)
		}
		ids = append(ids, b.ID)
	}
	batches, err := s.GetBatches(ctx, tenant, ids)
	must(t, err)
	var got []string
	for _, b := range batches {
		got = append(got, b.ID)
	}
	difftest.Equal(t, "the batches", want, got)
	difftest.Equal(t, "another tenant reads batches", 0, len(errtest.Must(s.GetBatches(ctx, "another tenant", ids))(t)))
}

// A resolution is refused if a match or the batch has changed since it was read; then nothing of it is stored.
func TestResolvingIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, entities := newBatch("", "", "e")
	b, err := s.Create(ctx, b, entities)
	errtest.Fatal(t, err)
	matches := []screening.Match{newMatch(b, "e", "a", "1"), newMatch(b, "e", "a", "2")}
	errtest.Fatal(t, s.AddMatches(ctx, tenant, matches))
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: 2})
	if err == nil {
		err = s.Save(ctx, b)
	}
	errtest.Fatal(t, err)
	resolve := func(status screening.MatchStatus, which ...screening.Match) (screening.Batch, []screening.Match) {
		t.Helper()
		resolutions := map[string]screening.Resolution{}
		for _, m := range which {
			resolutions[m.ID] = screening.Resolution{Status: status, Reason: "r"}
		}
		next, resolved, err := b.Resolve(which, resolutions)
		errtest.Fatal(t, err)
		return next, resolved
	}
	late, lateMatches := resolve(screening.NoMatch, matches...)
	next, resolved := resolve(screening.TrueMatch, matches[1])
	errtest.Fatal(t, s.Resolve(ctx, next, resolved))
	errtest.Is(t, "a late resolution", s.Resolve(ctx, late, lateMatches), screening.ErrChanged)
	stored, err := s.Get(ctx, tenant, b.ID)
	if err != nil || stored.Unresolved != 1 || stored.TrueMatches != 1 {
		t.Errorf("%d unresolved and %d true matches, %v, want 1 and 1", stored.Unresolved, stored.TrueMatches, err)
	}
	got, err := s.GetMatches(ctx, stored, []screening.MatchRef{{EntityID: "e", MatchID: matches[0].ID}})
	if err != nil || len(got) != 1 || got[0].Resolution.Status != screening.Unresolved {
		t.Errorf("the other match is %+v, %v, want it unresolved", got, err)
	}
}

// Matches over the limit of an entity are refused before any of them is stored.
func TestTooManyMatchesAreRefused(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), screeningdb.New(dynamotest.Start(t), "test-screenings")
	b, entities := newBatch("", "", "e")
	b = errtest.Must(s.Create(ctx, b, entities))(t)
	var matches []screening.Match
	for i := range screening.MaxMatches + 1 {
		matches = append(matches, screening.Match{ID: fmt.Sprint(i), BatchID: b.ID, EntityID: "e", AnswerID: "a",
			Version: 1})
	}
	var refused *fault.Error
	if err := s.AddMatches(ctx, tenant, matches); !errors.As(err, &refused) ||
		refused.Code != "too_many_entity_matches" {
		t.Errorf("got %v, want too_many_entity_matches", err)
	}
	b.Providers[0].Status, b.Providers[0].AnswerID = screening.SearchComplete, "a"
	if stored, _, err := s.ListMatches(ctx, b, "e", "", 10); err != nil || len(stored) != 0 {
		t.Errorf("stored %d matches, %v, want none", len(stored), err)
	}
}
