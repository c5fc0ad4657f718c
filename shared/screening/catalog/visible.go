package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
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
