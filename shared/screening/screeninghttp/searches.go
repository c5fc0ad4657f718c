package screeninghttp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
)

// listCatalog reads the watchlists of tenants, and pins the versions that batches need.
type listCatalog interface {
	catalog.Reader
	catalog.Pinner
}

// searches starts the searches of batches.
type searches interface {
	// Start starts the last run of a batch. Repeating it is success.
	Start(ctx context.Context, b screening.Batch) error
}

// addSearches returns a new batch with the searches of the requested providers, or of the tenant's active ones without
// any. The lists and the threshold of the built-in provider are pinned.
func (s *Screenings) addSearches(ctx context.Context, r *platform.Request, b screening.Batch, asked []ProviderRequest) (
	screening.Batch, error) {
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return b, err
	}
	configured, err := s.Providers.ListProviders(ctx, r.Tenant)
	if err != nil {
		return b, err
	}
	runs, err := chooseProviders(r, configured, settings, asked)
	if err != nil {
		return b, err
	}
	for i, run := range runs {
		p, _ := findProvider(configured, run.ID)
		set, _ := p.FindSet(run.ConfigurationSetID)
		runs[i].ConfigurationSetID = set.ID // that of the default set, too, for those who ask later how it was searched
		if run.ID != screening.BuiltIn {
			continue
		}
		if b, runs[i].Error, err = s.pin(ctx, b, settings.Search(set)); err != nil {
			return b, err
		}
	}
	return b.Begin(runs, b.CreatedAt), nil
}

// chooseProviders returns the searches of the requested providers or, without any, of the tenant's active ones with
// their default sets.
func chooseProviders(r *platform.Request, configured []screening.Provider, settings screening.Settings,
	asked []ProviderRequest) ([]screening.ProviderRun, error) {
	if len(asked) == 0 {
		var runs []screening.ProviderRun
		for _, id := range settings.Active() {
			if _, problem := findProvider(configured, id); problem != "" {
				return nil, errNotActive.WithCause(fmt.Errorf("%s: %s", id, problem))
			}
			runs = append(runs, screening.ProviderRun{ID: id})
		}
		return runs, nil
	}
	runs := make([]screening.ProviderRun, len(asked))
	err := r.Validate(func(v *platform.ValidationErrors) {
		for i, a := range asked {
			runs[i].ID = a.ProviderID
			if a.ConfigurationSetID != nil {
				runs[i].ConfigurationSetID = strings.ToLower(*a.ConfigurationSetID)
			}
			p, problem := findProvider(configured, a.ProviderID)
			if problem != "" {
				v.Add(fmt.Sprintf("providers.%d.providerId", i), problem, CodeProvider)
			} else if _, ok := p.FindSet(runs[i].ConfigurationSetID); !ok {
				v.Add(fmt.Sprintf("providers.%d.configurationSetId", i),
					"The provider has no configuration set of this ID.", CodeProvider)
			}
		}
	})
	return runs, err
}

// pin returns a batch with the current versions of the lists that the built-in provider is to search, or the reason why
// it cannot search.
func (s *Screenings) pin(ctx context.Context, b screening.Batch, search screening.BuiltInSearch) (screening.Batch,
	*screening.ProviderError, error) {
	b.Lists, b.Threshold = nil, search.Threshold
	versions, err := s.pinCurrent(ctx, b.Tenant, search.Lists)
	var unknown *catalog.UnknownListError
	switch {
	case errors.Is(err, catalog.ErrNoLists):
		return b, screening.ErrNoLists, nil
	case errors.As(err, &unknown):
		return b, &screening.ProviderError{Source: screening.SourceInvoker, Code: screening.CodeNotSpecified,
			Message: unknown.Error() + " Import it, or name another one, and run the screening again."}, nil
	case err != nil:
		return b, nil, err
	}
	for _, v := range versions {
		b.Lists = append(b.Lists, screening.ListVersion{List: v.List, Owner: v.Owner, Version: v.Version,
			SourceDate: v.SourceDate.UTC(), ImportedAt: v.ImportedAt.UTC()})
	}
	return b, nil, nil
}

// pinCurrent pins the current versions of lists for a batch, and returns them. It precedes the creation of the batch: a
// version without a batch may be removed.
func (s *Screenings) pinCurrent(ctx context.Context, tenant string, lists []string) (versions []catalog.Version,
	err error) {
	err = retryIfChanged(func() error {
		if versions, err = catalog.CurrentVersions(ctx, s.Lists, tenant, lists); err != nil {
			return err
		}
		for _, v := range versions {
			if err := s.Lists.Pin(ctx, v.VersionRef); errors.Is(err, catalog.ErrNotFound) {
				return screening.ErrChanged // another version is current, and this one was removed
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return versions, err
}

// start starts the searches of a batch that is stored. If that fails, the sweep starts them.
func (s *Screenings) start(ctx context.Context, b screening.Batch) {
	if !b.IsSearching() {
		return
	}
	if err := s.Searches.Start(ctx, b); err != nil {
		s.Log.ErrorContext(ctx, "the start of a screening failed; the sweep repeats it", "batch", b.ID, "error", err)
	}
}

// RerunRequest selects the searches to run again.
type RerunRequest struct {
	// ProviderID is the provider that searches again; without it, all whose search has failed do.
	ProviderID *string `json:"providerId"`
}

// Check validates the data.
func (in *RerunRequest) Check(v *platform.ValidationErrors) {
	if in.ProviderID != nil {
		v.RequireText("providerId", *in.ProviderID, platform.MaxName)
	}
}

// Rerun runs failed searches again. The built-in provider searches the pinned lists; if there were none to pin, the
// current ones are pinned.
func (s *Screenings) Rerun(ctx context.Context, r *platform.Request, in RerunRequest) (platform.NoData, error) {
	var again screening.Batch
	err := retryIfChanged(func() error {
		b, err := s.findBatch(ctx, r, "id")
		if err != nil {
			return err
		}
		id := ""
		if in.ProviderID != nil {
			id = *in.ProviderID
		}
		b, problem, err := s.pinMissing(ctx, r, b, id)
		if err != nil {
			return err
		}
		if again, err = b.Rerun(id, s.Now().UTC()); err != nil {
			if errors.Is(err, screening.ErrNotFound) {
				return r.Invalid("providerId", "The batch has no provider of this ID.", CodeProvider)
			}
			return faultOf(err)
		}
		return s.Store.Save(ctx, again.ExplainNoLists(problem))
	})
	if err == nil {
		s.start(ctx, again)
	}
	return platform.NoData{}, err
}

// pinMissing pins lists for an open batch that has none, if its built-in provider is to search again. id names the
// provider that searches again, "" for all. Without lists to pin it returns the reason.
func (s *Screenings) pinMissing(ctx context.Context, r *platform.Request, b screening.Batch, id string) (
	screening.Batch, *screening.ProviderError, error) {
	run, isHere := b.Provider(screening.BuiltIn)
	if !isHere || len(b.Lists) > 0 || b.Status != screening.Open || id != "" && id != screening.BuiltIn {
		return b, nil, nil
	}
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return b, nil, err
	}
	p, err := s.Providers.GetProvider(ctx, r.Tenant, screening.BuiltIn)
	if err != nil {
		return b, nil, err
	}
	set, _ := p.FindSet(run.ConfigurationSetID) // a set that was deleted has no settings
	return s.pin(ctx, b, settings.Search(set))
}
