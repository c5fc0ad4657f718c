package catalogdb_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/watchlist"
)

const table = "test-watchlists"

func TestStore(t *testing.T) {
	t.Parallel()
	catalogtest.Conform(t, catalogdb.New(dynamotest.Start(t), table))
}

// TestStoredWatchlists pins the stored form; see the golden items.
func TestStoredWatchlists(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), dynamotest.Start(t)
	s := catalogdb.New(client, table)
	v := catalog.Version{
		VersionRef: catalog.VersionRef{Owner: catalog.Shared, List: "un", Version: "v1"}, Format: watchlist.UNXML,
		File: "un.xml", SourceDate: catalogtest.Now, ImportedAt: catalogtest.Now, ImportedBy: "me", Entries: 3,
		Names:       4,
		Unmatchable: 1, Problems: 2, Indexes: map[string]catalog.IndexFile{"01": {SHA256: "aa", Bytes: 5}},
	}
	p := catalog.Pointer{Owner: catalog.Shared, List: "un", Current: v, Previous: &v, MovedAt: catalogtest.Now,
		MovedBy:  "you",
		Revision: 1}
	errtest.Fatal(t, s.AddVersion(ctx, v))
	errtest.Fatal(t, s.SavePointer(ctx, p))
	errtest.Fatal(t, s.Pin(ctx, v.VersionRef))
	removed := v
	removed.Version, removed.Indexes, removed.CondemnedAt = "v2", map[string]catalog.IndexFile{}, catalogtest.Now
	errtest.Fatal(t, s.AddVersion(ctx, removed))
	errtest.Fatal(t, s.BeginRemoval(ctx, removed))
	dynamotest.CompareStored(t, client, table, "watchlists")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, table, "watchlists")
	s = catalogdb.New(client, table)
	if got, err := s.Version(ctx, removed.VersionRef); err != nil || !cmp.Equal(removed, got) {
		t.Errorf("version that is being removed: %v (-want +got)\n%s", err, cmp.Diff(removed, got))
	}
	pinned := v
	pinned.IsPinned = true
	difftest.Equal(t, "version", pinned, errtest.Must(s.Version(ctx, v.VersionRef))(t))
	difftest.Equal(t, "pointer", p, errtest.Must(s.Pointer(ctx, p.Owner, p.List))(t))
}
