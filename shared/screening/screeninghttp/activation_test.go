package screeninghttp_test

import (
	"context"
	"strings"
	"testing"

	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

// hookedProviders calls its functions once each: before a provider is saved or deleted, and after all are listed.
type hookedProviders struct {
	*screeningdb.Providers
	beforeSave, beforeDelete, afterList func()
}

func callOnce(f *func()) {
	if call := *f; call != nil {
		*f = nil
		call()
	}
}

func (s *hookedProviders) SaveProvider(ctx context.Context, previous, p screening.Provider) error {
	callOnce(&s.beforeSave)
	return s.Providers.SaveProvider(ctx, previous, p)
}

func (s *hookedProviders) DeleteProvider(ctx context.Context, p screening.Provider, settings screening.Settings) error {
	callOnce(&s.beforeDelete)
	return s.Providers.DeleteProvider(ctx, p, settings)
}

func (s *hookedProviders) ListProviders(ctx context.Context, tenant string) ([]screening.Provider, error) {
	all, err := s.Providers.ListProviders(ctx, tenant)
	callOnce(&s.afterList)
	return all, err
}

// A provider that is made active while it is deleted, or deleted while it is made active, is one of both.
func TestDeletionAndActivationMeet(t *testing.T) {
	t.Parallel()
	a := newConfigurationAPI(t)
	a.succeed("POST", providersPath, providerBody(nil), nil)
	const configuration, activate = commands + "/configuration", `{"data":{"activeProviders":["acme"]}}`
	a.providerHook.beforeDelete = func() { a.succeed("PATCH", configuration, activate, nil) }
	if message := a.refuse(409, "CONFLICT", "DELETE", providersPath+"/acme", ""); !strings.Contains(message,
		"activeProviders") {
		t.Errorf("the refusal is %q, want that the provider is active", message)
	}
	a.getProvider("acme")

	a.succeed("POST", configuration, `{"data":{}}`, nil)
	a.providerHook.afterList = func() { a.succeed("DELETE", providersPath+"/acme", "", nil) }
	if message := a.refuse(400, "invalid_request", "PATCH", configuration, activate); !strings.Contains(message,
		"activeProviders.0") {
		t.Errorf("the refusal is %q, want that there is no such provider", message)
	}
	var settings screeninghttp.SettingsReply
	a.succeed("GET", queries+"/configuration", "", &settings)
	if len(settings.ActiveProviders) != 1 || settings.ActiveProviders[0] != screening.BuiltIn {
		t.Errorf("the active providers are %v, want the built-in one", settings.ActiveProviders)
	}
	// A change of something else is no reason to refuse.
	a.succeed("POST", providersPath, providerBody(nil), nil)
	a.providerHook.beforeDelete = func() { a.succeed("PATCH", configuration, `{"data":{"threshold":90}}`, nil) }
	a.succeed("DELETE", providersPath+"/acme", "", nil)
}
