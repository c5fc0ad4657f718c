package screeninghttp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sluice/shared/httpapi/platform"
	"sluice/shared/screening"
)

const (
	// maxExpiryProcesses is how many processes one request asks about.
	maxExpiryProcesses = 100
	// maxValidities is for how many providers a tenant has a validity.
	maxValidities = 100
)

// SettingsRequest is the screening configuration of a tenant, or changes of it.
type SettingsRequest struct {
	// ValidityDays is by the ID of the provider; null removes one.
	ValidityDays map[string]*int `json:"validityDays"`
}

// Check adds what is wrong with the data.
func (in *SettingsRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("validityDays", in.ValidityDays != nil)
	if !v.CheckCount("validityDays", len(in.ValidityDays), maxValidities) {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(in.ValidityDays)) {
		v.RequireText("validityDays", id, platform.MaxName)
		if days := in.ValidityDays[id]; days != nil {
			v.CheckBetween("validityDays."+id, *days, screening.MinValidityDays, screening.MaxValidityDays)
		}
	}
}

// SettingsReply is the screening configuration of a tenant.
type SettingsReply struct {
	ValidityDays map[string]int `json:"validityDays"`
}

// SetSettings replaces the screening configuration of the tenant.
func (s *Screenings) SetSettings(ctx context.Context, r *platform.Request, in SettingsRequest) (SettingsReply, error) {
	return s.changeSettings(ctx, r, nil, in)
}

// MergeSettings changes the screening configuration of the tenant.
func (s *Screenings) MergeSettings(ctx context.Context, r *platform.Request, in SettingsRequest) (SettingsReply, error) {
	return s.changeSettings(ctx, r, func(old screening.Settings) map[string]int { return old.ValidityDays }, in)
}

// changeSettings stores the settings that begin returns, none if it is nil, with the changes of a request.
func (s *Screenings) changeSettings(ctx context.Context, r *platform.Request,
	begin func(screening.Settings) map[string]int, in SettingsRequest) (SettingsReply, error) {
	reply := SettingsReply{}
	err := retryIfChanged(func() error {
		settings, err := s.Store.GetSettings(ctx, r.Tenant)
		if err != nil {
			return err
		}
		days := map[string]int{}
		if begin != nil {
			maps.Copy(days, begin(settings))
		}
		for id, d := range in.ValidityDays {
			if delete(days, id); d != nil {
				days[id] = *d
			}
		}
		if len(days) > maxValidities {
			return r.Invalid("validityDays", fmt.Sprintf("A tenant has a validity for at most %d providers.", maxValidities),
				platform.CodeCount)
		}
		settings.ValidityDays, reply.ValidityDays = days, days
		settings.Version++
		return s.Store.SaveSettings(ctx, r.Tenant, settings)
	})
	return reply, err
}

// ExpiryRequest asks about processes of a journey.
type ExpiryRequest struct {
	ProcessIDs []string `json:"processIds"`
}

// Check adds what is wrong with the data.
func (in *ExpiryRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("processIds", len(in.ProcessIDs) > 0)
	v.CheckIDs("processIds", in.ProcessIDs, maxExpiryProcesses)
	v.CheckUnique("processIds", in.ProcessIDs)
}

// ExpiryReply says whether the active batch of a process is still valid.
type ExpiryReply struct {
	ProcessID    string                 `json:"processId"`
	BatchID      *string                `json:"batchId"`
	ExpiryStatus screening.ExpiryStatus `json:"expiryStatus"`
	Providers    []ProviderExpiryReply  `json:"providers"`
}

// ProviderExpiryReply says until when the search of a provider is valid.
type ProviderExpiryReply struct {
	ID                 string                 `json:"id"`
	ConfigurationSetID *string                `json:"configurationSetId"`
	ExpiryStatus       screening.ExpiryStatus `json:"expiryStatus"`
	ExpiryDate         *time.Time             `json:"expiryDate"`
}

// Expiry says for processes of a journey, in the order of the request, whether their active batches are still valid.
func (s *Screenings) Expiry(ctx context.Context, r *platform.Request, in ExpiryRequest) ([]ExpiryReply, error) {
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	journey, items := entityID(r.PathValue("journeyId")), make([]ExpiryReply, len(in.ProcessIDs))
	for i, process := range in.ProcessIDs {
		items[i] = ExpiryReply{ProcessID: process, ExpiryStatus: screening.NoActiveBatch, Providers: []ProviderExpiryReply{}}
		id, err := s.Store.FindActive(ctx, r.Tenant, journey, entityID(process))
		if errors.Is(err, screening.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		b, err := s.Store.Get(ctx, r.Tenant, id)
		if err != nil {
			return nil, err
		}
		status, providers := b.Expiry(settings.ValidityDays, s.Now())
		items[i].BatchID, items[i].ExpiryStatus = &b.ID, status
		for _, p := range providers {
			items[i].Providers = append(items[i].Providers, ProviderExpiryReply{p.Provider.ID,
				orNull(p.Provider.ConfigurationSetID), p.Status, timeOrNull(p.At)})
		}
	}
	return items, nil
}
