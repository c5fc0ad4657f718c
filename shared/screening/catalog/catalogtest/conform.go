package catalogtest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/screening/catalog"
	"sluice/shared/screening/watchlist"
)

// Conform checks that a store keeps what catalog.Store promises.
func Conform(t *testing.T, s interface {
	catalog.Store
	catalog.Pinner
}) {
	ctx := t.Context()
	conformRemoval(t, s, s)
	v := catalog.Version{
		VersionRef: catalog.VersionRef{Owner: "o", List: "un", Version: "v1"}, Format: watchlist.UNXML, File: "un.xml",
		SourceDate: Now.AddDate(0, 0, -1), ImportedAt: Now, ImportedBy: "me",
		Entries: 3, Names: 4, Unmatchable: 1, Problems: 2,
		Indexes: map[string]catalog.IndexFile{"01": {SHA256: "aa", Bytes: 5}},
	}
	if _, err := s.Version(ctx, v.VersionRef); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("a version that does not exist: %v, want ErrNotFound", err)
	}
	if _, err := s.Pointer(ctx, "o", "un"); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("a list that does not exist: %v, want ErrNotFound", err)
	}
	if err := s.AddVersion(ctx, v); err != nil {
		t.Fatal(err)
	}
	again := v
	again.ImportedAt, again.ImportedBy = Now.AddDate(0, 0, 1), "you"
	again.Indexes = map[string]catalog.IndexFile{"02": {SHA256: "bb", Bytes: 6}}
	if err := s.AddVersion(ctx, again); err != nil {
		t.Fatal(err)
	}
	want := again
	want.Indexes = map[string]catalog.IndexFile{"01": {SHA256: "aa", Bytes: 5}, "02": {SHA256: "bb", Bytes: 6}}
	got, err := s.Version(ctx, v.VersionRef)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("a version that was imported twice: %v (-want +got)\n%s", err, diff)
	}
	older := v
	older.Version = "v0"
	for _, other := range []catalog.VersionRef{{Owner: "o", List: "una", Version: "v"},
		{Owner: "other", List: "un", Version: "v"}} {
		o := v
		o.VersionRef = other
		if err := s.AddVersion(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddVersion(ctx, older); err != nil {
		t.Fatal(err)
	}
	versions, err := s.Versions(ctx, "o", "un")
	if diff := cmp.Diff([]catalog.Version{want, older}, versions); err != nil || diff != "" {
		t.Errorf("versions: %v (-want +got)\n%s", err, diff)
	}
	conformPointers(t, s, want, older)
}

// conformPointers checks the pointers of a store.
func conformPointers(t *testing.T, s catalog.Store, v, older catalog.Version) {
	ctx := t.Context()
	p := catalog.Pointer{Owner: "o", List: "un", Current: older, MovedAt: Now, MovedBy: "me", Revision: 1}
	if err := s.SavePointer(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := s.SavePointer(ctx, p); !errors.Is(err, catalog.ErrChanged) {
		t.Errorf("the first revision again: %v, want ErrChanged", err)
	}
	next := p
	next.Current, next.Previous, next.Revision = v, &older, 2
	if err := s.SavePointer(ctx, next); err != nil {
		t.Fatal(err)
	}
	for _, revision := range []int64{1, 2, 4} {
		wrong := next
		wrong.Revision = revision
		if err := s.SavePointer(ctx, wrong); !errors.Is(err, catalog.ErrChanged) {
			t.Errorf("revision %d after 2: %v, want ErrChanged", revision, err)
		}
	}
	other := p
	other.Owner = "other"
	second := p
	second.List = "a"
	for _, p := range []catalog.Pointer{other, second} {
		if err := s.SavePointer(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	owners, err := s.Owners(ctx)
	if diff := cmp.Diff([]string{"o", "other"}, owners); err != nil || diff != "" {
		t.Errorf("owners: %v (-want +got)\n%s", err, diff)
	}
	got, err := s.Pointer(ctx, "o", "un")
	if diff := cmp.Diff(next, got); err != nil || diff != "" {
		t.Errorf("pointer: %v (-want +got)\n%s", err, diff)
	}
	pointers, err := s.Pointers(ctx, "o")
	if diff := cmp.Diff([]catalog.Pointer{second, next}, pointers); err != nil || diff != "" {
		t.Errorf("pointers: %v (-want +got)\n%s", err, diff)
	}
}

// conformRemoval checks the removal of versions by a store.
func conformRemoval(t *testing.T, s catalog.Store, pinner catalog.Pinner) {
	ctx := t.Context()
	v := catalog.Version{VersionRef: catalog.VersionRef{Owner: "removed", List: "a", Version: "v"}, ImportedAt: Now}
	want := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	read := func() catalog.Version {
		t.Helper()
		stored, err := s.Version(ctx, v.VersionRef)
		want("reading it", err, nil)
		return stored
	}
	want("pinning a version that does not exist", pinner.Pin(ctx, v.VersionRef), catalog.ErrNotFound)
	want("condemning it", s.Condemn(ctx, v, Now), catalog.ErrChanged)
	want("beginning to remove it", s.BeginRemoval(ctx, v), catalog.ErrChanged)
	want("removing it", s.RemoveVersion(ctx, v.VersionRef), nil)
	want("adding it", s.AddVersion(ctx, v), nil)
	want("removing a version that is not condemned", s.BeginRemoval(ctx, read()), catalog.ErrChanged)
	want("condemning it", s.Condemn(ctx, read(), Now), nil)
	want("condemning it again", s.Condemn(ctx, read(), Now), catalog.ErrChanged)
	want("pinning a condemned version", pinner.Pin(ctx, v.VersionRef), catalog.ErrNotFound)
	want("removing a version before BeginRemoval", s.RemoveVersion(ctx, v.VersionRef), catalog.ErrChanged)
	condemned := read()
	v.ImportedAt = Now.Add(1)
	want("importing it again", s.AddVersion(ctx, v), nil)
	want("removing a version imported again", s.BeginRemoval(ctx, condemned), catalog.ErrChanged)
	want("condemning a version imported since it was read", s.Condemn(ctx, condemned, Now), catalog.ErrChanged)
	want("condemning it", s.Condemn(ctx, read(), Now), nil)
	for range 2 {
		want("beginning to remove it", s.BeginRemoval(ctx, read()), nil)
	}
	want("importing it meanwhile", s.AddVersion(ctx, v), catalog.ErrChanged)
	for range 2 {
		want("removing it", s.RemoveVersion(ctx, v.VersionRef), nil)
	}
	_, err := s.Version(ctx, v.VersionRef)
	want("reading a removed version", err, catalog.ErrNotFound)
	want("adding it", s.AddVersion(ctx, v), nil)
	for range 2 {
		want("pinning it", pinner.Pin(ctx, v.VersionRef), nil)
	}
	if !read().IsPinned {
		t.Error("a pinned version is not")
	}
	want("condemning a pinned version", s.Condemn(ctx, read(), Now), catalog.ErrChanged)
}
