package outbound_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Each case of certificates at the token endpoint, with rules of its own and with the endpoint's rules.
func TestCertificatesOfTokenEndpoint(t *testing.T) {
	t.Parallel()
	eachTLSCase(t, func(t *testing.T, c tlsCase, certificate *externalauth.Certificate, publicCAs *x509.CertPool,
		want outbound.Reason) {
		tokens := newIssuer(t, c.presented)
		for _, useEndpoint := range []bool{false, true} {
			target := &receiver{}
			oauth := &externalauth.OAuth{URL: urlOf(c, tokens.Server), UseEndpointMTLS: useEndpoint}
			configuration := externalauth.Configuration{ID: "c", Version: 1, OAuth: oauth}
			if useEndpoint {
				target.Server = outboundtest.NewServer(t, c.presented, target)
				configuration.EndpointCertificate = certificate
				oauth.EndpointCertificate = &externalauth.Certificate{} // must not count
			} else {
				root := outboundtest.NewRoot(t, "root of the receiver")
				target.Server = outboundtest.NewServer(t, root.Issue(outboundtest.Leaf{}), target)
				configuration.EndpointCertificate = &externalauth.Certificate{
					Mode: externalauth.SignerChainValidationOnly, PEM: outboundtest.PEM(root.Certificate.Raw)}
				oauth.EndpointCertificate = certificate
			}
			configuration.URL = target.URL
			if useEndpoint {
				configuration.URL = urlOf(c, target.Server)
			}
			client := newClient(t, configuration)
			client.PublicCAs = publicCAs
			_, err := client.Do(t.Context(), tenant, newRequest(t, configuration.URL+"/event", "{}"))
			if want == "" {
				errtest.Is(t, fmt.Sprintf("useEndpointMtlsConfiguration %v", useEndpoint), err, nil)
				continue
			}
			wantReason(t, err, want)
			if !strings.Contains(fmt.Sprint(err), "At the token endpoint") {
				t.Errorf("useEndpointMtlsConfiguration %v: got the error %v, want one of the token endpoint",
					useEndpoint, err)
			}
			difftest.Equal(t, "requests were sent", int32(0), tokens.count.Load()+target.count.Load())
		}
	})
}

// The client certificate at the token endpoint, and a failure to present it.
func TestClientCertificateAtTokenEndpoint(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	kms := outboundtest.NewKMS(t)
	key := root.Certify(outboundtest.NewClientKey(t, kms, tenant), outboundtest.Leaf{})
	certificate := root.Issue(outboundtest.Leaf{})
	wanted := wantClientCertificate(root, tls.RequireAndVerifyClientCert, tls.VersionTLS13)
	for _, test := range []struct {
		name                           string
		endpoint, tokens, useEndpoint  bool
		endpointWants, tokenWants, has bool
		want                           outbound.Reason
	}{
		{name: "own, enabled", tokens: true, tokenWants: true, has: true},
		{name: "own, not enabled", endpoint: true, endpointWants: true, tokenWants: true, has: true,
			want: outbound.ClientCertificateRefused},
		{name: "the endpoint's, enabled", endpoint: true, useEndpoint: true, endpointWants: true, tokenWants: true,
			has: true},
		{name: "the endpoint's, not enabled", tokens: true, useEndpoint: true, tokenWants: true, has: true,
			want: outbound.ClientCertificateRefused},
		{name: "no certificate", tokens: true, tokenWants: true, want: outbound.ClientCertificateUnusable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := func(wants bool) []func(*tls.Config) {
				if wants {
					return []func(*tls.Config){wanted}
				}
				return nil
			}
			tokens, target := newIssuer(t, certificate, options(test.tokenWants)...), &receiver{}
			target.Server = outboundtest.NewServer(t, certificate, target, options(test.endpointWants)...)
			client := newClient(t, externalauth.Configuration{
				ID: "c", URL: target.URL, IsMTLSEnabled: test.endpoint, OAuth: &externalauth.OAuth{
					URL: tokens.URL, IsMTLSEnabled: test.tokens, UseEndpointMTLS: test.useEndpoint}})
			client.PublicCAs, client.KMS, client.Keys = outboundtest.Pool(root), kms, outboundtest.NewKeys()
			if test.has {
				client.Keys = outboundtest.NewKeys(key)
			}
			wantCall(t, client, target.URL, test.want)
		})
	}
}
