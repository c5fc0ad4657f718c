package screeninghttp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// CreateSetRequest is the data of a new configuration set.
type CreateSetRequest struct {
	ProviderID string `json:"providerId"`
	SetRequest
}

// Check validates the data.
func (in *CreateSetRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("providerId", in.ProviderID, screening.MaxProviderID)
	in.check(v, "")
}

// ChangeSetRequest is a change of a configuration set. Absent values stay as they are.
type ChangeSetRequest struct {
	Name               *string             `json:"name"`
	Description        *string             `json:"description"`
	AdditionalSettings []screening.Setting `json:"additionalSettings"`
}

// Check validates the data.
func (in *ChangeSetRequest) Check(v *platform.ValidationErrors) {
	if in.Name != nil {
		v.RequireText("name", *in.Name, platform.MaxName)
	}
	if in.Description != nil {
		v.RequireText("description", *in.Description, maxDescription)
	}
	checkSettings(v, "additionalSettings", in.AdditionalSettings)
}

// createSet stores a new set of a provider.
func (s *Configurations) createSet(ctx context.Context, r *platform.Request, in CreateSetRequest) (IDReply, error) {
	set := in.set(s.NewID())
	audit.AddObject(ctx, "providerId", in.ProviderID)
	audit.AddObject(ctx, "configurationSetId", set.ID)
	find := func() (screening.Provider, error) {
		return s.selectProvider(ctx, r.Tenant, func(p screening.Provider) bool { return p.ID == in.ProviderID },
			r.Invalid("providerId", "No provider of this ID is configured.", CodeProvider))
	}
	err := s.editProvider(ctx, r, find, func(p *screening.Provider) error {
		if len(p.Sets) >= screening.MaxSets {
			return errTooManySets
		}
		p.Sets = append(p.Sets, set)
		return checkSet(r, *p, set)
	})
	return IDReply{set.ID}, err
}

// changeSet changes a set, also a default one.
func (s *Configurations) changeSet(ctx context.Context, r *platform.Request, in ChangeSetRequest) (platform.NoData,
	error) {
	return platform.NoData{}, s.editSet(ctx, r, func(p *screening.Provider, i int) error {
		set := &p.Sets[i]
		if in.Name != nil {
			set.Name = *in.Name
		}
		if in.Description != nil {
			set.Description = *in.Description
		}
		if in.AdditionalSettings != nil {
			set.Settings = in.AdditionalSettings
		}
		return checkSet(r, *p, *set)
	})
}

// deleteSet removes a set that is not the default one of its provider.
func (s *Configurations) deleteSet(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData,
	error) {
	return platform.NoData{}, s.editSet(ctx, r, func(p *screening.Provider, i int) error {
		if i == 0 {
			return errDefaultSet
		}
		p.Sets = slices.Delete(p.Sets, i, i+1)
		return nil
	})
}

// editSet changes the provider that has the set of the path. change gets the place of the set among its sets.
func (s *Configurations) editSet(ctx context.Context, r *platform.Request,
	change func(p *screening.Provider, i int) error) error {
	id := strings.ToLower(r.PathValue("id"))
	if !platform.IsUUID(id) {
		return errNoSet
	}
	audit.AddObject(ctx, "configurationSetId", id)
	has := func(p screening.Provider) int {
		return slices.IndexFunc(p.Sets, func(set screening.ConfigurationSet) bool { return set.ID == id })
	}
	find := func() (screening.Provider, error) {
		return s.selectProvider(ctx, r.Tenant, func(p screening.Provider) bool { return has(p) >= 0 }, errNoSet)
	}
	return s.editProvider(ctx, r, find, func(p *screening.Provider) error { return change(p, has(*p)) })
}

// selectProvider returns the first provider of a tenant that is selected, or missing.
func (s *Configurations) selectProvider(ctx context.Context, tenant string, selects func(screening.Provider) bool,
	missing error) (screening.Provider, error) {
	configured, err := s.Providers.ListProviders(ctx, tenant)
	if err != nil {
		return screening.Provider{}, err
	}
	if i := slices.IndexFunc(configured, selects); i >= 0 {
		return configured[i], nil
	}
	return screening.Provider{}, missing
}

// checkSet returns a fault if the settings of a set do not fit its provider.
func checkSet(r *platform.Request, p screening.Provider, set screening.ConfigurationSet) error {
	return r.Validate(func(v *platform.ValidationErrors) {
		addSettingProblems(v, "additionalSettings", p.CheckSet(set))
	})
}

// checkSchema returns a fault if the fields of a provider's schema do not fit each other, or its sets do not fit them.
// isDefaultGiven means that the request has the default set as well.
func checkSchema(r *platform.Request, p screening.Provider, isDefaultGiven bool) error {
	return r.Validate(func(v *platform.ValidationErrors) {
		if addSettingProblems(v, schemaProperty, screening.CheckFields(p.Fields)); v.Count() > 0 {
			return
		}
		for i, set := range p.Sets {
			problems := p.CheckSet(set)
			switch {
			case i == 0 && isDefaultGiven:
				addSettingProblems(v, "defaultConfigurationSet.additionalSettings", problems)
			case len(problems) > 0:
				v.Add(schemaProperty, fmt.Sprintf(
					"The configuration set %q (%s) would not fit: %s Change the set first; a setting that is to be "+
						"mandatory must be optional until each set has a value.", set.Name, set.ID,
					problems[0].Message), CodeSetting)
			}
		}
	})
}
