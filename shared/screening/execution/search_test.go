package execution_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/watchlist"
)

// builtIn is the built-in provider on a real store and a catalog in memory.
type builtIn struct {
	*fixture
	lists  *catalogtest.Memory
	search *execution.Search
}

func newBuiltIn(t *testing.T) *builtIn {
	t.Helper()
	f := newFixture(t)
	lists := catalogtest.NewMemory()
	return &builtIn{f, lists, &execution.Search{Store: f.store, Lists: lists.Loader(), MaxMatches: 3, Log: quiet,
		Now: func() time.Time { return catalogtest.Now }}}
}

// open stores a batch of individuals with the given names that searches the present lists.
func (b *builtIn) open(names ...string) screening.Batch {
	b.t.Helper()
	batch := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, CreatedAt: now, Version: 1,
		Threshold: 80}
	versions, err := catalog.CurrentVersions(b.t.Context(), b.lists, tenant, nil)
	errtest.Fatal(b.t, err)
	for _, v := range versions {
		batch.Lists = append(batch.Lists, screening.ListVersion{List: v.List, Owner: v.Owner, Version: v.Version})
	}
	var entities []screening.Entity
	for i, name := range names {
		e := screening.Entity{ID: fmt.Sprintf("e%03d", i), Version: 1,
			Criteria: screening.SearchCriteria{Type: screening.Individual, FullName: name}}
		entities, batch.EntityIDs = append(entities, e), append(batch.EntityIDs, e.ID)
	}
	batch, err = b.store.Create(b.t.Context(), batch.Begin([]screening.ProviderRun{{ID: screening.BuiltIn}}, now),
		entities)
	errtest.Fatal(b.t, err)
	return batch
}

// run runs the steps of the built-in provider, each of them twice, and returns how many there were.
func (b *builtIn) run(batch screening.Batch) (steps int) {
	b.t.Helper()
	in := execution.SearchInput{Input: execution.Input{Tenant: tenant, BatchID: batch.ID, Run: batch.Runs}}
	for !in.Progress.Done {
		first, err := b.search.Handle(b.t.Context(), in)
		again, errAgain := b.search.Handle(b.t.Context(), in)
		if err != nil || errAgain != nil || first != again {
			b.t.Fatalf("step %d: got %+v, %v and again %+v, %v, want the same", steps, first, err, again, errAgain)
		}
		in.Progress = first
		steps++
	}
	return steps
}

// found returns the matches of an entity, as text.
func (b *builtIn) found(batch screening.Batch, entity string) string {
	b.t.Helper()
	page, _, err := b.store.ListMatches(b.t.Context(), b.get(batch.ID), entity, "", 100)
	errtest.Fatal(b.t, err)
	var all []string
	for _, m := range page {
		all = append(all, m.UniqueID+" "+strings.Join(m.AliasIDs, "+"))
	}
	return strings.Join(all, ", ")
}

func TestTheBuiltInProviderSearchesPinnedLists(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov", "Vanya Petroff"))
	b.lists.Import(t, tenant, "own", catalogtest.Person("7", "Ivan Petrov"))
	batch := b.open("Ivan Petrov", "Anna Schmidt", "Petrov Ivan")
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("2", "Anna Schmidt"))
	difftest.Equal(t, "steps", 1, b.run(batch))
	b.expect(batch.ID, "4 matches, 4 unresolved; sluice: Search Complete")
	first, third := b.found(batch, "e000"), b.found(batch, "e002")
	for _, want := range []string{"un:1 PrimaryName", "own:7 PrimaryName"} {
		if !strings.Contains(first, want) || !strings.Contains(third, want) {
			t.Errorf("matches %q and %q, want %s in both", first, third, want)
		}
	}
	difftest.Equal(t, "in a list that was imported after the batch was opened", "", b.found(batch, "e001"))
	// Another run of the same search is a repetition.
	b.run(batch)
	b.expect(batch.ID, "4 matches, 4 unresolved; sluice: Search Complete")
}

func TestLargeBatchesAreSearchedInSteps(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"))
	for n, steps := range map[int]int{25: 1, 26: 2, 50: 2, 51: 3} {
		names := make([]string, n)
		for i := range names {
			names[i] = "Ivan Petrov"
		}
		batch := b.open(names...)
		difftest.Equal(t, fmt.Sprintf("%d entities: steps", n), steps, b.run(batch))
		b.expect(batch.ID, fmt.Sprintf("%d matches, %d unresolved; sluice: Search Complete", n, n))
	}
}

func TestTooManyMatchesFail(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	var entries []watchlist.Entry
	for i := range 3 {
		entries = append(entries, catalogtest.Person(fmt.Sprint(i), "Ivan Petrov"))
	}
	b.lists.Import(t, catalog.Shared, "un", entries...)
	batch := b.open("Ivan Petrov")
	b.run(batch)
	b.expect(batch.ID, "3 matches, 3 unresolved; sluice: Search Complete")

	b.lists.Import(t, catalog.Shared, "un", append(entries, catalogtest.Person("3", "Ivan Petrov"))...)
	batch = b.open("Anna Schmidt", "Ivan Petrov")
	b.run(batch)
	b.expect(batch.ID, "0 matches, 0 unresolved; sluice: Return Failed E000")
	if p, _ := b.get(batch.ID).Provider(screening.BuiltIn); !strings.Contains(p.Error.Message, `"e001" has 4 matches`) {
		t.Errorf("the message is %q, want it to name the entity", p.Error.Message)
	}
}

// A step does nothing for a batch that was overridden, or whose search has ended or belongs to another run.
func TestSearchesThatAreOverStop(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"))
	batch := b.open("Ivan Petrov")
	errtest.Fatal(t, b.store.Save(t.Context(), batch.Override()))
	b.run(batch)
	b.expect(batch.ID, "0 matches, 0 unresolved; sluice: Return Failed E000")

	batch = b.open("Ivan Petrov")
	other := batch
	other.Runs = 2
	b.run(other)
	b.expect(batch.ID, "0 matches, 0 unresolved; sluice: Search In Progress")
}

// A list that cannot be opened is an error of the step, which the state machine repeats.
func TestAListThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"))
	batch := b.open("Ivan Petrov")
	b.search.Lists = brokenLists{}
	_, err := b.search.Handle(context.Background(),
		execution.SearchInput{Input: execution.Input{Tenant: tenant, BatchID: batch.ID, Run: 1}})
	var transient *execution.Transient
	if !errors.As(err, &transient) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want Transient without the cause", err)
	}
	b.expect(batch.ID, "0 matches, 0 unresolved; sluice: Search In Progress")
}

type brokenLists struct{}

func (brokenLists) Open(context.Context, catalog.VersionRef) (catalog.Loaded, error) {
	return catalog.Loaded{}, errors.New("secret cause")
}

// overtakenStore fails the next saves of batches as if others had saved them first.
type overtakenStore struct {
	screening.Store
	overtakes int
}

func (s *overtakenStore) Save(ctx context.Context, b screening.Batch) error {
	if s.overtakes > 0 {
		s.overtakes--
		return screening.ErrChanged
	}
	return s.Store.Save(ctx, b)
}

// The search of a provider ends although others change the batch meanwhile.
func TestSearchesOfABusyBatchEnd(t *testing.T) {
	t.Parallel()
	b := newBuiltIn(t)
	b.search.Store = &overtakenStore{b.store, 1}
	b.lists.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Ivan Petrov"))
	batch := b.open("Ivan Petrov")
	b.run(batch)
	b.expect(batch.ID, "1 matches, 1 unresolved; sluice: Search Complete")
}
