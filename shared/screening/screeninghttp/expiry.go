package screeninghttp

import (
	"context"
	"errors"
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// maxExpiryProcesses is the largest number of processes in one request.
const maxExpiryProcesses = 100

// ExpiryRequest asks about processes of a journey.
type ExpiryRequest struct {
	ProcessIDs []string `json:"processIds"`
}

// Check validates the data.
func (in *ExpiryRequest) Check(v *platform.ValidationErrors) {
	v.RequireValue("processIds", len(in.ProcessIDs) > 0)
	v.CheckIDs("processIds", in.ProcessIDs, maxExpiryProcesses)
	v.CheckUnique("processIds", in.ProcessIDs)
}

// ExpiryReply is the validity of the active batch of a process.
type ExpiryReply struct {
	ProcessID    string                 `json:"processId"`
	BatchID      *string                `json:"batchId"`
	ExpiryStatus screening.ExpiryStatus `json:"expiryStatus"`
	Providers    []ProviderExpiryReply  `json:"providers"`
}

// ProviderExpiryReply is the validity of the search of a provider.
type ProviderExpiryReply struct {
	ID                 string                 `json:"id"`
	ConfigurationSetID *string                `json:"configurationSetId"`
	ExpiryStatus       screening.ExpiryStatus `json:"expiryStatus"`
	ExpiryDate         *time.Time             `json:"expiryDate"`
}

// Expiry returns the validity of the active batches of processes of a journey, in the order of the request.
func (s *Screenings) Expiry(ctx context.Context, r *platform.Request, in ExpiryRequest) ([]ExpiryReply, error) {
	settings, err := s.Store.GetSettings(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	configured, err := s.Providers.ListProviders(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	validities := settings.Validities(configured)
	items := make([]ExpiryReply, len(in.ProcessIDs))
	for i, process := range in.ProcessIDs {
		items[i] = ExpiryReply{ProcessID: process, ExpiryStatus: screening.NoActiveBatch,
			Providers: []ProviderExpiryReply{}}
		id, err := s.findActive(ctx, r, process)
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
		status, providers := b.Expiry(validities, s.Now())
		items[i].BatchID, items[i].ExpiryStatus = &b.ID, status
		for _, p := range providers {
			items[i].Providers = append(items[i].Providers, ProviderExpiryReply{p.Provider.ID,
				platform.OrNull(p.Provider.ConfigurationSetID), p.Status, platform.OrNull(p.At)})
		}
	}
	return items, nil
}
