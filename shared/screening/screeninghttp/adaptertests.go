package screeninghttp

import (
	"context"
	"crypto/x509"
	"net/http"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// AdapterTests answers the route that tests the adapter of a provider.
type AdapterTests struct {
	// Providers is a part of screening.ProviderStore.
	Providers interface {
		providerGetter
		Reveal(ctx context.Context, p screening.Provider) (screening.Provider, error)
	}
	Adapters adapterTester
	// NewID returns a new UUID for a message.
	NewID func() string
}

// adapterTester tests adapters.
type adapterTester interface {
	// Test tests the adapter of a provider as execution.AdapterTests does.
	Test(ctx context.Context, p screening.Provider, id string) (presented []*x509.Certificate,
		refusal *screening.ProviderError, err error)
}

// Routes returns the route that tests the adapter of a provider.
func (s *AdapterTests) Routes() []httpapi.Route {
	return []httpapi.Route{{Method: http.MethodPost,
		Path:  commandsPath + "/configuration/provider/{providerId}/test",
		Limit: ratelimit.Platform, Permissions: []string{permission.ScreeningConfigurationEdit}, Query: httpapi.NoQuery,
		Endpoint: platform.Endpoint(s.test, platform.ReadOnly())}}
}

// test sends a Test message to the adapter of the provider that the path names.
func (s *AdapterTests) test(ctx context.Context, r *platform.Request, _ platform.NoBody) (wire.AdapterTest, error) {
	p, err := readProvider(ctx, r, s.Providers)
	if err != nil {
		return wire.AdapterTest{}, err
	}
	if p, err = s.Providers.Reveal(ctx, p); err != nil {
		return wire.AdapterTest{}, err
	}
	if _, err := adapter.KeysOf(p); err != nil {
		return wire.AdapterTest{}, fault.New(fault.BadRequest, "adapter_not_configured",
			"The provider cannot be tested: "+err.Error()+".")
	}
	presented, refusal, err := s.Adapters.Test(ctx, p, s.NewID())
	if err != nil {
		return wire.AdapterTest{}, err
	}
	out := wire.AdapterTest{Accepted: refusal == nil, Chain: make([]wire.CertificateDetails, len(presented))}
	if refusal != nil {
		out.Reason = refusal.Message
	}
	for i, certificate := range presented {
		out.Chain[i] = wire.CertificateDetails(externalauth.DetailsOf(certificate))
	}
	return out, nil
}
