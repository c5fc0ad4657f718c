package e2e

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"sluice/shared/kit/objects"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/match"
)

// loader returns a loader of watchlists like those of functions.
func (e *Environment) loader(t *testing.T) *catalog.Loader {
	t.Helper()
	cfg := ok(e.awsConfig(e.S3URL))(t)
	bucket := ok(objects.Find(t.Context(), cfg, e.Prefix+"-work-", objects.Options{PathStyle: e.S3URL != ""}))(t)
	return catalog.NewLoader(catalog.Options{
		Versions: catalogdb.New(e.tables(t), e.Prefix+"-watchlists"), Files: bucket, Dir: t.TempDir(), Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	})
}

// A list is imported by the command line and found by functions; a rollback returns to the version before.
func TestWatchlists(t *testing.T) {
	s := beginTenant(t)
	type imported struct {
		Outcome string
		Version struct{ Version string }
		Changes struct{ Added, Removed int }
	}
	importList := func(path string) imported {
		t.Helper()
		var out imported
		err := s.environment.admin(&out, "watchlist", "import", "--tenant", s.tenantID, "--list", "sample", "--format",
			"targets-simple-csv", path, "--force")
		must(t, err)
		return out
	}
	sample := filepath.Join("..", "sampledata", "watchlist.csv")
	first := importList(sample)
	if again := importList(sample); first.Outcome != "imported" || again.Outcome != "unchanged" ||
		again.Version != first.Version {
		t.Errorf("imported %+v, then %+v", first, again)
	}
	other := writeFile(t, "other.csv", "id,schema,name\n1,Person,Boris Testov\n")
	if second := importList(other); second.Changes.Added != 1 || second.Changes.Removed != 16 {
		t.Errorf("imported %+v", second)
	}
	hits := func() (ids []string) {
		t.Helper()
		loaded := ok(s.environment.loader(t).Current(t.Context(), s.tenantID, []string{"sample"}))(t)
		found := ok(catalog.NewScreener(loaded...).Screen(match.Query{Name: "Anatolij Welkanow"}, match.Threshold))(t)
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		return ids
	}
	if got := hits(); len(got) != 0 {
		t.Errorf("hits %v in the second version, want none", got)
	}
	must(t, s.environment.admin(nil, "watchlist", "rollback", "--tenant", s.tenantID, "--list",
		"sample"))
	if got := hits(); len(got) != 1 || got[0] != "sl-1" {
		t.Errorf("hits %v after the rollback, want sl-1", got)
	}
}

// Versions that nothing needs are condemned, and removed an hour later.
func TestWatchlistVersionsAreRemoved(t *testing.T) {
	s := beginTenant(t)
	store := catalogdb.New(s.environment.tables(t), s.environment.Prefix+"-watchlists")
	var versions []catalog.Version
	for i := range 9 {
		v := catalog.Version{
			VersionRef: catalog.VersionRef{Owner: s.tenantID, List: "old", Version: fmt.Sprint("v", i)},
			ImportedAt: time.Now().Add(time.Duration(i)*time.Minute - 48*time.Hour),
		}
		must(t, store.AddVersion(t.Context(), v))
		versions = append(versions, v)
	}
	// A run at the same time sees nothing of the list before it has a pointer.
	err := store.Condemn(t.Context(), versions[0], time.Now().Add(-2*time.Hour))
	if err == nil {
		err = store.SavePointer(t.Context(), catalog.Pointer{
			Owner: s.tenantID, List: "old", Current: versions[8], Revision: 1})
	}
	must(t, err)
	s.environment.runScheduled(t, "watchlist")
	left, err := store.Versions(t.Context(), s.tenantID, "old")
	assert(t, err == nil && len(left) == 8, "%d versions are left, %v; want 8", len(left), err)
	for _, v := range left {
		if want := v.Version == "v1" || v.Version == "v2"; !v.CondemnedAt.IsZero() != want {
			t.Errorf("version %s is condemned: %t, want %t", v.Version, !want, want)
		}
	}
}
