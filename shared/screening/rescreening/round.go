package rescreening

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
)

// run is the work of one call of Run on a round.
type run struct {
	*Rescreening
	round    Round
	version  catalog.Version
	settings screening.Settings
	contents *contents
	// failure is the first error about a batch.
	failure error
}

// finish begins the round unless it has begun, goes through the batches that are left and through those that an earlier
// run could not rescreen, and ends the round if none is left.
func (r *run) finish(ctx context.Context) error {
	if r.round.Next != r.version.Version {
		old := r.round
		r.round = Round{Tenant: old.Tenant, Owner: old.Owner, List: old.List, Done: old.Done, BeganAt: old.BeganAt,
			Revision: old.Revision, Next: r.version.Version, NextBeganAt: r.Now().UTC().Truncate(time.Second)}
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	if r.round.Done != "" {
		if err := r.announceUpdate(ctx); err != nil {
			return err
		}
	}
	failedBefore := slices.Clone(r.round.Failed)
	if err := r.rescreenRest(ctx); err != nil {
		return err
	}
	if err := r.rescreenFailed(ctx, failedBefore); err != nil {
		return err
	}
	if n := len(r.round.Failed); n > 0 {
		return fmt.Errorf("%d of the batches could not be rescreened, the first one because of: %w", n, r.failure)
	}
	if err := r.announceEnd(ctx); err != nil {
		return err
	}
	r.round.Done, r.round.BeganAt = r.round.Next, r.round.NextBeganAt
	r.round.Next, r.round.NextBeganAt, r.round.After, r.round.IsThrough = "", time.Time{}, "", false
	return r.save(ctx)
}

// rescreenRest rescreens the remaining batches of the round.
func (r *run) rescreenRest(ctx context.Context) error {
	for !r.round.IsThrough {
		ids, next, err := r.Rounds.ListBatches(ctx, r.round.Tenant, r.round.After, pageSize)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := r.tryBatch(ctx, id); err != nil {
				return err
			}
		}
		r.round.After, r.round.IsThrough = next, next == ""
		if err := r.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rescreenFailed rescreens batches that have failed before.
func (r *run) rescreenFailed(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		if err := r.tryBatch(ctx, id); err != nil {
			return err
		}
	}
	return r.save(ctx)
}

// maxFailed is how many batches of a round may have failed before the round stops at the next one that does: the cause
// is hardly one of single batches then.
const maxFailed = 100

// tryBatch rescreens a batch, and notes in the round whether that has failed. It returns an error if the round cannot
// continue.
func (r *run) tryBatch(ctx context.Context, id string) error {
	b, err := r.findCandidate(ctx, id)
	if err == nil && b != nil {
		if err := r.announceUpdate(ctx); err != nil {
			return err
		}
		before := r.round
		if err = r.rescreenBatch(ctx, *b); err != nil {
			r.round = before // created batches are counted when they are found again
		}
	}
	isKnown := slices.Contains(r.round.Failed, id)
	switch {
	case err == nil:
		r.round.Failed = slices.DeleteFunc(r.round.Failed, func(failed string) bool { return failed == id })
		return nil
	case ctx.Err() != nil:
		return err
	}
	if errors.Is(err, screening.ErrChanged) {
		err = errors.New(err.Error()) // of the round itself, it would mean that another run is at it
	}
	err = fmt.Errorf("batch %s: %w", id, err)
	if !isKnown && len(r.round.Failed) >= maxFailed {
		return fmt.Errorf("after the failure of %d batches: %w", maxFailed, err)
	}
	r.Log.ErrorContext(ctx, "a batch could not be rescreened", "tenant", r.round.Tenant, "list", r.version.List,
		"version", r.version.Version, "batch", id, "error", err)
	if r.failure == nil {
		r.failure = err
	}
	if !isKnown {
		r.round.Failed = append(r.round.Failed, id)
	}
	return nil
}

func (r *run) save(ctx context.Context) error {
	r.round.Revision++
	return r.Rounds.SaveRound(ctx, r.round)
}

// indexOfList returns the place of the round's list among those that are pinned for a batch, -1 if it is not.
func (r *run) indexOfList(b screening.Batch) int {
	return slices.IndexFunc(b.Lists, func(l screening.ListVersion) bool {
		return l.Owner == r.version.Owner && l.List == r.version.List
	})
}

// overlap is how long before the beginning of a round a batch must have been created for the round to have seen it for
// certain: batches are dated some time before they are stored.
const overlap = time.Minute

// baseOf returns the version that a batch was last screened against, "" if there is none, and whether it is to be
// screened against the list at all.
func (r *run) baseOf(b screening.Batch) (version string, isScreened bool) {
	p, isBuiltIn := b.Provider(screening.BuiltIn)
	if !isBuiltIn || p.Status == screening.ReturnFailed || b.Status == screening.Overridden ||
		b.Type == screening.TypeRescreening {
		return "", false
	}
	i := r.indexOfList(b)
	switch {
	case i < 0 && r.settings.ActiveLists != nil && !slices.Contains(r.settings.ActiveLists, r.version.List):
		return "", false
	case r.round.Done != "" && b.CreatedAt.Before(r.round.BeganAt.Add(-overlap)):
		return r.round.Done, true
	case i < 0:
		return "", true
	}
	return b.Lists[i].Version, true
}
