package screeninghttp

import (
	"context"
	"errors"
	"fmt"

	"sluice/shared/httpapi/platform"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
)

// providerStore reads the providers of tenants.
type providerStore interface {
	// GetProvider is that of screening.ProviderStore.
	GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
}

// searches starts the searches of batches.
type searches interface {
	// Start starts the last run of a batch. Repeating it is success.
	Start(ctx context.Context, b screening.Batch) error
}

// addSearches returns a new batch in which the providers of a request search; without any, those that are active for the
// tenant. What the built-in provider searches, and how, is pinned.
func (s *Screenings) addSearches(ctx context.Context, r *platform.Request, b screening.Batch, asked []ProviderRequest) (
	screening.Batch, error) {
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return b, err
	}
	isAsked := len(asked) > 0
	if !isAsked {
		asked = activeProviders(settings)
	}
	var runs []screening.ProviderRun
	for i, a := range asked {
		run := screening.ProviderRun{ID: a.ProviderID}
		if a.ConfigurationSetID != nil {
			run.ConfigurationSetID = toLower(*a.ConfigurationSetID)
		}
		p, err := s.Providers.GetProvider(ctx, r.Tenant, a.ProviderID)
		isKnown := !errors.Is(err, screening.ErrNotFound)
		if isKnown && err != nil {
			return b, err
		}
		if !isKnown && !isAsked {
			continue // deleted since it was made active
		}
		if !isKnown {
			return b, r.Invalid(fmt.Sprintf("providers.%d.providerId", i), "No provider of this ID is configured.", CodeProvider)
		}
		set, isKnown := p.FindSet(run.ConfigurationSetID)
		if !isKnown {
			return b, r.Invalid(fmt.Sprintf("providers.%d.configurationSetId", i), "The provider has no set of this ID.",
				CodeProvider)
		}
		if p.ID == screening.BuiltIn {
			if b, run.Error, err = s.pin(ctx, b, settings.Search(set)); err != nil {
				return b, err
			}
		}
		runs = append(runs, run)
	}
	return b.Begin(runs, b.CreatedAt), nil
}

// activeProviders returns the providers of batches that name none.
func activeProviders(settings screening.Settings) []ProviderRequest {
	if settings.ActiveProviders == nil {
		return []ProviderRequest{{ProviderID: screening.BuiltIn}}
	}
	var active []ProviderRequest
	for _, id := range settings.ActiveProviders {
		active = append(active, ProviderRequest{ProviderID: id})
	}
	return active
}

// pin returns a batch with the present versions of the lists that the built-in provider is to search, or the reason for
// which it cannot.
func (s *Screenings) pin(ctx context.Context, b screening.Batch, search screening.BuiltInSearch) (screening.Batch,
	*screening.ProviderError, error) {
	b.Lists, b.Threshold = nil, search.Threshold
	versions, err := catalog.CurrentVersions(ctx, s.Lists, b.Tenant, search.Lists)
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

// start starts the searches of a batch that is stored. If that fails, the sweep starts them.
func (s *Screenings) start(ctx context.Context, b screening.Batch) {
	if !b.IsSearching() {
		return
	}
	if err := s.Searches.Start(ctx, b); err != nil {
		s.Log.ErrorContext(ctx, "the start of a screening failed; the sweep repeats it", "batch", b.ID, "error", err)
	}
}

// RerunRequest selects what is run again.
type RerunRequest struct {
	// ProviderID is the provider that searches again; without it, all whose search has failed do.
	ProviderID *string `json:"providerId"`
}

// Check adds what is wrong with the data.
func (in *RerunRequest) Check(v *platform.ValidationErrors) {
	if in.ProviderID != nil {
		v.RequireText("providerId", *in.ProviderID, platform.MaxName)
	}
}

// Rerun runs searches again that have failed. The built-in provider searches the lists that were pinned; if none could be,
// the present ones are.
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
		if b, err = s.pinMissing(ctx, r, b); err != nil {
			return err
		}
		if again, err = b.Rerun(id, s.Now().UTC()); err != nil {
			if errors.Is(err, screening.ErrNotFound) {
				return r.Invalid("providerId", "The batch has no provider of this ID.", CodeProvider)
			}
			return faultOf(err)
		}
		return s.Store.Save(ctx, again)
	})
	if err == nil {
		s.start(ctx, again)
	}
	return platform.NoData{}, err
}

// pinMissing pins lists for the built-in provider of a batch that has none pinned.
func (s *Screenings) pinMissing(ctx context.Context, r *platform.Request, b screening.Batch) (screening.Batch, error) {
	run, isHere := b.Provider(screening.BuiltIn)
	if !isHere || len(b.Lists) > 0 {
		return b, nil
	}
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return b, err
	}
	p, err := s.Providers.GetProvider(ctx, r.Tenant, screening.BuiltIn)
	if err != nil {
		return b, err
	}
	set, _ := p.FindSet(run.ConfigurationSetID) // one that was deleted meanwhile says nothing
	b, _, err = s.pin(ctx, b, settings.Search(set))
	return b, err
}
