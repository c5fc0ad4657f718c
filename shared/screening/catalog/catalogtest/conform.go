package catalogtest

import (
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
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
	errtest.Is(t, "a version that does not exist", errtest.Of(s.Version(ctx, v.VersionRef)), catalog.ErrNotFound)
	errtest.Is(t, "a list that does not exist", errtest.Of(s.Pointer(ctx, "o", "un")), catalog.ErrNotFound)
	errtest.Fatal(t, s.AddVersion(ctx, v))
	again := v
	again.ImportedAt, again.ImportedBy = Now.AddDate(0, 0, 1), "you"
	again.Indexes = map[string]catalog.IndexFile{"02": {SHA256: "bb", Bytes: 6}}
	errtest.Fatal(t, s.AddVersion(ctx, again))
	want := again
	want.Indexes = map[string]catalog.IndexFile{"01": {SHA256: "aa", Bytes: 5}, "02": {SHA256: "bb", Bytes: 6}}
	difftest.Equal(t, "a version that was imported twice", want, errtest.Must(s.Version(ctx, v.VersionRef))(t))
	older := v
	older.Version = "v0"
	for _, other := range []catalog.VersionRef{{Owner: "o", List: "una", Version: "v"},
		{Owner: "other", List: "un", Version: "v"}} {
		o := v
		o.VersionRef = other
		errtest.Fatal(t, s.AddVersion(ctx, o))
	}
	errtest.Fatal(t, s.AddVersion(ctx, older))
	difftest.Equal(t, "versions", []catalog.Version{want, older}, errtest.Must(s.Versions(ctx, "o", "un"))(t))
	conformPointers(t, s, want, older)
}

// conformPointers checks the pointers of a store.
func conformPointers(t *testing.T, s catalog.Store, v, older catalog.Version) {
	ctx := t.Context()
	p := catalog.Pointer{Owner: "o", List: "un", Current: older, MovedAt: Now, MovedBy: "me", Revision: 1}
	errtest.Fatal(t, s.SavePointer(ctx, p))
	errtest.Is(t, "the first revision again", s.SavePointer(ctx, p), catalog.ErrChanged)
	next := p
	next.Current, next.Previous, next.Revision = v, &older, 2
	errtest.Fatal(t, s.SavePointer(ctx, next))
	for _, revision := range []int64{1, 2, 4} {
		wrong := next
		wrong.Revision = revision
		errtest.Is(t, fmt.Sprintf("revision %d after 2", revision), s.SavePointer(ctx, wrong), catalog.ErrChanged)
	}
	other := p
	other.Owner = "other"
	second := p
	second.List = "a"
	for _, p := range []catalog.Pointer{other, second} {
		errtest.Fatal(t, s.SavePointer(ctx, p))
	}
	difftest.Equal(t, "owners", []string{"o", "other"}, errtest.Must(s.Owners(ctx))(t))
	difftest.Equal(t, "pointer", next, errtest.Must(s.Pointer(ctx, "o", "un"))(t))
	difftest.Equal(t, "pointers", []catalog.Pointer{second, next}, errtest.Must(s.Pointers(ctx, "o"))(t))
}

// conformRemoval checks the removal of versions by a store.
func conformRemoval(t *testing.T, s catalog.Store, pinner catalog.Pinner) {
	ctx := t.Context()
	v := catalog.Version{VersionRef: catalog.VersionRef{Owner: "removed", List: "a", Version: "v"}, ImportedAt: Now}
	want := func(what string, err, want error) {
		t.Helper()
		errtest.Is(t, what, err, want)
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
