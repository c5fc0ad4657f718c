package screeninghttp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

// Configurations answers the routes of a tenant's configuration: its providers, their sets of settings, and the
// settings of all its screening.
type Configurations struct {
	Settings  settingsStore
	Providers screening.ProviderStore
	Now       func() time.Time
	// NewID returns a new UUID for a set.
	NewID func() string
}

// settingsStore keeps the settings of tenants.
type settingsStore interface {
	GetSettings(ctx context.Context, tenant string) (screening.Settings, error)
	SaveSettings(ctx context.Context, tenant string, previous, s screening.Settings) error
}

// Routes returns the routes of the configuration.
func (s *Configurations) Routes() []httpapi.Route {
	const commands, queries = commandsPath + "/configuration", queriesPath + "/configuration"
	const provider, set = "/provider/{providerId}", "/configuration-set"
	route := func(method, path, permission string, endpoint httpapi.Endpoint) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, Permissions: []string{permission}, Endpoint: endpoint}
	}
	const create, edit = permission.ScreeningConfigurationCreate, permission.ScreeningConfigurationEdit
	const access, remove = permission.ScreeningConfigurationAccess, permission.ScreeningConfigurationDelete
	flat := platform.FlattenErrors()
	return httpapi.WithLimit(ratelimit.Platform, []httpapi.Route{
		route(http.MethodPost, commands, create, platform.Endpoint(s.setSettings, flat)),
		route(http.MethodPatch, commands, edit, platform.Endpoint(s.mergeSettings, flat)),
		route(http.MethodGet, queries, access, platform.Endpoint(s.getSettings)),

		route(http.MethodPost, commands+"/provider", create, platform.Endpoint(s.createProvider, flat)),
		route(http.MethodPut, commands+provider, edit, platform.Endpoint(s.replaceProvider, flat)),
		route(http.MethodDelete, commands+provider, remove, platform.Endpoint(s.deleteProvider, flat)),
		route(http.MethodPut, commands+provider+"/settings-schema", edit, platform.Endpoint(s.replaceSchema, flat)),
		route(http.MethodGet, queries+"/provider", access, platform.Endpoint(s.listProviders)),
		route(http.MethodGet, queries+provider, access, platform.Endpoint(s.getProvider)),

		route(http.MethodPost, commands+set, create, platform.Endpoint(s.createSet, flat)),
		route(http.MethodPatch, commands+set+"/{id}", edit, platform.Endpoint(s.changeSet, flat)),
		route(http.MethodDelete, commands+set+"/{id}", remove, platform.Endpoint(s.deleteSet, flat)),
	}...)
}

var (
	errNoProvider = fault.New(fault.NotFound, "provider_not_found", "No provider of this ID is configured.")
	errNoSet      = fault.New(fault.NotFound, "configuration_set_not_found",
		"No provider has a configuration set of this ID.")
	errProviderExists = fault.New(fault.Conflict, "provider_exists",
		"A provider of this ID is configured already. Change it with PUT.")
	errTooManyProviders = fault.Newf(fault.Conflict, "too_many_providers",
		"The tenant has %d providers already. Delete one first.", screening.MaxConfiguredProviders)
	errTooManySets = fault.Newf(fault.Conflict, "too_many_configuration_sets",
		"The provider has %d configuration sets already. Delete one first.", screening.MaxSets)
	errBuiltIn = fault.New(fault.BadRequest, "provider_built_in",
		"The built-in provider can neither be replaced nor deleted. Change its configuration sets, and its "+
			"validity in validityDays of the configuration.")
	errDefaultSet = fault.New(fault.BadRequest, "default_configuration_set",
		"The default set of a provider cannot be deleted. Change it.")
	errActive = fault.New(fault.Conflict, "provider_active",
		"The provider is one of activeProviders of the configuration. Take it out of them first.")
	errConfigurationBusy = fault.New(fault.Conflict, "configuration_changed",
		"The configuration is being changed by others. Try again.")
)

// IDReply is the reply to something new.
type IDReply struct {
	ID string `json:"id"`
}

// CreatedProvider is the reply to a new provider.
type CreatedProvider struct {
	ID                        string `json:"id"`
	DefaultConfigurationSetID string `json:"defaultConfigurationSetId"`
}

// createProvider stores a new provider.
func (s *Configurations) createProvider(ctx context.Context, r *platform.Request, in ProviderConfigurationRequest) (
	CreatedProvider, error) {
	audit.AddObject(ctx, "providerId", in.ID)
	p := in.apply(screening.Provider{Tenant: r.Tenant, ID: in.ID, Sets: []screening.ConfigurationSet{{ID: s.NewID()}}})
	if err := s.restoreKeys(ctx, r, &p, nil); err != nil {
		return CreatedProvider{}, err
	}
	if err := checkSchema(r, p, true); err != nil {
		return CreatedProvider{}, err
	}
	p.UpdatedAt, p.UpdatedBy = s.Now().UTC(), r.Client
	p.CreatedAt = p.UpdatedAt
	err := s.Providers.CreateProvider(ctx, p)
	switch {
	case errors.Is(err, screening.ErrProviderExists):
		err = errProviderExists
	case errors.Is(err, screening.ErrTooManyProviders):
		err = errTooManyProviders
	}
	return CreatedProvider{p.ID, p.Sets[0].ID}, err
}

// restoreKeys replaces the masked keys of a provider by the stored ones, and checks that the keys can be used together.
// stored is nil for a new provider.
func (s *Configurations) restoreKeys(ctx context.Context, r *platform.Request, p, stored *screening.Provider) error {
	if p.Adapter.HasMaskedKeys() && stored != nil {
		revealed, err := s.Providers.Reveal(ctx, *stored)
		if err != nil {
			return err
		}
		stored = &revealed
	}
	return r.Validate(func(v *platform.ValidationErrors) {
		for _, m := range p.RestoreMaskedKeys(stored) {
			v.Add(m.Property, m.Reason, platform.CodeSecret)
		}
		if a := p.Adapter; v.Count() == 0 && a != nil && a.EncryptionKey != "" &&
			a.EncryptionKey == a.AuthenticationKey {
			v.Add("adapterConfiguration.encryptionKey", "The two keys must differ.", CodeKey)
		}
	})
}

// findProvider reads the provider that the path names.
func (s *Configurations) findProvider(ctx context.Context, r *platform.Request) (screening.Provider, error) {
	return readProvider(ctx, r, s.Providers)
}

// providerGetter reads single providers. It is a part of screening.ProviderStore.
type providerGetter interface {
	GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error)
}

// readProvider reads the provider that the path names.
func readProvider(ctx context.Context, r *platform.Request, providers providerGetter) (screening.Provider, error) {
	id := r.PathValue("providerId")
	if len(id) > screening.MaxProviderID {
		return screening.Provider{}, errNoProvider
	}
	audit.AddObject(ctx, "providerId", id)
	p, err := providers.GetProvider(ctx, r.Tenant, id)
	if errors.Is(err, screening.ErrNotFound) {
		err = errNoProvider
	}
	return p, err
}

// editProvider changes the provider that find finds, and stores it.
func (s *Configurations) editProvider(ctx context.Context, r *platform.Request,
	find func() (screening.Provider, error), change func(p *screening.Provider) error) error {
	return retryConfiguration(func() error {
		previous, err := find()
		if err != nil {
			return err
		}
		p := previous
		p.Sets = slices.Clone(p.Sets)
		if err := change(&p); err != nil {
			return err
		}
		p.UpdatedAt, p.UpdatedBy = s.Now().UTC(), r.Client
		return s.Providers.SaveProvider(ctx, previous, p)
	})
}

// replaceProvider stores another adapter, schema, default set and validity of a provider. Its other sets stay, and must
// fit the schema. A masked key means the stored one.
func (s *Configurations) replaceProvider(ctx context.Context, r *platform.Request,
	in ReplaceProviderRequest) (platform.NoData, error) {
	find := func() (screening.Provider, error) { return s.findProvider(ctx, r) }
	return platform.NoData{}, s.editProvider(ctx, r, find, func(p *screening.Provider) error {
		stored := *p
		if p.IsBuiltIn() {
			return errBuiltIn
		}
		if *p = in.apply(*p); in.ID != "" && in.ID != p.ID {
			return r.Invalid("id", "The value must equal the ID in the path: a provider keeps its ID.", CodeProvider)
		}
		if err := s.restoreKeys(ctx, r, p, &stored); err != nil {
			return err
		}
		return checkSchema(r, *p, true)
	})
}

// replaceSchema stores another schema of a provider's settings. All sets must fit it.
func (s *Configurations) replaceSchema(ctx context.Context, r *platform.Request, in SchemaRequest) (platform.NoData,
	error) {
	find := func() (screening.Provider, error) { return s.findProvider(ctx, r) }
	return platform.NoData{}, s.editProvider(ctx, r, find, func(p *screening.Provider) error {
		if p.IsBuiltIn() {
			return errBuiltIn
		}
		p.Fields = fieldsOf(in.AdditionalSettingsSchema)
		return checkSchema(r, *p, false)
	})
}

// deleteProvider removes a provider with its sets, unless it is an active one.
func (s *Configurations) deleteProvider(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData,
	error) {
	return platform.NoData{}, retryConfiguration(func() error {
		p, err := s.findProvider(ctx, r)
		if err != nil {
			return err
		}
		if p.IsBuiltIn() {
			return errBuiltIn
		}
		settings, err := s.Settings.GetSettings(ctx, r.Tenant)
		if err != nil {
			return err
		}
		if err = s.Providers.DeleteProvider(ctx, p, settings); errors.Is(err, screening.ErrActive) {
			err = errActive
		}
		return err
	})
}

// retryConfiguration is retryIfChanged for the configuration.
func retryConfiguration(do func() error) error {
	if err := retryIfChanged(do); !errors.Is(err, errBusy) {
		return err
	}
	return errConfigurationBusy
}

// getProvider returns one provider, its keys masked.
func (s *Configurations) getProvider(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	ConfiguredProvider, error) {
	p, err := s.findProvider(ctx, r)
	if err != nil {
		return ConfiguredProvider{}, err
	}
	return configuredProviderOf(p), nil
}

// listProviders returns all providers of the tenant, their keys masked: the built-in one, then the others in the order
// of their IDs.
func (s *Configurations) listProviders(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]ConfiguredProvider, error) {
	providers, err := s.Providers.ListProviders(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	items := make([]ConfiguredProvider, len(providers))
	for i, p := range providers {
		items[i] = configuredProviderOf(p)
	}
	return items, nil
}
