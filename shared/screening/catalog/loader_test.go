package catalog_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

const tenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	catalogtest.Conform(t, catalogtest.NewMemory())
}

// names returns the names of the loaded lists, with a star after the tenant's own.
func names(loaded []catalog.Loaded) string {
	var out []string
	for _, l := range loaded {
		name := l.List
		if l.Owner != catalog.Shared {
			name += "*"
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

// A tenant sees shared lists and its own, and no other tenant's.
func TestVisibleLists(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	m.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	m.Import(t, catalog.Shared, "ofac", catalogtest.Person("1", "Anatoly Velkanov"))
	m.Import(t, tenant, "own", catalogtest.Person("1", "Anatoly Velkanov"))
	m.Import(t, tenant, "ofac", catalogtest.Person("2", "Boris Testov"))
	m.Import(t, "other", "secret", catalogtest.Person("1", "Anatoly Velkanov"))
	for _, test := range []struct {
		name, tenant string
		lists        []string
		want         string
		unknown      string
	}{
		{"all of a tenant", tenant, nil, "ofac* own* un", ""},
		{"all of a tenant without lists of its own", "third", nil, "ofac un", ""},
		{"named, in their order, once", tenant, []string{"un", "own", "un"}, "un own*", ""},
		{"of another tenant", tenant, []string{"un", "secret"}, "", "secret"},
		{"of nobody", tenant, []string{"../un"}, "", "../un"},
		{"shared ones only, without a tenant", "", nil, "ofac un", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			loaded, err := m.Loader().Current(t.Context(), test.tenant, test.lists)
			var unknown *catalog.UnknownListError
			if test.unknown != "" {
				if !errors.As(err, &unknown) || unknown.List != test.unknown ||
					!errors.Is(err, catalog.ErrUnknownList) {
					t.Errorf("got %v, want an error about the list %q", err, test.unknown)
				}
				return
			}
			errtest.Fatal(t, err)
			difftest.Equal(t, "loaded", test.want, names(loaded))
		})
	}
	errtest.Is(t, "without any list", errtest.Of(catalogtest.NewMemory().Loader().Current(t.Context(), tenant, nil)),
		catalog.ErrNoLists)
}

// Many callers at once read the pointers and load each version once, and it is kept.
func TestLoadOnce(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	m.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	_, before := m.Counts()
	loader := m.Loader()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			loaded, err := loader.Current(t.Context(), tenant, nil)
			if err != nil {
				t.Error(err)
				return
			}
			hits, err := catalog.NewScreener(loaded...).Screen(match.Query{Name: "Anatoly Velkanov"}, match.Threshold)
			if err != nil || len(hits) != 1 || hits[0].Entry.ID != "1" ||
				hits[0].Source.Version.Version != loaded[0].Version.Version {
				t.Errorf("hits %+v, %v", hits, err)
			}
			if again, err := loader.Open(t.Context(), loaded[0].VersionRef); err != nil ||
				again.Version.Version != loaded[0].Version.Version {
				t.Errorf("opening it by its version: %+v, %v", again.Version, err)
			}
		})
	}
	wg.Wait()
	reads, opened := m.Counts()
	difftest.Equal(t, "pointers were read", []any{2, 1}, []any{reads, opened - before})
}

// clock is a clock that stands still until it is set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A version that cannot be loaded leaves the last good one serving, in this process and in a new one, until it can be.
func TestLastGoodVersionServes(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	good := m.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	c := &clock{now: catalogtest.Now}
	var log strings.Builder
	options := catalog.Options{Versions: m, Files: m, Now: c.Now, Recheck: time.Minute,
		Log: slog.New(slog.NewJSONHandler(&log, nil))}
	warm := catalog.NewLoader(options)
	current := func(l *catalog.Loader) catalog.Loaded {
		t.Helper()
		loaded := errtest.Must(l.Current(t.Context(), tenant, nil))(t)
		return loaded[0]
	}
	if l := current(warm); l.Problem != "" || l.Version.Version != good.Version || l.Age(c.Now()) != 24*time.Hour {
		t.Errorf("loaded %+v", l)
	}
	next := m.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"),
		catalogtest.Person("2", "Boris Testov"))
	m.Damage(next.Indexes[match.FileFormat()].SHA256 + ".idx")
	c.advance(time.Minute - 1)
	if l := current(warm); l.Problem != "" || l.Version.Version != good.Version {
		t.Errorf("before the pointers are read again: loaded %+v", l.Version)
	}
	c.advance(1)
	for name, loader := range map[string]*catalog.Loader{"warm": warm, "new": catalog.NewLoader(options)} {
		if l := current(loader); l.Version.Version != good.Version ||
			l.Problem != "version "+next.Version[:12]+" cannot be loaded" {
			t.Errorf("%s: loaded %+v with the problem %q", name, l.Version, l.Problem)
		}
	}
	difftest.Equal(t, "times that the log has the message: "+log.String(), 2,
		strings.Count(log.String(), `"msg":"a watchlist version cannot be loaded"`))
	m.Damage(next.Indexes[match.FileFormat()].SHA256 + ".idx") // which mends it
	c.advance(time.Minute)
	if l := current(warm); l.Version.Version != next.Version || l.Problem != "" {
		t.Errorf("once it can be loaded: loaded %+v with the problem %q", l.Version, l.Problem)
	}
	m.FailReads(true)
	c.advance(time.Minute)
	if l := current(warm); l.Version.Version != next.Version {
		t.Errorf("while pointers cannot be read: loaded %+v", l.Version)
	}
	errtest.Fails(t, "a new loader has loaded a list although pointers cannot be read",
		errtest.Of(catalog.NewLoader(options).Current(t.Context(), tenant, nil)))
}

// Indexes that were used least recently make room; one that is larger than all room is refused.
func TestBoundedBytes(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	a := m.Import(t, catalog.Shared, "a", catalogtest.Person("1", "Anatoly Velkanov"))
	b := m.Import(t, catalog.Shared, "b", catalogtest.Person("1", "Boris Testov"))
	size := func(v catalog.Version) int64 { return v.Indexes[match.FileFormat()].Bytes }
	options := catalog.Options{Versions: m, Files: m, Now: func() time.Time { return catalogtest.Now },
		Log:      slog.New(slog.DiscardHandler),
		MaxBytes: max(size(a), size(b))}
	loader := catalog.NewLoader(options)
	_, before := m.Counts()
	for range 2 {
		for _, v := range []catalog.Version{a, a, b, b} {
			loaded := errtest.Must(loader.Open(t.Context(), v.VersionRef))(t)
			hits, err := catalog.NewScreener(loaded).Screen(match.Query{Name: "Anatoly Velkanov"}, match.Threshold)
			if err != nil || len(hits) != map[string]int{"a": 1}[v.List] {
				t.Errorf("list %s has the hits %+v, %v", v.List, hits, err)
			}
		}
	}
	if _, opened := m.Counts(); opened-before != 4 {
		t.Errorf("objects were opened %d times, want 4", opened-before)
	}
	options.MaxBytes = min(size(a), size(b)) - 1
	errtest.Fails(t, "an index larger than all room was loaded",
		errtest.Of(catalog.NewLoader(options).Open(t.Context(), a.VersionRef)))
	errtest.Is(t, "a version that does not exist",
		errtest.Of(loader.Open(t.Context(), catalog.VersionRef{Owner: tenant, List: "a", Version: a.Version})),
		catalog.ErrNotFound)
}

// An index that another release has made is made again of the entries.
func TestIndexOfAnotherRelease(t *testing.T) {
	t.Parallel()
	m := catalogtest.NewMemory()
	v := m.Import(t, catalog.Shared, "un", catalogtest.Person("1", "Anatoly Velkanov"))
	other := v
	other.Indexes = map[string]catalog.IndexFile{"other": {SHA256: "00", Bytes: 1}}
	err := m.SavePointer(t.Context(), catalog.Pointer{Owner: v.Owner, List: v.List, Current: other, Revision: 2})
	errtest.Fatal(t, err)
	loaded := errtest.Must(m.Loader().Current(t.Context(), tenant, []string{"un"}))(t)
	hits, err := catalog.NewScreener(loaded...).Screen(match.Query{Name: "Anatoly Velkanov"}, match.Threshold)
	if err != nil || len(hits) != 1 {
		t.Errorf("hits %+v, %v", hits, err)
	}
}

// The same names give the same hits in one index of several files, as the command makes it, and in lists that were
// imported one by one.
func TestHitsAreThoseOfOneIndex(t *testing.T) {
	t.Parallel()
	sample, err := watchlist.Read(watchlist.TargetsSimpleCSV, watchlist.FileSource("../../../sampledata/watchlist.csv"))
	errtest.Fatal(t, err)
	other := &watchlist.List{Entries: append([]watchlist.Entry{
		catalogtest.Person("x", "Anatoly Anatolyevich"), catalogtest.Person("y", "Anatoly Velkanov",
			"Tolya")}, sample.Entries[:8]...)}
	other.Entries[1].BirthDates, other.Entries[1].Identifiers = []string{"1990"},
		[]watchlist.Identifier{{Value: "AB1234567"}}
	m := catalogtest.NewMemory()
	catalogtest.Import(t, m, m, catalog.Shared, "other", other)
	catalogtest.Import(t, m, m, tenant, "sample", sample)
	loaded := errtest.Must(m.Loader().Current(t.Context(), tenant, []string{"sample", "other"}))(t)
	one := match.NewScreener(match.Build(match.Source{Name: "sample", Format: watchlist.FTMJSON, List: sample},
		match.Source{Name: "other", Format: watchlist.FTMJSON, List: other}))
	several := catalog.NewScreener(loaded...)
	total := 0
	for _, e := range append(sample.Entries, other.Entries...) {
		for _, n := range e.Names {
			for _, q := range []match.Query{{Name: n.Text}, {Name: n.Text, BirthDate: "1958-03-14",
				Countries: []string{"ru"}},
				{Name: n.Text, Identifiers: []string{"AB1234567"}}, {Name: n.Text, Lists: []string{"other"}}} {
				want := errtest.Must(one.Screen(q, 60))(t)
				found := errtest.Must(several.Screen(q, 60))(t)
				var got []match.Hit
				for _, f := range found {
					got = append(got, f.Hit)
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(match.Hit{})); diff != "" {
					t.Fatalf("%+v (-one index +several)\n%s", q, diff)
				}
				total += len(got)
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d hits were compared", total)
	}
}
