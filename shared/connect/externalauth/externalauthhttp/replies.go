package externalauthhttp

import (
	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
)

// authType is the one kind of OAuth configuration there is.
const authType = "OAuthClientCredentials"

// jwksPath is where the keys of client assertions are published.
const jwksPath = "/outbound/jwks.json"

// storedOf returns a configuration as it is read. apiURL is the address of the API.
func storedOf(c externalauth.Configuration, apiURL string) wire.StoredExternalAuthentication {
	out := wire.StoredExternalAuthentication{
		ID: c.ID, TenantID: c.Tenant, URL: c.URL, IsMTLSEnabled: c.IsMTLSEnabled, Headers: maskedPairs(c.Headers),
		EndpointCertificate: certificateOf(c.EndpointCertificate),
	}
	o := c.OAuth
	if o == nil {
		return out
	}
	certificate := certificateOf(o.EndpointCertificate)
	endpoint := wire.StoredTokenEndpoint{
		URL: o.URL, IsMTLSEnabled: o.IsMTLSEnabled,
		MTLSConfiguration:           wire.StoredMTLSConfiguration{EndpointCertificate: certificate},
		IsJWTClientAssertionEnabled: o.IsJWTClientAssertionEnabled, Headers: maskedPairs(o.Headers),
		FormProperties: formProperties(o.FormValues),
	}
	if o.IsJWTClientAssertionEnabled {
		address := apiURL + jwksPath
		endpoint.JWKSURL = &address
	}
	client := wire.StoredClientCredentials{
		ClientID: o.ClientID, ClientSecret: platform.OrNull(o.ClientSecret.String()),
		UseBasicAuthentication:       o.UseBasicAuthentication,
		UseMTLSEndpointConfiguration: o.UseEndpointMTLS, EndpointCertificate: certificate, TokenEndpoint: endpoint,
	}
	out.OAuthConfiguration = &wire.StoredOAuthConfiguration{AuthType: authType, ClientCredentialsConfig: client}
	return out
}

func certificateOf(c *externalauth.Certificate) *wire.StoredCertificate {
	if c == nil {
		return nil
	}
	return &wire.StoredCertificate{
		IsPublicCA: c.IsPublicCA, Certificate: platform.OrNull(c.PEM), CertificateDetails: detailsOf(c.PEM),
		NextCertificate: platform.OrNull(c.NextPEM), NextCertificateDetails: detailsOf(c.NextPEM),
		ValidationMode: string(c.Mode),
	}
}

// detailsOf describes a stored certificate; nil if there is none, or if this release cannot read a certificate that an
// earlier one could.
func detailsOf(text string) *wire.CertificateDetails {
	c, err := externalauth.ParsePEM(text)
	if err != nil {
		return nil
	}
	details := wire.CertificateDetails(externalauth.DetailsOf(c))
	return &details
}

// maskedPairs returns headers with masked values.
func maskedPairs(values []externalauth.NameValue) []wire.StoredPair {
	out := []wire.StoredPair{}
	for _, v := range values {
		out = append(out, wire.StoredPair{Name: v.Name, Value: v.Value.String()})
	}
	return out
}

// formProperties returns form values, masked unless they are public.
func formProperties(values []externalauth.NameValue) []wire.StoredPair {
	out := maskedPairs(values)
	for i, v := range values {
		if externalauth.IsPublicFormValue(v.Name) {
			out[i].Value = v.Value.Reveal()
		}
	}
	return out
}

func listItemOf(c externalauth.Configuration) wire.ExternalAuthenticationItem {
	out := wire.ExternalAuthenticationItem{
		ID: c.ID, URL: c.URL, IsMTLSEnabled: c.IsMTLSEnabled, HasHeaders: len(c.Headers) > 0,
		ContainsCertificate: containsCertificate(c.EndpointCertificate), IsOauthEnabled: c.OAuth != nil,
	}
	if o := c.OAuth; o != nil {
		client := wire.ExternalAuthenticationItemClient{
			URL: o.URL, IsMTLSEnabled: o.IsMTLSEnabled, IsJWTClientAssertionEnabled: o.IsJWTClientAssertionEnabled,
			HasFormValues: len(o.FormValues) > 0, HasHeaders: len(o.Headers) > 0,
			ContainsCertificate:          containsCertificate(o.EndpointCertificate),
			UseBasicAuthentication:       o.UseBasicAuthentication,
			UseMTLSEndpointConfiguration: o.UseEndpointMTLS,
		}
		out.OAuthConfiguration = &wire.ExternalAuthenticationItemOAuth{AuthType: authType, ClientCredentials: client}
	}
	return out
}

func containsCertificate(c *externalauth.Certificate) bool { return c != nil && c.PEM != "" }
