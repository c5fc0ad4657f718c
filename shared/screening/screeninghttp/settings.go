package screeninghttp

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// maxValidities is for how many providers a tenant has a validity.
const maxValidities = 100

// SettingsRequest is the screening configuration of a tenant, or changes of it.
type SettingsRequest struct {
	// ValidityDays is by the ID of the provider; null removes one.
	ValidityDays map[string]*int `json:"validityDays"`
	// ActiveProviders and ActiveLists have their defaults if they are empty, not if they are absent.
	ActiveProviders []string `json:"activeProviders"`
	ActiveLists     []string `json:"activeLists"`
	Threshold       *float64 `json:"threshold"`
}

// Check validates the data.
func (in *SettingsRequest) Check(v *platform.ValidationErrors) {
	if v.CheckCount("validityDays", len(in.ValidityDays), maxValidities) {
		for _, id := range slices.Sorted(maps.Keys(in.ValidityDays)) {
			v.RequireText("validityDays", id, platform.MaxName)
			if days := in.ValidityDays[id]; days != nil {
				v.CheckBetween("validityDays."+id, *days, screening.MinValidityDays, screening.MaxValidityDays)
			}
		}
	}
	if v.CheckCount("activeProviders", len(in.ActiveProviders), screening.MaxProviders) {
		for i, id := range in.ActiveProviders {
			v.RequireText(fmt.Sprintf("activeProviders.%d", i), id, screening.MaxProviderID)
		}
		v.CheckUnique("activeProviders", in.ActiveProviders)
	}
	checkLists(v, "activeLists", in.ActiveLists)
	checkThreshold(v, in.Threshold)
}

func checkLists(v *platform.ValidationErrors, property string, lists []string) {
	if v.CheckCount(property, len(lists), screening.MaxLists) {
		for i, name := range lists {
			v.RequireText(fmt.Sprintf("%s.%d", property, i), name, screening.MaxListName)
		}
		v.CheckUnique(property, lists)
	}
}

func checkThreshold(v *platform.ValidationErrors, threshold *float64) {
	if threshold != nil && (*threshold < screening.MinThreshold || *threshold > screening.MaxThreshold) {
		v.Add("threshold", fmt.Sprintf("The value must be between %d and %d.", screening.MinThreshold,
			screening.MaxThreshold),
			platform.CodeRange)
	}
}

// SettingsReply is the screening configuration of a tenant, with defaults for the settings that it lacks.
type SettingsReply struct {
	ValidityDays    map[string]int `json:"validityDays"`
	ActiveProviders []string       `json:"activeProviders"`
	// ActiveLists are empty if all lists are active.
	ActiveLists []string `json:"activeLists"`
	Threshold   float64  `json:"threshold"`
}

func settingsReplyOf(s screening.Settings) SettingsReply {
	reply := SettingsReply{ValidityDays: s.ValidityDays, ActiveProviders: s.Active(),
		ActiveLists: platform.OrEmpty(s.ActiveLists), Threshold: s.Search(screening.ConfigurationSet{}).Threshold}
	if reply.ValidityDays == nil {
		reply.ValidityDays = map[string]int{}
	}
	return reply
}

// getSettings returns the screening configuration of the tenant.
func (s *Configurations) getSettings(ctx context.Context, r *platform.Request, _ platform.NoBody) (SettingsReply,
	error) {
	settings, err := s.Settings.GetSettings(ctx, r.Tenant)
	return settingsReplyOf(settings), err
}

// setSettings replaces the screening configuration of the tenant.
func (s *Configurations) setSettings(ctx context.Context, r *platform.Request, in SettingsRequest) (SettingsReply,
	error) {
	return s.changeSettings(ctx, r, in, func(old screening.Settings) screening.Settings {
		return screening.Settings{Version: old.Version}
	})
}

// mergeSettings changes the screening configuration of the tenant. Absent settings stay as they are.
func (s *Configurations) mergeSettings(ctx context.Context, r *platform.Request, in SettingsRequest) (SettingsReply,
	error) {
	return s.changeSettings(ctx, r, in, func(old screening.Settings) screening.Settings { return old })
}

// changeSettings stores the settings that begin makes of the stored ones, with the changes of a request.
func (s *Configurations) changeSettings(ctx context.Context, r *platform.Request, in SettingsRequest,
	begin func(old screening.Settings) screening.Settings) (SettingsReply, error) {
	var settings screening.Settings
	err := retryConfiguration(func() error {
		old, err := s.Settings.GetSettings(ctx, r.Tenant)
		if err != nil {
			return err
		}
		if err := s.checkActive(ctx, r, in.ActiveProviders); err != nil {
			return err
		}
		settings = in.apply(begin(old))
		if len(settings.ValidityDays) > maxValidities {
			return r.Invalid("validityDays", fmt.Sprintf("A tenant has a validity for at most %d providers.",
				maxValidities), platform.CodeCount)
		}
		return s.Settings.SaveSettings(ctx, r.Tenant, old, settings)
	})
	return settingsReplyOf(settings), err
}

// apply returns settings with the changes of the request.
func (in SettingsRequest) apply(s screening.Settings) screening.Settings {
	days := map[string]int{}
	maps.Copy(days, s.ValidityDays)
	for id, d := range in.ValidityDays {
		if delete(days, id); d != nil {
			days[id] = *d
		}
	}
	s.ValidityDays = days
	if in.ActiveProviders != nil {
		s.ActiveProviders = in.ActiveProviders
	}
	if in.ActiveLists != nil {
		s.ActiveLists = in.ActiveLists
	}
	if in.Threshold != nil {
		s.Threshold = in.Threshold
	}
	return s
}

// checkActive returns a fault if one of the providers cannot search.
func (s *Configurations) checkActive(ctx context.Context, r *platform.Request, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	configured, err := s.Providers.ListProviders(ctx, r.Tenant)
	if err != nil {
		return err
	}
	return r.Validate(func(v *platform.ValidationErrors) {
		for i, id := range ids {
			if _, problem := findProvider(configured, id); problem != "" {
				v.Add(fmt.Sprintf("activeProviders.%d", i), problem, CodeProvider)
			}
		}
	})
}

// findProvider finds the provider of an ID. The problem is the reason why it cannot search, "" if it can.
func findProvider(configured []screening.Provider, id string) (p screening.Provider, problem string) {
	i := slices.IndexFunc(configured, func(p screening.Provider) bool { return p.ID == id })
	switch {
	case i < 0:
		return screening.Provider{}, "No provider of this ID is configured."
	case configured[i].Adapter == nil && !configured[i].IsBuiltIn():
		return configured[i], "The provider has no adapterConfiguration, so that it cannot be asked."
	}
	return configured[i], ""
}
