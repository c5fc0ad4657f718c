package e2e

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/shared/objects"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/match"
	"sluice/shared/setup"
)

// loader returns a loader of watchlists like those of functions.
func (e *Environment) loader(t *testing.T) *catalog.Loader {
	t.Helper()
	db, err := e.database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := setup.LoadAWS(t.Context())
	if e.S3URL != "" {
		cfg.BaseEndpoint, cfg.Region = &e.S3URL, e.Region
		cfg.Credentials = credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := objects.Find(t.Context(), cfg, e.Prefix+"-work-", objects.Options{PathStyle: e.S3URL != ""})
	if err != nil {
		t.Fatal(err)
	}
	return catalog.NewLoader(catalog.Options{Versions: catalogdb.New(db, e.Prefix+"-watchlists"), Files: bucket, Dir: t.TempDir(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

// A list is imported by the command line and found by functions; a rollback returns to the version before.
func TestWatchlists(t *testing.T) {
	t.Parallel()
	s := loginNewTenant(t)
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
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	sample := filepath.Join("..", "sampledata", "watchlist.csv")
	first := importList(sample)
	if again := importList(sample); first.Outcome != "imported" || again.Outcome != "unchanged" || again.Version != first.Version {
		t.Errorf("imported %+v, then %+v", first, again)
	}
	other := filepath.Join(t.TempDir(), "other.csv")
	if err := os.WriteFile(other, []byte("id,schema,name\n1,Person,Boris Testov\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if second := importList(other); second.Changes.Added != 1 || second.Changes.Removed != 16 {
		t.Errorf("imported %+v", second)
	}
	hits := func() (ids []string) {
		t.Helper()
		loaded, err := s.environment.loader(t).Current(t.Context(), s.tenantID, []string{"sample"})
		if err != nil {
			t.Fatal(err)
		}
		found, err := catalog.NewScreener(loaded...).Screen(match.Query{Name: "Anatolij Welkanow"}, match.Threshold)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		return ids
	}
	if got := hits(); len(got) != 0 {
		t.Errorf("hits %v in the second version, want none", got)
	}
	var out any
	if err := s.environment.admin(&out, "watchlist", "rollback", "--tenant", s.tenantID, "--list", "sample"); err != nil {
		t.Fatal(err)
	}
	if got := hits(); len(got) != 1 || got[0] != "sl-1" {
		t.Errorf("hits %v after the rollback, want sl-1", got)
	}
}
