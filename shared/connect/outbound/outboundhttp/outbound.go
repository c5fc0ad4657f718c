// Package outboundhttp serves the check of a receiver's certificates (docs/contract/external-authentication.md, Check)
// and the public keys by which others verify the client assertions of tenants.
package outboundhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/kit/jose"
)

// inspector inspects the certificates that receivers present.
type inspector interface {
	Inspect(ctx context.Context, u *url.URL, certificate *externalauth.Certificate) (outbound.Inspection, error)
}

// configurations lists the configurations of a tenant. Their secrets are not needed.
type configurations interface {
	List(ctx context.Context, tenant string) ([]externalauth.Configuration, error)
}

// keys lists the client keys of all tenants.
type keys interface {
	AllClientKeys(ctx context.Context) ([]outbound.ClientKey, error)
}

// Outbound answers the routes about calls to the outside.
type Outbound struct {
	Inspector      inspector
	Configurations configurations
	Keys           keys
	Now            func() time.Time

	mu sync.Mutex
	// set are the keys as read at readAt.
	set    jose.JWKSet
	readAt time.Time
}

const (
	checkPath = "/externalauthenticationquery/api/configuration/check"
	keysPath  = "/outbound/jwks.json"
	// keySetAge is how long the published keys may be used without reading them again. A key is never withdrawn, and a
	// new one signs only after its tenant knows it, so that the delay does no harm.
	keySetAge = time.Minute
)

// Routes returns the routes.
func (s *Outbound) Routes() []httpapi.Route {
	return httpapi.WithLimit(ratelimit.Platform, []httpapi.Route{
		{Method: http.MethodPost, Path: checkPath, Permissions: []string{permission.ExternalAuthenticationAccess},
			Query:    httpapi.NoQuery,
			Endpoint: platform.Endpoint(s.check, platform.ReadOnly(), platform.HideAttemptedValues())},
		{Method: http.MethodGet, Path: keysPath, Public: true, Limit: ratelimit.WholeAPI, Endpoint: s.keySet},
	}...)
}

// CheckRequest names the receiver that is to be looked at.
type CheckRequest struct {
	URL string `json:"url"`
}

// maxURLLength is the length of a URL, in characters.
const maxURLLength = 2048

// Check implements the check of platform.Endpoint.
func (r *CheckRequest) Check(v *platform.ValidationErrors) {
	v.RequireText("url", r.URL, maxURLLength)
}

// check looks at a receiver with the certificates that the tenant's configuration of its URL gives.
func (s *Outbound) check(ctx context.Context, r *platform.Request, in CheckRequest) (
	wire.PresentedCertificates, error) {
	invalid := func(message string) error {
		return r.Validate(func(v *platform.ValidationErrors) { v.Add("url", message, platform.CodeURL) })
	}
	u, err := url.Parse(in.URL)
	if err != nil {
		return wire.PresentedCertificates{}, invalid("The value is not a URL.")
	}
	all, err := s.Configurations.List(ctx, r.Tenant)
	if err != nil {
		return wire.PresentedCertificates{}, err
	}
	inspection, err := s.Inspector.Inspect(ctx, u, certificateFor(all, in.URL))
	if refused, ok := errors.AsType[*outbound.Error](err); ok {
		return wire.PresentedCertificates{}, invalid(refused.Message)
	}
	if err != nil {
		return wire.PresentedCertificates{}, err
	}
	return newCheckReply(inspection), nil
}

// certificateFor returns the certificate that a tenant's configurations have for a URL: of the endpoint, or that of the
// token endpoint which the URL is.
func certificateFor(all []externalauth.Configuration, target string) *externalauth.Certificate {
	for _, c := range all {
		if c.OAuth != nil && c.OAuth.URL == target {
			if c.OAuth.UseEndpointMTLS {
				return c.EndpointCertificate
			}
			return c.OAuth.EndpointCertificate
		}
	}
	if c, ok, err := externalauth.Choose(all, target); err == nil && ok {
		return c.EndpointCertificate
	}
	return nil
}

func newCheckReply(i outbound.Inspection) wire.PresentedCertificates {
	out := wire.PresentedCertificates{Chain: []wire.CertificateDetails{}, Decisions: []wire.CertificateDecision{}}
	for _, certificate := range i.Chain {
		out.Chain = append(out.Chain, wire.CertificateDetails(externalauth.DetailsOf(certificate)))
	}
	for _, d := range i.Decisions {
		out.Decisions = append(out.Decisions, wire.CertificateDecision{Mode: string(d.Mode), Accepted: d.Accepted,
			Reason: d.Reason})
	}
	return out
}

// keySet answers with the public keys of all client keys.
func (s *Outbound) keySet(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	set, err := s.loadKeySet(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	maxAge := fmt.Sprintf("public, max-age=%d", int64(keySetAge/time.Second))
	return httpapi.Reply{Header: http.Header{"Cache-Control": {maxAge}}, Body: set}, nil
}

// loadKeySet returns the keys as read at most keySetAge ago. An empty set is not remembered: a tenant that creates the
// first key wants to see it.
func (s *Outbound) loadKeySet(ctx context.Context) (jose.JWKSet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.Now(); len(s.set.Keys) == 0 || now.Sub(s.readAt) >= keySetAge {
		all, err := s.Keys.AllClientKeys(ctx)
		if err != nil {
			return jose.JWKSet{}, err
		}
		set, err := outbound.KeySet(all)
		if err != nil {
			return jose.JWKSet{}, err
		}
		s.set, s.readAt = set, now
	}
	return s.set, nil
}
