package screening

import "time"

// Limits of the validity of a provider's search, in days.
const (
	MinValidityDays = 1
	MaxValidityDays = 36_500
)

// Settings are what a tenant decides about its screening.
type Settings struct {
	// ValidityDays is for how many days after the close of a batch the search of a provider is valid, by the provider's
	// ID. The search of any other provider does not expire.
	ValidityDays map[string]int
	// Version is 0 if the tenant has no settings, and grows by one with every change. Writes are conditional on it.
	Version int64
}

// ExpiryStatus says whether searches are still valid.
type ExpiryStatus string

// The expiry statuses.
const (
	NoActiveBatch ExpiryStatus = "NoActiveBatch"
	NotExpiring   ExpiryStatus = "NotExpiring"
	Valid         ExpiryStatus = "Valid"
	Expired       ExpiryStatus = "Expired"
)

// ProviderExpiry says until when the search of a provider is valid.
type ProviderExpiry struct {
	Provider ProviderRun
	Status   ExpiryStatus
	// At is zero for a search that does not expire.
	At time.Time
}

// Expiry says at a time which searches of a batch are valid, and whether the batch is: Expired if the search of any
// provider is, else Valid if any is, else NotExpiring. Searches of a batch that was not closed do not expire.
func (b Batch) Expiry(s Settings, at time.Time) (ExpiryStatus, []ProviderExpiry) {
	all, providers := NotExpiring, make([]ProviderExpiry, len(b.Providers))
	for i, p := range b.Providers {
		providers[i] = ProviderExpiry{Provider: p, Status: NotExpiring}
		days, expires := s.ValidityDays[p.ID]
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
