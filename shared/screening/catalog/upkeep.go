package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Upkeep looks after the lists of all owners: it reports lists that have become too old, and removes versions that
// nothing needs any more.
type Upkeep struct {
	Store   Store
	Objects Remover
	// MaxAge is the least age of a list to be reported.
	MaxAge time.Duration
	Now    func() time.Time
	Log    *slog.Logger
}

const (
	// keptVersions is the number of the latest versions of a list that remain beside the current and the previous one.
	keptVersions = 5
	// restAfterImport is how long a version remains after its import, which may be about to make it current.
	restAfterImport = 24 * time.Hour
	// restAfterCondemning is how long a version remains after Condemn: a batch that had read it as current has pinned
	// it by then, or failed to.
	restAfterCondemning = time.Hour

	// messageOld is the log message that a metric counts.
	messageOld = "a watchlist is old"
)

// Run looks after all lists once. A list that fails does not keep it from the others. It may be repeated and run at the
// same time as itself.
func (u *Upkeep) Run(ctx context.Context) error {
	owners, err := u.Store.Owners(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, owner := range owners {
		pointers, err := u.Store.Pointers(ctx, owner)
		errs = append(errs, err)
		for _, p := range pointers {
			if age := p.Current.Age(u.Now()); age >= u.MaxAge {
				u.Log.WarnContext(ctx, messageOld, "owner", owner, "list", p.List, "version", p.Current.Version,
					"age_days", int(age/(24*time.Hour)))
			}
			if err := u.Prune(ctx, p); err != nil {
				errs = append(errs, fmt.Errorf("pruning the list %s/%s: %w", owner, p.List, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Prune removes versions of a list that no batch refers to and that are neither current, nor previous, nor among the
// latest imports. A version is condemned first, and removed by a later run.
func (u *Upkeep) Prune(ctx context.Context, p Pointer) error {
	versions, err := u.Store.Versions(ctx, p.Owner, p.List)
	if err != nil {
		return err
	}
	var errs []error
	others := 0
	for _, v := range versions {
		isKept := v.Version == p.Current.Version || p.Previous != nil && v.Version == p.Previous.Version
		if !isKept {
			others++
		}
		if !isKept && others > keptVersions && !v.IsPinned {
			errs = append(errs, u.remove(ctx, v))
		}
	}
	return errors.Join(errs...)
}

// remove takes the next step of a version's removal when its time has come.
func (u *Upkeep) remove(ctx context.Context, v Version) error {
	now := u.Now()
	var err error
	switch {
	case v.CondemnedAt.IsZero() && now.Sub(v.ImportedAt) >= restAfterImport:
		err = u.Store.Condemn(ctx, v, now)
	case !v.CondemnedAt.IsZero() && now.Sub(v.CondemnedAt) >= restAfterCondemning:
		if err = u.Store.BeginRemoval(ctx, v); err == nil {
			err = u.removeObjects(ctx, v)
		}
	}
	if errors.Is(err, ErrChanged) {
		return nil // it is needed again
	}
	return err
}

// removeObjects removes the objects of a version, then the version. An import of the same content waits until then, so
// that its objects are not removed.
func (u *Upkeep) removeObjects(ctx context.Context, v Version) error {
	for _, key := range v.objectKeys() {
		if err := u.Objects.Remove(ctx, key); err != nil {
			return err
		}
	}
	u.Log.InfoContext(ctx, "a watchlist version was removed", "owner", v.Owner, "list", v.List, "version", v.Version)
	return u.Store.RemoveVersion(ctx, v.VersionRef)
}
