// Package catalogtest helps to test users of watchlists: a catalog in memory, the import of lists, and a conformance
// test for stores of catalogs.
package catalogtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/watchlist"
)

// Now is the time of imports.
var Now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// Memory is a catalog in memory: catalog.Store, catalog.Files, catalog.Pinner and catalog.Remover.
type Memory struct {
	mu       sync.Mutex
	pointers map[[2]string]catalog.Pointer
	versions map[catalog.VersionRef]catalog.Version
	objects  map[string][]byte
	// removing are the versions whose removal has begun.
	removing map[catalog.VersionRef]bool
	// opened counts how often each object was opened, reads how often pointers were read.
	opened map[string]int
	reads  int
	// readErr is what reading pointers returns if it is not nil.
	readErr error
}

var (
	_ catalog.Store   = (*Memory)(nil)
	_ catalog.Files   = (*Memory)(nil)
	_ catalog.Pinner  = (*Memory)(nil)
	_ catalog.Remover = (*Memory)(nil)
)

// NewMemory returns a catalog without lists.
func NewMemory() *Memory {
	return &Memory{
		pointers: map[[2]string]catalog.Pointer{}, versions: map[catalog.VersionRef]catalog.Version{},
		objects: map[string][]byte{}, opened: map[string]int{}, removing: map[catalog.VersionRef]bool{},
	}
}

// Loader returns a loader of the catalog whose clock is stopped at Now.
func (m *Memory) Loader() *catalog.Loader {
	return catalog.NewLoader(catalog.Options{
		Versions: m, Files: m, Now: func() time.Time { return Now }, Log: slog.New(slog.DiscardHandler)})
}

// Import makes a list with the given entries current.
func (m *Memory) Import(t testing.TB, owner, list string, entries ...watchlist.Entry) catalog.Version {
	t.Helper()
	return Import(t, m, m, owner, list, &watchlist.List{SourceDate: Now.AddDate(0, 0, -1), Entries: entries})
}

// Import makes a list current, even if many entries are lost.
func Import(
	t testing.TB, store catalog.Store, files catalog.Files, owner, list string, content *watchlist.List,
) catalog.Version {
	t.Helper()
	importer := &catalog.Importer{Store: store, Files: files, Now: func() time.Time { return Now }, By: "test"}
	plan, err := importer.Plan(t.Context(), catalog.Import{
		Owner: owner, List: list, Format: watchlist.FTMJSON, File: list + ".json", Content: content})
	if err == nil {
		err = importer.Apply(t.Context(), plan, true)
	}
	errtest.Fatal(t, err)
	return plan.Version
}

// Person returns an entry of a list.
func Person(id string, names ...string) watchlist.Entry {
	e := watchlist.Entry{ID: id, Schema: watchlist.Person}
	for i, name := range names {
		e.Names = append(e.Names, watchlist.Name{Text: name, Kind: watchlist.NameKind(min(i, 1))})
	}
	return e
}

// Pointers implements catalog.Reader.
func (m *Memory) Pointers(_ context.Context, owner string) ([]catalog.Pointer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if m.readErr != nil {
		return nil, m.readErr
	}
	pointers := []catalog.Pointer{}
	for _, p := range m.pointers {
		if p.Owner == owner {
			pointers = append(pointers, p)
		}
	}
	slices.SortFunc(pointers, func(a, b catalog.Pointer) int { return strings.Compare(a.List, b.List) })
	return pointers, nil
}

// Version implements catalog.Reader.
func (m *Memory) Version(_ context.Context, ref catalog.VersionRef) (catalog.Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, found := m.versions[ref]
	if !found {
		return v, catalog.ErrNotFound
	}
	return v, nil
}

// Pointer implements catalog.Store.
func (m *Memory) Pointer(_ context.Context, owner, list string) (catalog.Pointer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, found := m.pointers[[2]string{owner, list}]
	if !found {
		return p, catalog.ErrNotFound
	}
	return p, nil
}

// SavePointer implements catalog.Store.
func (m *Memory) SavePointer(_ context.Context, p catalog.Pointer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{p.Owner, p.List}
	if m.pointers[key].Revision != p.Revision-1 {
		return catalog.ErrChanged
	}
	m.pointers[key] = p
	return nil
}

// AddVersion implements catalog.Store.
func (m *Memory) AddVersion(_ context.Context, v catalog.Version) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.removing[v.VersionRef] {
		return catalog.ErrChanged
	}
	if stored, found := m.versions[v.VersionRef]; found {
		indexes := maps.Clone(stored.Indexes)
		maps.Copy(indexes, v.Indexes)
		stored.ImportedAt, stored.ImportedBy, stored.File, stored.Indexes = v.ImportedAt, v.ImportedBy, v.File, indexes
		stored.CondemnedAt = time.Time{}
		v = stored
	}
	m.versions[v.VersionRef] = v
	return nil
}

// Versions implements catalog.Store.
func (m *Memory) Versions(_ context.Context, owner, list string) ([]catalog.Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	versions := []catalog.Version{}
	for _, v := range m.versions {
		if v.Owner == owner && v.List == list {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, func(a, b catalog.Version) int {
		if c := b.ImportedAt.Compare(a.ImportedAt); c != 0 {
			return c
		}
		return strings.Compare(a.Version, b.Version)
	})
	return versions, nil
}

// Open implements catalog.Opener.
func (m *Memory) Open(_ context.Context, key, _ string, from, to int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, found := m.objects[key]
	if !found {
		return nil, fs.ErrNotExist
	}
	m.opened[key]++
	if to < 0 || to > int64(len(content)) {
		to = int64(len(content))
	}
	return io.NopCloser(bytes.NewReader(content[from:to])), nil
}

// WriteObject implements catalog.Files.
func (m *Memory) WriteObject(_ context.Context, key string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = content.Bytes()
	return nil
}

// Remove implements catalog.Remover.
func (m *Memory) Remove(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// Objects returns how many objects there are.
func (m *Memory) Objects() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.objects)
}

// Owners implements catalog.Store.
func (m *Memory) Owners(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var owners []string
	for key := range m.pointers {
		owners = append(owners, key[0])
	}
	slices.Sort(owners)
	return slices.Compact(owners), nil
}

// Pin implements catalog.Pinner.
func (m *Memory) Pin(_ context.Context, ref catalog.VersionRef) error {
	return m.change(ref, catalog.ErrNotFound, func(v *catalog.Version) bool {
		v.IsPinned = true
		return v.CondemnedAt.IsZero()
	})
}

// Condemn implements catalog.Store.
func (m *Memory) Condemn(_ context.Context, read catalog.Version, at time.Time) error {
	return m.change(read.VersionRef, catalog.ErrChanged, func(v *catalog.Version) bool {
		isUnchanged := !v.IsPinned && v.CondemnedAt.IsZero() && v.ImportedAt.Equal(read.ImportedAt)
		v.CondemnedAt = at
		return isUnchanged
	})
}

// BeginRemoval implements catalog.Store.
func (m *Memory) BeginRemoval(_ context.Context, read catalog.Version) error {
	return m.change(read.VersionRef, catalog.ErrChanged, func(v *catalog.Version) bool {
		m.removing[v.VersionRef] = !v.IsPinned && !v.CondemnedAt.IsZero() && v.CondemnedAt.Equal(read.CondemnedAt)
		return m.removing[v.VersionRef]
	})
}

// RemoveVersion implements catalog.Store.
func (m *Memory) RemoveVersion(_ context.Context, ref catalog.VersionRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, found := m.versions[ref]; found && !m.removing[ref] {
		return catalog.ErrChanged
	}
	delete(m.versions, ref)
	delete(m.removing, ref)
	return nil
}

// change changes a stored version if f reports that it may be, and returns an error otherwise.
func (m *Memory) change(ref catalog.VersionRef, otherwise error, f func(v *catalog.Version) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, found := m.versions[ref]
	if !found || !f(&v) {
		return otherwise
	}
	m.versions[ref] = v
	return nil
}

// Damage changes the last byte of each object whose key has a suffix, and returns how many there are.
func (m *Memory) Damage(suffix string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for key, content := range m.objects {
		if strings.HasSuffix(key, suffix) {
			damaged := bytes.Clone(content)
			damaged[len(damaged)-1] ^= 1
			m.objects[key] = damaged
			n++
		}
	}
	return n
}

// DeleteObjects removes each object whose key has a suffix.
func (m *Memory) DeleteObjects(suffix string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.objects, func(key string, _ []byte) bool { return strings.HasSuffix(key, suffix) })
}

// FailReads lets the reading of pointers fail, or succeed again.
func (m *Memory) FailReads(fail bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readErr = nil
	if fail {
		m.readErr = errors.New("the store does not answer")
	}
}

// Counts returns how often pointers were read and objects opened.
func (m *Memory) Counts() (pointerReads, opened int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.opened {
		opened += n
	}
	return m.reads, opened
}
