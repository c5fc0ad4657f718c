package execution_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/screeningdb"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

var quiet = slog.New(slog.DiscardHandler)

// tasks records the tokens of the tasks that were completed.
type tasks struct {
	mu     sync.Mutex
	tokens []string
}

func (t *tasks) Complete(_ context.Context, token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens = append(t.tokens, token)
	return nil
}

// fixture is a store with the answers that are recorded in it.
type fixture struct {
	t       *testing.T
	store   *screeningdb.Store
	tasks   *tasks
	answers *execution.Answers
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, store: screeningdb.New(dynamotest.Start(t), "test-screenings"), tasks: &tasks{}}
	f.answers = &execution.Answers{Store: f.store, Tasks: f.tasks, MaxMatches: 3, Log: quiet}
	return f
}

// create stores a batch of the entities e and f with searches of providers.
func (f *fixture) create(providers ...string) screening.Batch {
	f.t.Helper()
	runs := make([]screening.ProviderRun, len(providers))
	for i, id := range providers {
		runs[i].ID = id
	}
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, Type: screening.TypeScreening,
		EntityIDs: []string{"e", "f"}, CreatedAt: now, Version: 1}.Begin(runs, now)
	b, err := f.store.Create(f.t.Context(), b, []screening.Entity{{ID: "e", Version: 1}, {ID: "f", Version: 1}})
	errtest.Fatal(f.t, err)
	return b
}

func (f *fixture) get(id string) screening.Batch {
	f.t.Helper()
	return errtest.Must(f.store.Get(f.t.Context(), tenant, id))(f.t)
}

// record records an answer and checks what became of it.
func (f *fixture) record(want execution.Outcome, batch, provider string, a execution.Answer) {
	f.t.Helper()
	difftest.Equal(f.t, "answer "+a.ID+" of "+provider, want,
		errtest.Must(f.answers.Record(f.t.Context(), tenant, batch, provider, a))(f.t))
}

// matches returns n matches of an entity.
func matches(entity string, n int) (all []screening.Match) {
	for i := range n {
		all = append(all, screening.Match{EntityID: entity, UniqueID: fmt.Sprint("list:", i),
			AliasIDs: []string{screening.PrimaryName},
			Data:     screening.MatchData{Name: "Ivan Petrov", ProviderSourceName: "list"}})
	}
	return all
}

func (f *fixture) expect(id string, want string) {
	f.t.Helper()
	b := f.get(id)
	got := fmt.Sprintf("%d matches, %d unresolved", b.Matches, b.Unresolved)
	for _, p := range b.Providers {
		got += fmt.Sprintf("; %s: %s", p.ID, p.Status)
		if p.Error != nil {
			got += " " + p.Error.Code
		}
	}
	difftest.Equal(f.t, "result", want, got)
}

func TestAnAnswerEndsTheSearchOfItsProvider(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create("p", "q")
	errtest.Fatal(t, f.store.SaveSearch(t.Context(), tenant,
		screening.Search{BatchID: b.ID, ProviderID: "p", Run: 1, Token: "t"}))
	answer := execution.Answer{ID: "1", Matches: append(matches("e", 3), matches("f", 1)...)}
	f.record(execution.Recorded, b.ID, "p", answer)
	f.record(execution.Repeated, b.ID, "p", answer)
	f.record(execution.Late, b.ID, "p", execution.Answer{ID: "2"})
	f.expect(b.ID, "4 matches, 4 unresolved; p: Search Complete; q: Search In Progress")
	difftest.Equal(t, "tokens", "t t", strings.Join(f.tasks.tokens, " "))
	page, _, err := f.store.ListMatches(t.Context(), f.get(b.ID), "e", "", 10)
	if err != nil || len(page) != 3 || page[0].Data.ProviderID != "p" ||
		page[0].Resolution.Status != screening.Unresolved {
		t.Errorf("matches: got %+v, %v, want three unresolved ones of p", page, err)
	}
	f.record(execution.Recorded, b.ID, "q", execution.Answer{ID: "1", Error: &screening.ProviderError{
		Source: screening.SourceAdapter, Code: screening.CodeRejected, Message: "no"}})
	f.expect(b.ID, "4 matches, 4 unresolved; p: Search Complete; q: Return Failed E001")
}

func TestAnswersNobodyAskedForAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create("p")
	a := execution.Answer{ID: "1", Matches: matches("e", 1)}
	f.record(execution.Unknown, uuid.NewString(), "p", a)
	f.record(execution.Unknown, b.ID, "other", a)
	f.record(execution.Unknown, b.ID, screening.BuiltIn, a)
	if err := f.store.Save(t.Context(), b.Override()); err == nil {
		f.record(execution.Late, b.ID, "p", a)
		f.expect(b.ID, "0 matches, 0 unresolved; p: Return Failed E000")
	} else {
		t.Error(err)
	}
}

// Messages of adapters do not say their run: an answer counts for the run that it meets, also a repeated one.
func TestAnswersCountForTheRunThatTheyMeet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create("p")
	failure := execution.Answer{ID: "1", Error: &screening.ProviderError{
		Source: screening.SourceAdapter, Code: screening.CodeNotSpecified, Message: "no"}}
	rerun := func() {
		t.Helper()
		again, err := f.get(b.ID).Rerun("p", now)
		if err == nil {
			err = f.store.Save(t.Context(), again)
		}
		errtest.Fatal(t, err)
	}
	f.record(execution.Recorded, b.ID, "p", failure)
	f.record(execution.Repeated, b.ID, "p", failure)
	rerun()
	f.record(execution.Recorded, b.ID, "p", failure)
	f.expect(b.ID, "0 matches, 0 unresolved; p: Return Failed E000")
	rerun()
	f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "2", Matches: matches("e", 2)})
	f.record(execution.Late, b.ID, "p", failure)
	f.expect(b.ID, "2 matches, 2 unresolved; p: Search Complete")
}

func TestInvalidAnswersFail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	large := matches("e", 1)
	large[0].Data.Name = strings.Repeat("x", screening.MaxMatchBytes)
	for name, all := range map[string][]screening.Match{
		"an entity of another batch": matches("other", 1), "too many": matches("e", 4), "too large": large,
		"the same entry twice": append(matches("e", 1), matches("e", 1)...),
	} {
		t.Run(name, func(t *testing.T) {
			f := *f
			f.t = t
			b := f.create("p")
			f.record(execution.Recorded, b.ID, "p", execution.Answer{ID: "1", Matches: all})
			f.expect(b.ID, "0 matches, 0 unresolved; p: Return Failed E002")
		})
	}
}

// Answers that come at the same time are recorded once each, and of several of one provider only one counts.
func TestAnswersAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	b := f.create("p", "q", "r")
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := map[execution.Outcome]int{}
	for i := range 9 {
		wg.Go(func() {
			got, err := f.answers.Record(t.Context(), tenant, b.ID, string("pqr"[i%3]),
				execution.Answer{ID: fmt.Sprint(i), Matches: matches("e", 2)})
			mu.Lock()
			defer mu.Unlock()
			if count[got]++; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.expect(b.ID, "6 matches, 6 unresolved; p: Search Complete; q: Search Complete; r: Search Complete")
	if count[execution.Recorded] != 3 || count[execution.Late] != 6 {
		t.Errorf("outcomes: got %v, want three recorded, six late", count)
	}
}
