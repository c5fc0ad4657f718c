package entitydb_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
	"sluice/shared/platform/property"
)

func named(name string) map[string]property.Property {
	return map[string]property.Property{"name": {Type: property.Single, Value: &name}}
}

// outcomes imports entries and returns the outcome of each.
func outcomes(t *testing.T, s *entitydb.Profiles, o entity.ImportOptions,
	entries ...entity.Import) []entity.ImportOutcome {
	t.Helper()
	o.At = at
	results := errtest.Must(s.Import(t.Context(), "tenant", entries, o))(t)
	got := make([]entity.ImportOutcome, len(results))
	for i, r := range results {
		if got[i] = r.Outcome; r.ID != entries[i].ID {
			t.Errorf("result %d is of %q, want %q", i, r.ID, entries[i].ID)
		}
	}
	return got
}

// listAll returns the list of the tenant's entities, read in pages.
func listAll(t *testing.T, s *entitydb.Profiles, prefix string, pageSize int) []entity.Ref {
	t.Helper()
	var all []entity.Ref
	for p := (entity.Page{NamePrefix: prefix, Limit: pageSize}); ; {
		refs, next, err := s.ListEntities(t.Context(), "tenant", p)
		if err != nil || len(refs) > pageSize {
			t.Fatalf("page of %d entities, want at most %d: %v", len(refs), pageSize, err)
		}
		if all = append(all, refs...); next == "" {
			return all
		}
		p.After = next
	}
}

func TestImportSaysWhatItChanges(t *testing.T) {
	s, _ := records(t)
	errtest.Fatal(t, s.Create(t.Context(), "tenant", entity.Profile{ID: "platform", Type: "Company", Role: "Client",
		Created: at, Version: 1, Revision: 1, BaseStatus: entity.Unknown}))
	expect := func(o entity.ImportOptions, e entity.Import, want entity.ImportOutcome) {
		t.Helper()
		if got := outcomes(t, s, o, e); got[0] != want {
			t.Errorf("import of %+v: %s, want %s", e, got[0], want)
		}
	}
	acme := entity.Import{ID: "e", Status: entity.Compliant, Type: "Company", Properties: named("ACME")}
	expect(entity.ImportOptions{}, acme, entity.ImportCreated)
	expect(entity.ImportOptions{}, acme, entity.ImportUnchanged)
	p, status, err := s.GetProfile(t.Context(), "tenant", "e")
	if err != nil || status != entity.Compliant || p.Type != "Company" || p.Role != "Client" || !p.Created.Equal(at) ||
		p.Version != 1 || entity.DisplayName(p.Properties) != "ACME" {
		t.Errorf("imported %+v, %s, %v; want a whole profile", p, status, err)
	}
	expect(entity.ImportOptions{}, entity.Import{ID: "e", Status: entity.ClientOffboarded}, entity.ImportStatusChanged)
	expect(entity.ImportOptions{}, entity.Import{ID: "e", Status: entity.ClientOffboarded, Properties: named("Bcme")},
		entity.ImportProfileChanged)
	p, _, _ = s.GetProfile(t.Context(), "tenant", "e")
	if p.Version != 2 || p.LastChangedIn["name"] != 2 || p.Type != "Company" ||
		p.BaseStatus != entity.ClientOffboarded {
		t.Errorf("after an import with another name: %+v, want version 2", p)
	}

	stranger := entity.Import{ID: "platform", Status: entity.Compliant}
	expect(entity.ImportOptions{}, stranger, entity.ImportRefused)
	if _, status, _ := s.GetProfile(t.Context(), "tenant", "platform"); status != entity.Unknown {
		t.Errorf("a refused import left the status %s, want Unknown", status)
	}
	expect(entity.ImportOptions{Overwrite: true}, stranger, entity.ImportStatusChanged)
	expect(entity.ImportOptions{}, stranger, entity.ImportRefused)

	want := []entity.Ref{
		{ID: "platform", Type: "Company", Status: entity.Compliant, Version: 1, Position: "\tplatform"},
		{ID: "e", Type: "Company", Name: "Bcme", Status: entity.ClientOffboarded, Version: 2, Position: "bcme\te"},
	}
	got := listAll(t, s, "", 10)
	for i := range got {
		got[i].Layers = want[min(i, 1)].Layers
	}
	difftest.Equal(t, "list", want, got)
	difftest.Equal(t, "an ID given twice, then status_changed",
		[]entity.ImportOutcome{entity.ImportCreated, entity.ImportStatusChanged}, outcomes(t, s,
			entity.ImportOptions{}, entity.Import{ID: "x", Status: entity.Unknown}, entity.Import{ID: "x",
				Status: entity.Compliant}))
}

// An entity whose status alone was imported by an earlier release becomes whole.
func TestImportOfAStatusBecomesWhole(t *testing.T) {
	s, db := records(t)
	entitytest.StoreStatuses(t, db, "tenant", entitytest.Statuses{"e": entity.Compliant})
	e := entity.Import{ID: "e", Status: entity.Compliant}
	if got := outcomes(t, s, entity.ImportOptions{}, e, e); got[0] != entity.ImportProfileChanged ||
		got[1] != entity.ImportUnchanged {
		t.Errorf("got %v, want profile_changed, then unchanged", got)
	}
	if p, _, err := s.GetProfile(t.Context(), "tenant", "e"); err != nil || p.Version != 1 ||
		p.Type != entity.DefaultType {
		t.Errorf("got %+v, %v, want version 1 and the default type", p, err)
	}
	if got := listAll(t, s, "", 10); len(got) != 1 {
		t.Errorf("the list has %d entities, want 1", len(got))
	}
}

// An entity that an earlier release has stored under a UUID in upper case keeps that ID, its profile and its drafts: an
// import changes it and makes no second one.
func TestImportOfAnUpperCaseUUIDOfAnEarlierRelease(t *testing.T) {
	s, client := startStored(t, "-upper-case")
	const upper = "0B7B1F0E-5D0F-4A58-9D8A-3D1A2E1C7A1F"
	for i, id := range []string{strings.ToLower(upper), upper, "0B7B1F0E-5D0F-4A58-9D8A-3d1a2e1c7a1f"} {
		status := []entity.LifecycleStatus{entity.ReviewInProgress, entity.Compliant, entity.PendingOffboarding}[i]
		results, err := s.Import(t.Context(), storedTenant,
			[]entity.Import{{ID: id, Status: status}}, entity.ImportOptions{At: at, Overwrite: true})
		want := []entity.ImportResult{{ID: upper, Outcome: entity.ImportStatusChanged, Status: status,
			PreviousStatus: []entity.LifecycleStatus{entity.Compliant, entity.ReviewInProgress, entity.Compliant}[i]}}
		errtest.Fatal(t, err)
		difftest.Equal(t, "import of "+id, want, results)
		p, got, err := s.GetProfile(t.Context(), storedTenant, id)
		if err != nil || got != status || p.ID != upper || entity.DisplayName(p.Properties) != "ACME" {
			t.Errorf("%s: got %+v, %s, %v; want the profile of the earlier release as %s", id, p, got, err, status)
		}
	}
	if found, err := entitydb.NewStatuses(client, "test-entities").Lookup(t.Context(), storedTenant,
		[]string{strings.ToLower(upper)}); err != nil || found[strings.ToLower(upper)] != entity.PendingOffboarding {
		t.Errorf("validation finds %v, %v; want PendingOffboarding", found, err)
	}
}

// No import and no draft at the same time is lost: drafts meet a conflict, and the import reads again.
func TestImportsAtTheSameTime(t *testing.T) {
	s, _ := records(t)
	const writers = 6
	done := make(chan error)
	for i := range writers {
		go func() {
			results, err := s.Import(t.Context(), "tenant", []entity.Import{{ID: "e", Status: entity.Compliant,
				Properties: map[string]property.Property{fmt.Sprint("p", i): {Type: property.Single}}}},
				entity.ImportOptions{At: at})
			if err == nil && results[0].Outcome != entity.ImportCreated &&
				results[0].Outcome != entity.ImportProfileChanged {
				err = errors.New(string(results[0].Outcome))
			}
			done <- err
		}()
	}
	for range writers {
		errtest.Fatal(t, <-done)
	}
	if p, _, err := s.GetProfile(t.Context(), "tenant", "e"); err != nil || len(p.Properties) != writers ||
		p.Version != writers {
		t.Errorf("got %d properties in version %d, %v; want %d in version %d", len(p.Properties), p.Version, err,
			writers, writers)
	}
}

// Pages of any size give every entity once, in the order of names; a changed name moves its entity.
func TestListOfEntities(t *testing.T) {
	s, _ := records(t)
	var entries []entity.Import
	for i := range 300 {
		entries = append(entries, entity.Import{ID: fmt.Sprintf("id#%d", i), Status: entity.Compliant,
			Properties: named(fmt.Sprintf("%c Name %d\t", 'A'+i%3, i%40))})
	}
	entries = append(entries, entity.Import{ID: strings.Repeat("ü", 127), Status: entity.Compliant,
		Properties: named(strings.Repeat("Ü", 2000))})
	for i, outcome := range outcomes(t, s, entity.ImportOptions{}, entries...) {
		difftest.Equal(t, fmt.Sprintf("entry %d", i), entity.ImportCreated, outcome)
	}
	for _, c := range []struct {
		prefix   string
		pageSize int
		want     int
	}{{"a name 2", 1, 26}, {"", 37, 301}, {"", 500, 301}, {"b ", 3, 100}, {"B NAME 1", 50, 30}, {"ü", 5, 1},
		{"c", 100, 100}, {"nobody", 5, 0}, {strings.Repeat("ü", 500), 5, 1}} {
		got := listAll(t, s, c.prefix, c.pageSize)
		ids := map[string]bool{}
		for _, r := range got {
			ids[r.ID] = true
		}
		difftest.Equal(t, fmt.Sprintf("prefix %.10q in pages of %d", c.prefix, c.pageSize), []any{c.want, c.want},
			[]any{len(got), len(ids)})
		if !slices.IsSortedFunc(got, func(a, b entity.Ref) int { return cmp.Compare(a.Position, b.Position) }) {
			t.Errorf("prefix %.10q in pages of %d is not in order", c.prefix, c.pageSize)
		}
	}
	outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: "id#0", Status: entity.Compliant,
		Properties: named("Zed")})
	if got := listAll(t, s, "z", 5); len(got) != 1 || len(listAll(t, s, "", 50)) != 301 {
		t.Errorf("%d entities have the new name, want 1 and none under the old name", len(got))
	}
}

// Results are in the order of the entries, and of entries with the same ID the last one counts.
func TestImportKeepsTheOrderOfEntries(t *testing.T) {
	s, _ := records(t)
	statuses := []entity.LifecycleStatus{entity.Compliant, entity.ClientOffboarded, entity.PendingOffboarding}
	var entries []entity.Import
	for repetition, status := range statuses {
		for i := range 400 { // more than one group
			entries = append(entries, entity.Import{ID: fmt.Sprint("e", (i*7+repetition)%400), Status: status})
		}
	}
	results := errtest.Must(s.Import(t.Context(), "tenant", entries, entity.ImportOptions{At: at}))(t)
	difftest.Equal(t, "results", len(entries), len(results))
	for i, r := range results {
		want := entity.ImportResult{ID: entries[i].ID, Outcome: entity.ImportStatusChanged, Status: entries[i].Status}
		if repetition := i / 400; repetition == 0 {
			want.Outcome = entity.ImportCreated
		} else {
			want.PreviousStatus = statuses[repetition-1]
		}
		difftest.Equal(t, fmt.Sprintf("entry %d", i), want, r)
	}
}
