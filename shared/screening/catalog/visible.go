package catalog

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// ownerPointers are the pointers of one owner. Its mutex is held while they are read.
type ownerPointers struct {
	mu     sync.Mutex
	readAt time.Time
	lists  []Pointer
}

// maxOwners is the number of owners whose pointers are kept.
const maxOwners = 1000

// visible returns the pointers of the lists that Current loads. It reads the pointers again if a list is missing, which
// may have been imported since.
func (l *Loader) visible(ctx context.Context, tenant string, lists []string) ([]Pointer, error) {
	read := func(since time.Time) ([]Pointer, error) {
		return choose(tenant, lists, func(owner string) ([]Pointer, error) { return l.pointersOf(ctx, owner, since) })
	}
	pointers, err := read(l.Now().Add(-l.Recheck))
	if errors.Is(err, ErrUnknownList) || errors.Is(err, ErrNoLists) {
		return read(l.Now())
	}
	return pointers, err
}

// CurrentVersions returns the present versions that Loader.Current would load, without loading them. It returns the
// same errors.
func CurrentVersions(ctx context.Context, versions Reader, tenant string, lists []string) ([]Version, error) {
	pointers, err := choose(tenant, lists, func(owner string) ([]Pointer, error) {
		return versions.Pointers(ctx, owner)
	})
	if err != nil {
		return nil, err
	}
	current := make([]Version, len(pointers))
	for i, p := range pointers {
		current[i] = p.Current
	}
	return current, nil
}

// choose returns the pointers of a tenant's lists: of the given names in their order, or of all lists in the order of
// their names.
func choose(tenant string, lists []string, read func(owner string) ([]Pointer, error)) ([]Pointer, error) {
	byName := map[string]Pointer{}
	for _, owner := range []string{Shared, tenant} {
		pointers, err := read(owner)
		if err != nil {
			return nil, err
		}
		for _, p := range pointers {
			byName[p.List] = p
		}
	}
	var chosen []Pointer
	if len(lists) == 0 {
		for _, p := range byName {
			chosen = append(chosen, p)
		}
		slices.SortFunc(chosen, func(a, b Pointer) int { return strings.Compare(a.List, b.List) })
	}
	for i, name := range lists {
		p, found := byName[name]
		if !found {
			return nil, &UnknownListError{name}
		}
		if !slices.Contains(lists[:i], name) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) == 0 {
		return nil, ErrNoLists
	}
	return chosen, nil
}

// pointersOf returns an owner's pointers, read after a given time. If reading fails, it returns those read before.
func (l *Loader) pointersOf(ctx context.Context, owner string, since time.Time) ([]Pointer, error) {
	l.mu.Lock()
	if len(l.pointers) > maxOwners {
		clear(l.pointers)
	}
	o := l.pointers[owner]
	if o == nil {
		o = &ownerPointers{}
		l.pointers[owner] = o
	}
	l.mu.Unlock()

	o.mu.Lock()
	defer o.mu.Unlock()
	now := l.Now()
	if !o.readAt.IsZero() && o.readAt.After(since) {
		return o.lists, nil
	}
	lists, err := l.Versions.Pointers(ctx, owner)
	switch {
	case err == nil:
		o.lists, o.readAt = lists, now
	case o.readAt.IsZero() || ctx.Err() != nil:
		return nil, err
	default:
		o.readAt = now
		l.Log.ErrorContext(ctx, messageNotCurrent, "owner", owner, "error", err)
	}
	return o.lists, nil
}

// writeEntries writes entries in the format of storage: gzip, one JSON object per line.
func writeEntries(w io.Writer, entries []watchlist.Entry) error {
	packed := gzip.NewWriter(w)
	encoder := json.NewEncoder(packed)
	for i := range entries {
		if err := encoder.Encode(&entries[i]); err != nil {
			return err
		}
	}
	return packed.Close()
}

// readEntries reads the format of writeEntries.
func readEntries(r io.Reader) ([]watchlist.Entry, error) {
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("reading stored entries: %w", err)
	}
	decoder := json.NewDecoder(bufio.NewReader(packed))
	var entries []watchlist.Entry
	for {
		var e watchlist.Entry
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading stored entries: %w", err)
		}
		entries = append(entries, e)
	}
}

// build makes the index of a version from its entries. It fails if their digest is not the version.
func build(v Version, entries []watchlist.Entry) (*match.Index, error) {
	x := match.Build(match.Source{Name: v.List, Format: v.Format,
		List: &watchlist.List{SourceDate: v.SourceDate, Entries: entries}})
	if got := x.Lists[0].Version; v.Version != "" && got != v.Version {
		return nil, fmt.Errorf("the stored entries of %s have the digest of version %s", v, got)
	}
	return x, nil
}

// Screener looks names up in several lists. Its result is the same as from one index of all these lists.
// It is not safe for concurrent use; several may share their lists.
type Screener struct {
	lists     []Loaded
	screeners []*match.Screener
}

// NewScreener returns a screener of lists.
func NewScreener(lists ...Loaded) *Screener {
	s := &Screener{lists: lists}
	for _, l := range lists {
		s.screeners = append(s.screeners, match.NewScreener(l.index))
	}
	return s
}

// Found is a hit and its list.
type Found struct {
	match.Hit
	// Source is the list; Hit.List is its name.
	Source *Loaded
}

// Screen returns the entries that reach the threshold, best first; of equal scores, in the order of the lists and of
// their entries.
func (s *Screener) Screen(q match.Query, threshold float64) ([]Found, error) {
	defer runtime.KeepAlive(s) // an index is unmapped when nothing refers to it any more
	var found []Found
	for i, screener := range s.screeners {
		hits, err := screener.Screen(q, threshold)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			found = append(found, Found{Hit: h, Source: &s.lists[i]})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return found, nil
}
