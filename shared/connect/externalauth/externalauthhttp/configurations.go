// Package externalauthhttp serves the configurations of external authentication
// (docs/contract/external-authentication.md, Configurations).
package externalauthhttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/fault"
)

// Configurations answers the routes of external authentication.
type Configurations struct {
	Store externalauth.Store
	// Address is the address of the API; "" means the one under which it is called.
	Address string
	Now     func() time.Time
	// NewID returns a new UUID for a configuration.
	NewID func() string
}

const (
	commandsPath = "/externalauthenticationcommand/api/configuration"
	queriesPath  = "/externalauthenticationquery/api/configuration"
)

// Routes returns the routes of external authentication.
func (s *Configurations) Routes() []httpapi.Route {
	access := []string{permission.ExternalAuthenticationAccess}
	return httpapi.WithLimit(ratelimit.Platform, []httpapi.Route{
		{Method: http.MethodPost, Path: commandsPath, Permissions: []string{permission.ExternalAuthenticationCreate},
			Endpoint: platform.Endpoint(s.create, platform.HideAttemptedValues())},
		{Method: http.MethodPut, Path: commandsPath, Permissions: []string{permission.ExternalAuthenticationEdit},
			Endpoint: platform.Endpoint(s.replace, platform.HideAttemptedValues())},
		{Method: http.MethodDelete, Path: commandsPath, Permissions: []string{permission.ExternalAuthenticationDelete},
			Endpoint: platform.Endpoint(s.delete)},
		{Method: http.MethodGet, Path: queriesPath + "/{configurationId}", Permissions: access,
			Endpoint: platform.Endpoint(s.get)},
		{Method: http.MethodGet, Path: queriesPath + "/getAll", Permissions: access,
			Endpoint: platform.Endpoint(s.list)},
	}...)
}

var (
	errNotFound = fault.New(fault.NotFound, "configuration_not_found", "There is no such configuration.")
	errChanged  = fault.New(fault.Conflict, "configuration_changed",
		"The configuration was changed at the same time. Read it again.")
	errDuplicateURL = fault.New(fault.Conflict, "configuration_url_taken",
		"Another configuration of the tenant has this URL, perhaps in another spelling. Change that one.")
	errTooMany = fault.Newf(fault.Conflict, "too_many_configurations",
		"The tenant has %d configurations already. Delete one first.", externalauth.MaxConfigurations)
)

// faultOf returns the fault for an outcome of the store, and every other error as it is.
func faultOf(err error) error {
	switch {
	case errors.Is(err, externalauth.ErrNotFound):
		return errNotFound
	case errors.Is(err, externalauth.ErrChanged):
		return errChanged.WithCause(err)
	case errors.Is(err, externalauth.ErrDuplicateURL):
		return errDuplicateURL
	case errors.Is(err, externalauth.ErrTooMany):
		return errTooMany
	}
	return err
}

// create stores a new configuration.
func (s *Configurations) create(ctx context.Context, r *platform.Request,
	in ConfigurationRequest) (platform.WithWarnings[wire.ExternalAuthenticationID], error) {
	c, warnings, err := s.configurationOf(r, in, nil)
	if err != nil {
		return platform.WithWarnings[wire.ExternalAuthenticationID]{}, err
	}
	c.ID = s.NewID()
	c.CreatedAt = c.UpdatedAt
	c.CarryOverNotices(nil, c.UpdatedAt)
	audit.AddObject(ctx, "configurationId", c.ID)
	if err := s.Store.Create(ctx, c); err != nil {
		return platform.WithWarnings[wire.ExternalAuthenticationID]{}, faultOf(err)
	}
	id := wire.ExternalAuthenticationID{ConfigurationID: c.ID}
	return platform.WithWarnings[wire.ExternalAuthenticationID]{Data: id, Messages: warnings}, nil
}

// replace replaces a configuration. A masked secret means the stored one; see
// externalauth.Configuration.RestoreMaskedSecrets.
func (s *Configurations) replace(ctx context.Context, r *platform.Request,
	in ConfigurationRequest) (platform.WithWarnings[wire.ExternalAuthenticationID], error) {
	previous, err := s.find(ctx, r)
	if err != nil {
		return platform.WithWarnings[wire.ExternalAuthenticationID]{}, err
	}
	revealed := previous
	if c := in.configuration(); c.HasMaskedSecrets() {
		if revealed, err = s.Store.Reveal(ctx, previous); err != nil {
			return platform.WithWarnings[wire.ExternalAuthenticationID]{}, err
		}
	}
	c, warnings, err := s.configurationOf(r, in, &revealed)
	if err != nil {
		return platform.WithWarnings[wire.ExternalAuthenticationID]{}, err
	}
	c.ID, c.CreatedAt = previous.ID, previous.CreatedAt
	c.CarryOverNotices(&previous, c.UpdatedAt)
	if err := s.Store.Save(ctx, previous, c); err != nil {
		return platform.WithWarnings[wire.ExternalAuthenticationID]{}, faultOf(err)
	}
	id := wire.ExternalAuthenticationID{ConfigurationID: c.ID}
	return platform.WithWarnings[wire.ExternalAuthenticationID]{Data: id, Messages: warnings}, nil
}

// configurationOf returns the configuration that the data of a request describes, and warnings about it. Stored is the
// one that it replaces, with its secrets; nil for a new one.
func (s *Configurations) configurationOf(r *platform.Request, in ConfigurationRequest,
	stored *externalauth.Configuration) (externalauth.Configuration, []platform.Message, error) {
	c := in.configuration()
	now := s.Now()
	c.Tenant, c.UpdatedAt, c.UpdatedBy = r.Tenant, now, r.Client
	var warnings []platform.Message
	err := r.Validate(func(v *platform.ValidationErrors) {
		check := checker{v}
		warnings = check.checkTimes(c, now)
		for _, m := range c.RestoreMaskedSecrets(stored) {
			v.Add(m.Property, m.Reason, platform.CodeSecret)
		}
	})
	return c, warnings, err
}

// find reads the configuration that a command's parameter names.
func (s *Configurations) find(ctx context.Context, r *platform.Request) (externalauth.Configuration, error) {
	id, err := r.QueryUUID("configurationId")
	if err != nil {
		return externalauth.Configuration{}, err
	}
	audit.AddObject(ctx, "configurationId", id)
	c, err := s.Store.Get(ctx, r.Tenant, id)
	return c, faultOf(err)
}

// delete removes a configuration.
func (s *Configurations) delete(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	c, err := s.find(ctx, r)
	if err != nil {
		return platform.NoData{}, err
	}
	return platform.NoData{}, faultOf(s.Store.Delete(ctx, c))
}

// get returns one configuration.
func (s *Configurations) get(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	wire.StoredExternalAuthentication, error) {
	id, err := r.PathUUID("configurationId")
	if err != nil {
		return wire.StoredExternalAuthentication{}, err
	}
	c, err := s.Store.Get(ctx, r.Tenant, id)
	if err != nil {
		return wire.StoredExternalAuthentication{}, faultOf(err)
	}
	gateway := httpapi.GatewayOf(ctx)
	return storedOf(c, httpapi.APIURL(s.Address, gateway.DomainName, gateway.Stage)), nil
}

// list returns all configurations.
func (s *Configurations) list(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]wire.ExternalAuthenticationItem, error) {
	configurations, err := s.Store.List(ctx, r.Tenant)
	if err != nil {
		return nil, err
	}
	items := []wire.ExternalAuthenticationItem{}
	for _, c := range configurations {
		items = append(items, listItemOf(c))
	}
	return items, nil
}
