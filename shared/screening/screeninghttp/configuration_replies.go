package screeninghttp

import (
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// ConfiguredProvider is a provider as it is configured, with masks in place of its keys.
type ConfiguredProvider struct {
	ID                       string        `json:"id"`
	Name                     string        `json:"name"`
	IsBuiltIn                bool          `json:"isBuiltIn"`
	AdapterConfiguration     *AdapterReply `json:"adapterConfiguration"`
	AdditionalSettingsSchema []FieldReply  `json:"additionalSettingsSchema"`
	DefaultConfigurationSet  SetReply      `json:"defaultConfigurationSet"`
	ConfigurationSets        []SetReply    `json:"configurationSets"`
	ValidityDays             *int          `json:"validityDays"`
	CreatedAt                *time.Time    `json:"createdAt"`
	UpdatedAt                *time.Time    `json:"updatedAt"`
	UpdatedBy                *string       `json:"updatedBy"`
}

// AdapterReply is how the adapter of a provider is reached. A key is null if there is none.
type AdapterReply struct {
	URL                  string  `json:"url"`
	AuthenticationActive bool    `json:"authenticationActive"`
	AuthenticationKey    *string `json:"authenticationKey"`
	EncryptionKey        *string `json:"encryptionKey"`
}

// FieldReply describes a setting of a provider.
type FieldReply struct {
	FieldID   string                `json:"fieldId"`
	Name      string                `json:"name"`
	Type      screening.SettingType `json:"type"`
	EnabledBy *string               `json:"enabledBy"`
	Mandatory bool                  `json:"mandatory"`
}

// SetReply is a set of settings.
type SetReply struct {
	ID                 string              `json:"id"`
	Name               string              `json:"name"`
	Description        string              `json:"description"`
	AdditionalSettings []screening.Setting `json:"additionalSettings"`
}

func configuredProviderOf(p screening.Provider) ConfiguredProvider {
	out := ConfiguredProvider{ID: p.ID, Name: p.Name, IsBuiltIn: p.IsBuiltIn(),
		AdditionalSettingsSchema: []FieldReply{},
		ConfigurationSets:        []SetReply{}, CreatedAt: platform.OrNull(p.CreatedAt),
		UpdatedAt: platform.OrNull(p.UpdatedAt), UpdatedBy: platform.OrNull(p.UpdatedBy)}
	if a := p.Adapter; a != nil {
		out.AdapterConfiguration = &AdapterReply{a.URL, a.IsAuthenticationActive,
			platform.OrNull(string(a.AuthenticationKey.Masked())), platform.OrNull(string(a.EncryptionKey.Masked()))}
	}
	for _, f := range p.Fields {
		out.AdditionalSettingsSchema = append(out.AdditionalSettingsSchema,
			FieldReply{f.ID, f.Name, f.Type, platform.OrNull(f.EnabledBy), f.IsMandatory})
	}
	for i, set := range p.Sets {
		reply := SetReply{set.ID, set.Name, set.Description, append([]screening.Setting{}, set.Settings...)}
		if i == 0 {
			out.DefaultConfigurationSet = reply
			continue
		}
		out.ConfigurationSets = append(out.ConfigurationSets, reply)
	}
	if p.ValidityDays > 0 {
		out.ValidityDays = &p.ValidityDays
	}
	return out
}
