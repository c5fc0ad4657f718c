package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

func newImporter(m *catalogtest.Memory) *catalog.Importer {
	return &catalog.Importer{Store: m, Files: m, Now: func() time.Time { return catalogtest.Now }, By: "tester"}
}

// plan plans the import of a shared list "un".
func plan(t *testing.T, i *catalog.Importer, date time.Time, entries ...watchlist.Entry) *catalog.Plan {
	t.Helper()
	p := errtest.Must(i.Plan(t.Context(), catalog.Import{Owner: catalog.Shared, List: "un", Format: watchlist.UNXML,
		File:    "un.xml",
		Content: &watchlist.List{SourceDate: date, Entries: entries, ProblemCount: 2}}))(t)
	return p
}

// persons returns the entries of a list, n of them from a number on.
func persons(from, n int) []watchlist.Entry {
	var entries []watchlist.Entry
	for i := from; i < from+n; i++ {
		entries = append(entries, catalogtest.Person(fmt.Sprint(i), fmt.Sprintf("Anatoly Velkanov%c%c", 'a'+i/26,
			'a'+i%26)))
	}
	return entries
}

func TestImport(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	i := newImporter(m)
	first := plan(t, i, catalogtest.Now, persons(0, 3)...)
	if first.IsUnchanged() || first.Counts != (catalog.Changes{Added: 3}) || first.Before.Revision != 0 {
		t.Errorf("a new list: %+v", first)
	}
	errtest.Is(t, "after a plan alone", errtest.Of(m.Pointer(t.Context(), catalog.Shared, "un")), catalog.ErrNotFound)
	for range 2 {
		errtest.Fatal(t, i.Apply(t.Context(), first, false))
	}
	again := plan(t, i, catalogtest.Now, persons(0, 3)...)
	if !again.IsUnchanged() || again.Counts != (catalog.Changes{}) || i.Apply(t.Context(), again, false) != nil {
		t.Errorf("the same file again: %+v", again)
	}
	m.DeleteObjects(first.Version.Indexes[match.FileFormat()].SHA256 + ".idx")
	if again = plan(t, i, catalogtest.Now, persons(0, 3)...); again.IsUnchanged() {
		t.Error("the same file again is not needed although an object is gone")
	}
	if err := i.Apply(t.Context(), again, false); err != nil || !plan(t, i, catalogtest.Now,
		persons(0, 3)...).IsUnchanged() {
		t.Errorf("restoring it: %v", err)
	}
	redated := plan(t, i, catalogtest.Now.AddDate(0, 0, 1), persons(0, 3)...)
	if redated.IsUnchanged() || redated.Counts != (catalog.Changes{}) ||
		redated.Version.Version == first.Version.Version {
		t.Errorf("the same entries of another date: %+v", redated)
	}
	errtest.Fatal(t, i.Apply(t.Context(), redated, false))
	p, err := m.Pointer(t.Context(), catalog.Shared, "un")
	if err != nil || p.Current.Version != redated.Version.Version || p.Previous.Version != first.Version.Version ||
		p.MovedBy != "tester" ||
		p.Current.Entries != 3 || p.Current.Names != 3 || p.Current.Problems != 2 || p.Current.File != "un.xml" {
		t.Errorf("pointer %+v, %v", p, err)
	}
	versions := errtest.Must(m.Versions(t.Context(), catalog.Shared, "un"))(t)
	difftest.Equal(t, "versions", 2, len(versions))
	entries, err := catalog.ReadEntries(t.Context(), m, p.Current)
	if err != nil || len(entries) != 3 || entries[2].ID != "2" {
		t.Errorf("entries %+v, %v", entries, err)
	}
}

// An import loses a tenth of the entries, and more only if it is forced. Entries with another ID are not lost.
func TestImportRefusesToLoseEntries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lost      int
		isRefused bool
	}{{0, false}, {1, false}, {2, false}, {3, true}, {20, true}} {
		t.Run(fmt.Sprint(test.lost), func(t *testing.T) {
			t.Parallel()
			m := catalogtest.NewMemory()
			i := newImporter(m)
			errtest.Fatal(t, i.Apply(t.Context(), plan(t, i, catalogtest.Now, persons(0, 20)...), false))
			next := plan(t, i, catalogtest.Now, append(persons(100, 20), persons(test.lost, 20-test.lost)...)...)
			err := i.Apply(t.Context(), next, false)
			if errors.Is(err, catalog.ErrTooManyLost) != test.isRefused || next.IsTooManyLost() != test.isRefused {
				t.Errorf("losing %d of 20: %v", test.lost, err)
			}
			errtest.Is(t, "forced", i.Apply(t.Context(), next, true), nil)
		})
	}
	m := catalogtest.NewMemory()
	i := newImporter(m)
	errtest.Fatal(t, i.Apply(t.Context(), plan(t, i, catalogtest.Now, persons(0, 20)...), false))
	renumbered := persons(0, 20)
	for j := range renumbered {
		renumbered[j].ID = "x" + renumbered[j].ID
	}
	if p := plan(t, i, catalogtest.Now, renumbered...); p.IsTooManyLost() || p.Counts != (catalog.Changes{Moved: 20}) {
		t.Errorf("20 other IDs: %+v", p.Counts)
	}
}

// One of two imports at the same time wins, and the other one fails with ErrChanged.
func TestTwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	i := newImporter(m)
	for round := range 2 {
		one := plan(t, i, catalogtest.Now, persons(10*round, 3)...)
		other := plan(t, i, catalogtest.Now, persons(10*round+5, 3)...)
		same := plan(t, i, catalogtest.Now, persons(10*round, 3)...)
		errtest.Fatal(t, i.Apply(t.Context(), one, true))
		errtest.Is(t, fmt.Sprintf("round %d: the second import", round), i.Apply(t.Context(), other, true),
			catalog.ErrChanged)
		errtest.Is(t, fmt.Sprintf("round %d: the same import by someone else", round),
			i.Apply(t.Context(), same, true), nil)
		if p, err := m.Pointer(t.Context(), catalog.Shared, "un"); err != nil ||
			p.Current.Version != one.Version.Version {
			t.Errorf("round %d: current is %s, %v", round, p.Current.Version, err)
		}
	}
}

func TestRollback(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	i := newImporter(m)
	ctx := t.Context()
	var versions []string
	for n := range 3 {
		v := m.Import(t, catalog.Shared, "un", persons(0, n+1)...)
		versions = append(versions, v.Version)
		if n == 0 {
			if _, _, err := i.Rollback(ctx, catalog.Shared, "un", ""); !errors.Is(err, catalog.ErrNoPrevious) {
				t.Errorf("of a list with one version: %v, want ErrNoPrevious", err)
			}
		}
	}
	for _, step := range []struct {
		to   string
		want int
	}{{"", 1}, {"", 2}, {versions[0], 0}, {versions[0], 0}, {"", 2}} {
		_, after, err := i.Rollback(ctx, catalog.Shared, "un", step.to)
		if err != nil || after.Current.Version != versions[step.want] {
			t.Errorf("to %.12q: version %d is current, %v; want %d", step.to,
				slices.Index(versions, after.Current.Version), err, step.want)
		}
	}
	for name, args := range map[string][2]string{"list": {"other", ""}, "version": {"un", "none"}} {
		if _, _, err := i.Rollback(ctx, catalog.Shared, args[0], args[1]); !errors.Is(err, catalog.ErrNotFound) {
			t.Errorf("an unknown %s: %v, want ErrNotFound", name, err)
		}
	}
}

func TestListNames(t *testing.T) {
	t.Parallel()
	long := ""
	for range 64 {
		long += "a"
	}
	for name, isName := range map[string]bool{"un": true, "UN-1.b_c": true, long: true, long + "a": false, "": false,
		".un": false, "a/b": false,
		"a b": false, "a#b": false, "ä": false, "a\n": false} {
		if err := catalog.CheckListName(name); (err == nil) != isName {
			t.Errorf("%q: %v", name, err)
		}
		_, err := newImporter(catalogtest.NewMemory()).Plan(context.Background(), catalog.Import{
			Owner: catalog.Shared, List: name, Format: watchlist.UNXML, Content: &watchlist.List{Entries: persons(0,
				1)}})
		if (err == nil) != isName {
			t.Errorf("importing %q: %v", name, err)
		}
	}
}
