package screening

import (
	"maps"
	"time"
)

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
