package screening

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// BuiltIn is the ID of the built-in provider: this service itself, which searches the watchlists that were imported and
// needs neither configuration nor adapter.
const BuiltIn = "sluice"

// Sources of errors of providers.
const (
	// SourceUnknown is the source of an error that cannot be assigned.
	SourceUnknown = "Unknown"
	// SourceInvoker is this service: its own search failed or was interrupted, or it could not call the adapter.
	SourceInvoker = "Invoker"
	// SourceAdapter is the adapter of the provider: it rejected the message, reported an error, sent an answer that is
	// not valid, or did not answer in time.
	SourceAdapter = "Adapter"
)

// Codes of errors of providers.
const (
	// CodeNotSpecified is any error but the following.
	CodeNotSpecified = "E000"
	// CodeRejected means that the adapter has rejected the message.
	CodeRejected = "E001"
	// CodeInvalidAnswer means that the answer of the adapter is not valid.
	CodeInvalidAnswer = "E002"
)

// ProviderError is the reason why a search failed.
type ProviderError struct {
	// Source is SourceUnknown, SourceInvoker or SourceAdapter.
	Source string `json:"source"`
	// Code is CodeNotSpecified, CodeRejected or CodeInvalidAnswer.
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Reasons why a search fails without being made.
var (
	// ErrNoLists is the reason for a search of the built-in provider without lists.
	ErrNoLists = &ProviderError{SourceInvoker, CodeNotSpecified,
		"No watchlist was imported that could be searched. Import one and run the screening again."}
	errOverridden = &ProviderError{SourceInvoker, CodeNotSpecified,
		"A newer batch of the same journey and process replaced this one before the search ended."}
)

// ErrNothingToRun means that no search of the batch has failed, so that none can be run again.
var ErrNothingToRun = errors.New("screening: no search has failed")

// ListVersion is a version of a watchlist, as batches pin it.
type ListVersion struct {
	// List is the name of the list.
	List string `json:"list"`
	// Owner is the tenant whose list it is, or a word for the lists that all tenants share: catalog.Shared.
	Owner string `json:"owner"`
	// Version is the digest of the version's content.
	Version string `json:"version"`
	// SourceDate is the date of the list as its publisher gives it; zero if it does not.
	SourceDate time.Time `json:"sourceDate"`
	// ImportedAt is when the version was imported.
	ImportedAt time.Time `json:"importedAt"`
}

// IsSearching reports whether a provider of an open batch searches.
func (b Batch) IsSearching() bool {
	return b.Status == Open && slices.ContainsFunc(b.Providers, func(p ProviderRun) bool { return !p.IsFinished() })
}

// Searching returns the providers that search in a run; none if the batch is not open.
func (b Batch) Searching(run int) []ProviderRun {
	if b.Status != Open {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.Providers),
		func(p ProviderRun) bool { return p.IsFinished() || p.Run != run })
}

// SearchingRuns returns the runs with present searches of an open batch, in ascending order.
func (b Batch) SearchingRuns() []int {
	var runs []int
	for _, p := range b.Providers {
		if b.Status == Open && !p.IsFinished() {
			runs = append(runs, p.Run)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// Begin returns a new batch in whose first run the given providers search. Those with an error have failed already, and
// so has the built-in one if no lists are pinned. The providers are put into the order of their IDs.
func (b Batch) Begin(providers []ProviderRun, at time.Time) Batch {
	b.Providers = slices.Clone(providers)
	slices.SortFunc(b.Providers, func(x, y ProviderRun) int { return strings.Compare(x.ID, y.ID) })
	for i := range b.Providers {
		if p := &b.Providers[i]; p.Error != nil {
			p.Status, p.Run = ReturnFailed, 1
		} else {
			b.begin(p, 1)
		}
	}
	if b.IsSearching() {
		b.Runs, b.StartedAt = 1, at
	}
	return b
}

// begin begins the search of a provider in a run.
func (b Batch) begin(p *ProviderRun, run int) {
	p.Status, p.Error, p.Matches, p.AnswerID, p.Run = SearchInProgress, nil, 0, "", run
	if p.ID == BuiltIn && len(b.Lists) == 0 {
		p.Status, p.Error = ReturnFailed, ErrNoLists
	}
}

// ExplainNoLists replaces ErrNoLists, the failure of the built-in provider, by a more precise reason. A nil reason
// changes nothing.
func (b Batch) ExplainNoLists(reason *ProviderError) Batch {
	b.Providers = slices.Clone(b.Providers)
	for i := range b.Providers {
		if p := &b.Providers[i]; p.ID == BuiltIn && p.Error == ErrNoLists && reason != nil {
			p.Error = reason
		}
	}
	return b
}

// Rerun returns the batch with the failed searches begun again, in a new run; with an ID, only the search of that
// provider. It returns ErrNotFound if the batch does not have the provider, ErrNotOpen for a batch that is not open,
// and ErrNothingToRun if none of them has failed.
func (b Batch) Rerun(providerID string, at time.Time) (Batch, error) {
	has := func(p ProviderRun) bool { return p.ID == providerID }
	switch {
	case providerID != "" && !slices.ContainsFunc(b.Providers, has):
		return b, ErrNotFound
	case b.Status != Open:
		return b, ErrNotOpen
	}
	b.Providers = slices.Clone(b.Providers)
	found := false
	for i := range b.Providers {
		p := &b.Providers[i]
		if p.Status == ReturnFailed && (providerID == "" || has(*p)) {
			b.begin(p, b.Runs+1)
			found = true
		}
	}
	if !found {
		return b, ErrNothingToRun
	}
	b.Runs++
	b.StartedAt = at
	b.Version++
	return b, nil
}

// Limits of the validity of a provider's search, in days.
const (
	MinValidityDays = 1
	MaxValidityDays = 36_500
)

// Settings are the screening settings of a tenant, with their JSON form in storage.
type Settings struct {
	// ValidityDays is the validity of a provider's search in days after the close of the batch, by the provider's ID.
	// Provider.ValidityDays applies to providers that are not in the map.
	ValidityDays map[string]int `json:"validityDays"`
	// ActiveProviders are the providers of batches that name none; nil for the built-in one.
	ActiveProviders []string `json:"activeProviders,omitempty"`
	// ActiveLists are the watchlists of the built-in provider by default; nil for all lists of the tenant.
	ActiveLists []string `json:"activeLists,omitempty"`
	// Threshold is the least score of a match of the built-in provider; nil for DefaultThreshold.
	Threshold *float64 `json:"threshold,omitempty"`
	// Version is 0 if the tenant has no settings, and grows by one with every change. Writes are conditional on it.
	Version int64 `json:"-"`
}

// ExpiryStatus is the validity of searches.
type ExpiryStatus string

// The expiry statuses.
const (
	NoActiveBatch ExpiryStatus = "NoActiveBatch"
	NotExpiring   ExpiryStatus = "NotExpiring"
	Valid         ExpiryStatus = "Valid"
	Expired       ExpiryStatus = "Expired"
)

// ProviderExpiry is the validity of the search of a provider.
type ProviderExpiry struct {
	Provider ProviderRun
	Status   ExpiryStatus
	// At is zero for a search that does not expire.
	At time.Time
}

// Active returns the providers of batches that name none.
func (s Settings) Active() []string {
	if len(s.ActiveProviders) == 0 {
		return []string{BuiltIn}
	}
	return s.ActiveProviders
}

// Validities returns for how many days the searches of providers are valid, by the providers' IDs. It has those alone
// whose searches expire.
func (s Settings) Validities(providers []Provider) map[string]int {
	days := map[string]int{}
	for _, p := range providers {
		if p.ValidityDays > 0 {
			days[p.ID] = p.ValidityDays
		}
	}
	maps.Copy(days, s.ValidityDays)
	return days
}

// Expiry says at a time which searches of a batch are valid by the validities of providers, and whether the batch is:
// Expired if the search of any provider is, else Valid if any is, else NotExpiring. Searches of a batch that was not
// closed do not expire.
func (b Batch) Expiry(validities map[string]int, at time.Time) (ExpiryStatus, []ProviderExpiry) {
	all, providers := NotExpiring, make([]ProviderExpiry, len(b.Providers))
	for i, p := range b.Providers {
		providers[i] = ProviderExpiry{Provider: p, Status: NotExpiring}
		days, expires := validities[p.ID]
		if !expires || b.ClosedAt.IsZero() {
			continue
		}
		e := &providers[i]
		e.Status, e.At = Valid, b.ClosedAt.UTC().AddDate(0, 0, days)
		if !at.Before(e.At) {
			e.Status = Expired
		}
		if all != Expired {
			all = e.Status
		}
	}
	return all, providers
}
