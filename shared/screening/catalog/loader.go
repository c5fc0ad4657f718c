package catalog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/screening/match"
)

// Defaults of a Loader.
const (
	// DefaultRecheck is how long a Loader uses the pointers that it has read.
	DefaultRecheck = 30 * time.Second
	// DefaultMaxBytes bounds the indexes that a Loader holds, and with them the use of the temporary folder.
	DefaultMaxBytes = 400 << 20
)

// Log messages that metrics count.
const (
	messageNotLoaded  = "a watchlist version cannot be loaded"
	messageNotCurrent = "the current watchlist versions cannot be read"
	messageBuilt      = "the index of a watchlist version is from another release: it is built from its entries"
)

// Options are the dependencies and limits of a Loader.
type Options struct {
	Versions Reader
	Files    Opener
	// Dir is the folder of temporary files; "" means the system's.
	Dir string
	// MaxBytes bounds the size of the held indexes; 0 means DefaultMaxBytes.
	MaxBytes int64
	// Recheck is how long pointers are used before they are read again; 0 means DefaultRecheck.
	Recheck time.Duration
	Now     func() time.Time
	Log     *slog.Logger
}

// Loader opens lists and keeps them open. It is safe for concurrent use; concurrent calls for the same version load it
// once.
type Loader struct {
	Options

	mu sync.Mutex
	// pointers are the pointers read of each owner.
	pointers map[string]*ownerPointers
	indexes  indexCache
	// good is the last loaded current version of each list: it replaces one that cannot be loaded.
	good map[listKey]VersionRef
	// failed has the versions that could not be loaded. They are not tried again before Recheck has passed.
	failed map[VersionRef]failure
}

type listKey struct{ owner, list string }

// failure is the cause and the time of a failed load.
type failure struct {
	at  time.Time
	err error
}

// NewLoader returns a loader.
func NewLoader(o Options) *Loader {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Recheck == 0 {
		o.Recheck = DefaultRecheck
	}
	return &Loader{
		Options: o, pointers: map[string]*ownerPointers{}, good: map[listKey]VersionRef{},
		failed:  map[VersionRef]failure{},
		indexes: indexCache{loads: map[VersionRef]*load{}},
	}
}

// Loaded is a version of a list ready for searches; see NewScreener.
type Loaded struct {
	Version
	// Problem is the reason why this version is used although another one is current; "" if it is the current one or
	// comes from Open. The cause is in the log.
	Problem string

	index *match.Index
}

// Current loads the current versions of a tenant's lists: of the given names in their order, or of all lists in the
// order of their names. A list of the tenant's own replaces a shared one of the same name. It returns an
// *UnknownListError for a name that the tenant does not see, and ErrNoLists if it sees no list at all. A current
// version that cannot be loaded is replaced by the one that this loader had loaded before or, if there is none, by the
// previous one; its Problem has the reason.
func (l *Loader) Current(ctx context.Context, tenant string, lists []string) ([]Loaded, error) {
	pointers, err := l.visible(ctx, tenant, lists)
	if err != nil {
		return nil, err
	}
	loaded := make([]Loaded, len(pointers))
	g, ctx := errgroup.WithContext(ctx)
	for i, p := range pointers {
		g.Go(func() (err error) {
			loaded[i], err = l.loadCurrent(ctx, p)
			return err
		})
	}
	return loaded, g.Wait()
}

// Names returns the names of the lists that Current would load, without loading them, and its errors about them.
func (l *Loader) Names(ctx context.Context, tenant string, lists []string) ([]string, error) {
	pointers, err := l.visible(ctx, tenant, lists)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(pointers))
	for i, p := range pointers {
		names[i] = p.List
	}
	return names, nil
}

// Open loads a version, current or not. It returns ErrNotFound if there is none. It does not check which tenant may see
// the version: callers pass versions from Current or from the service's own storage.
func (l *Loader) Open(ctx context.Context, ref VersionRef) (Loaded, error) {
	if loaded, isLoaded := l.indexes.get(ref); isLoaded {
		return loaded, nil
	}
	v, err := l.Versions.Version(ctx, ref)
	if err != nil {
		return Loaded{}, err
	}
	return l.load(ctx, v)
}

// loadCurrent loads the current version of a list, or its replacement.
func (l *Loader) loadCurrent(ctx context.Context, p Pointer) (Loaded, error) {
	key := listKey{p.Owner, p.List}
	loaded, err := l.loadUnlessFailed(ctx, p.Current)
	if err == nil {
		l.mu.Lock()
		l.good[key] = p.Current.VersionRef
		l.mu.Unlock()
		return loaded, nil
	}
	if ctx.Err() != nil {
		return Loaded{}, err
	}
	problem := "version " + short(p.Current.Version) + " cannot be loaded"
	l.mu.Lock()
	good, found := l.good[key]
	l.mu.Unlock()
	if found {
		if loaded, isLoaded := l.indexes.get(good); isLoaded {
			loaded.Problem = problem
			return loaded, nil
		}
	}
	if p.Previous == nil {
		return Loaded{}, err
	}
	loaded, previousErr := l.loadUnlessFailed(ctx, *p.Previous)
	if previousErr != nil {
		return Loaded{}, errors.Join(err, previousErr)
	}
	loaded.Problem = problem
	return loaded, nil
}

// loadUnlessFailed is load, but fails at once for a version that failed a short time ago.
func (l *Loader) loadUnlessFailed(ctx context.Context, v Version) (Loaded, error) {
	l.mu.Lock()
	f, hasFailed := l.failed[v.VersionRef]
	if hasFailed && l.Now().Sub(f.at) >= l.Recheck {
		delete(l.failed, v.VersionRef)
		hasFailed = false
	}
	l.mu.Unlock()
	if hasFailed {
		return Loaded{}, f.err
	}
	loaded, err := l.load(ctx, v)
	if err != nil && ctx.Err() == nil {
		l.mu.Lock()
		l.failed[v.VersionRef] = failure{l.Now(), err}
		l.mu.Unlock()
		l.Log.ErrorContext(ctx, messageNotLoaded, "owner", v.Owner, "list", v.List, "version", v.Version, "error", err)
	}
	return loaded, err
}

// short is the part of a version for display.
func short(version string) string { return version[:min(len(version), 12)] }
