// Package listsetup gives batches the watchlists of screening: batches declare what they need of lists, and know
// nothing of screening.
package listsetup

import (
	"context"
	"errors"

	"sluice/functions/setup"
	"sluice/functions/setup/screeningsetup"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/match"
)

// Lists are the lists with which the names of batches are screened. They are safe for concurrent use.
type Lists struct {
	// Loader loads the lists.
	Loader *catalog.Loader
	// Pins records to which versions batches refer. Only Pin needs it.
	Pins catalog.Pinner
}

// New returns the lists of a function. It reads TABLE_WATCHLISTS and BUCKET_WORK.
func New(env setup.Env) *Lists {
	return &Lists{screeningsetup.NewWatchlists(env), catalogdb.New(env.DynamoDB(), env.WatchlistsTable)}
}

// Names returns the names of the lists with which a tenant's names are screened: the given ones, each once, or all that
// the tenant sees if lists is nil. It returns a *batch.UnknownListError for a name that the tenant does not see, and
// batch.ErrNoLists if it sees no list.
func (l *Lists) Names(ctx context.Context, tenant string, lists []string) ([]string, error) {
	names, err := l.Loader.Names(ctx, tenant, lists)
	var unknown *catalog.UnknownListError
	switch {
	case errors.As(err, &unknown):
		return nil, &batch.UnknownListError{List: unknown.List}
	case errors.Is(err, catalog.ErrNoLists):
		return nil, batch.ErrNoLists
	}
	return names, err
}

// Pin returns the current versions of lists, or the last ones that can be loaded, and sees to it that they are never
// removed. Repeating it is success.
func (l *Lists) Pin(ctx context.Context, tenant string, lists []string) ([]pipeline.PinnedList, error) {
	loaded, err := l.Loader.Current(ctx, tenant, lists)
	if err != nil {
		return nil, err
	}
	pinned := make([]pipeline.PinnedList, len(loaded))
	for i, v := range loaded {
		if err := l.Pins.Pin(ctx, v.VersionRef); err != nil {
			return nil, err
		}
		pinned[i] = pipeline.PinnedList{Problem: v.Problem, ListVersion: batch.ListVersion{Owner: v.Owner, List: v.List,
			Version: v.Version.Version, SourceDate: v.SourceDate}}
	}
	return pinned, nil
}

// Open returns a screener of pinned versions, whose hits are the entries that reach the threshold, best first.
func (l *Lists) Open(ctx context.Context, versions []batch.ListVersion, threshold float64) (validation.Screener,
	error) {
	var lists []catalog.Loaded
	for _, v := range versions {
		loaded, err := l.Loader.Open(ctx, catalog.VersionRef{Owner: v.Owner, List: v.List, Version: v.Version})
		if err != nil {
			return nil, err
		}
		lists = append(lists, loaded)
	}
	screener := catalog.NewScreener(lists...)
	return validation.ScreenerFunc(func(name string) ([]report.Hit, error) {
		found, err := screener.Screen(match.Query{Name: name}, threshold)
		var hits []report.Hit
		for i := range found {
			f := &found[i]
			hits = append(hits, report.Hit{List: f.List, Version: f.Source.Version.Version, EntryID: f.ID,
				EntryName: f.Name, Score: f.Score, Explanation: f.Explanation})
		}
		return hits, err
	}), nil
}
