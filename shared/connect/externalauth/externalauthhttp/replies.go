package externalauthhttp

import (
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
)

// IDReply is the reply to a command.
type IDReply struct {
	ConfigurationID string `json:"configurationId"`
}

// authType is the one kind of OAuth configuration there is.
const authType = "OAuthClientCredentials"

// StoredConfiguration is a configuration as it is read, its secrets masked.
type StoredConfiguration struct {
	ID                  string            `json:"id"`
	TenantID            string            `json:"tenantId"`
	URL                 string            `json:"url"`
	IsMTLSEnabled       bool              `json:"isMtlsEnabled"`
	Headers             []NameValue       `json:"headers"`
	EndpointCertificate *CertificateReply `json:"endpointCertificate"`
	OAuthConfiguration  *OAuthReply       `json:"oAuthConfiguration"`
}

// CertificateReply says which certificates a peer may show.
type CertificateReply struct {
	IsPublicCA             bool                        `json:"isPublicCA"`
	Certificate            *string                     `json:"certificate"`
	CertificateDetails     *CertificateDetails         `json:"certificateDetails"`
	NextCertificate        *string                     `json:"nextCertificate"`
	NextCertificateDetails *CertificateDetails         `json:"nextCertificateDetails"`
	ValidationMode         externalauth.ValidationMode `json:"validationMode"`
}

// CertificateDetails describes a certificate.
type CertificateDetails struct {
	Subject          string    `json:"subject"`
	Issuer           string    `json:"issuer"`
	Serial           string    `json:"serial"`
	NotBefore        time.Time `json:"notBefore"`
	NotAfter         time.Time `json:"notAfter"`
	ThumbprintSHA1   string    `json:"thumbprintSha1"`
	ThumbprintSHA256 string    `json:"thumbprintSha256"`
}

// OAuthReply is how access tokens are obtained.
type OAuthReply struct {
	AuthType                string                 `json:"authType"`
	ClientCredentialsConfig ClientCredentialsReply `json:"clientCredentialsConfig"`
}

// ClientCredentialsReply is a client of the client credentials grant.
type ClientCredentialsReply struct {
	ClientID                     string  `json:"clientId"`
	ClientSecret                 *string `json:"clientSecret"`
	UseBasicAuthentication       bool    `json:"useBasicAuthentication"`
	UseMTLSEndpointConfiguration bool    `json:"useMtlsEndpointConfiguration"`
	// EndpointCertificate is the same as that inside TokenEndpoint.
	EndpointCertificate *CertificateReply  `json:"endpointCertificate"`
	TokenEndpoint       TokenEndpointReply `json:"tokenEndpoint"`
}

// TokenEndpointReply is a token endpoint and how it is called.
type TokenEndpointReply struct {
	URL                         string    `json:"url"`
	IsMTLSEnabled               bool      `json:"isMtlsEnabled"`
	MTLSConfiguration           MTLSReply `json:"mtlsConfiguration"`
	IsJWTClientAssertionEnabled bool      `json:"isJwtClientAssertionEnabled"`
	// JWKSURL is where the token endpoint finds the key that verifies assertions; nil without assertions.
	JWKSURL        *string     `json:"jwksUrl"`
	Headers        []NameValue `json:"headers"`
	FormProperties []NameValue `json:"formProperties"`
}

// MTLSReply is the certificate of a token endpoint.
type MTLSReply struct {
	EndpointCertificate *CertificateReply `json:"endpointCertificate"`
}

// jwksPath is where the keys of client assertions are published.
const jwksPath = "/outbound/jwks.json"

// storedOf returns a configuration as it is read. apiURL is the address of the API.
func storedOf(c externalauth.Configuration, apiURL string) StoredConfiguration {
	out := StoredConfiguration{
		ID: c.ID, TenantID: c.Tenant, URL: c.URL, IsMTLSEnabled: c.IsMTLSEnabled, Headers: maskedPairs(c.Headers),
		EndpointCertificate: certificateOf(c.EndpointCertificate),
	}
	o := c.OAuth
	if o == nil {
		return out
	}
	certificate := certificateOf(o.EndpointCertificate)
	endpoint := TokenEndpointReply{
		URL: o.URL, IsMTLSEnabled: o.IsMTLSEnabled, MTLSConfiguration: MTLSReply{certificate},
		IsJWTClientAssertionEnabled: o.IsJWTClientAssertionEnabled, Headers: maskedPairs(o.Headers),
		FormProperties: formProperties(o.FormValues),
	}
	if o.IsJWTClientAssertionEnabled {
		address := apiURL + jwksPath
		endpoint.JWKSURL = &address
	}
	out.OAuthConfiguration = &OAuthReply{AuthType: authType, ClientCredentialsConfig: ClientCredentialsReply{
		ClientID: o.ClientID, ClientSecret: platform.OrNull(o.ClientSecret.String()),
		UseBasicAuthentication:       o.UseBasicAuthentication,
		UseMTLSEndpointConfiguration: o.UseEndpointMTLS, EndpointCertificate: certificate, TokenEndpoint: endpoint,
	}}
	return out
}

func certificateOf(c *externalauth.Certificate) *CertificateReply {
	if c == nil {
		return nil
	}
	return &CertificateReply{
		IsPublicCA: c.IsPublicCA, Certificate: platform.OrNull(c.PEM), CertificateDetails: detailsOf(c.PEM),
		NextCertificate: platform.OrNull(c.NextPEM), NextCertificateDetails: detailsOf(c.NextPEM),
		ValidationMode: c.Mode,
	}
}

// detailsOf describes a stored certificate; nil if there is none, or if this release cannot read a certificate that an
// earlier one could.
func detailsOf(text string) *CertificateDetails {
	c, err := externalauth.ParsePEM(text)
	if err != nil {
		return nil
	}
	details := CertificateDetails(externalauth.DetailsOf(c))
	return &details
}

// maskedPairs returns headers with masked values.
func maskedPairs(values []externalauth.NameValue) []NameValue {
	out := []NameValue{}
	for _, v := range values {
		out = append(out, NameValue{v.Name, v.Value.String()})
	}
	return out
}

// formProperties returns form values, masked unless they are public.
func formProperties(values []externalauth.NameValue) []NameValue {
	out := maskedPairs(values)
	for i, v := range values {
		if externalauth.IsPublicFormValue(v.Name) {
			out[i].Value = v.Value.Reveal()
		}
	}
	return out
}

// ListItem is a configuration in a list.
type ListItem struct {
	ID                  string         `json:"id"`
	URL                 string         `json:"url"`
	IsMTLSEnabled       bool           `json:"isMtlsEnabled"`
	HasHeaders          bool           `json:"hasHeaders"`
	ContainsCertificate bool           `json:"containsCertificate"`
	IsOAuthEnabled      bool           `json:"isOauthEnabled"`
	OAuthConfiguration  *ListItemOAuth `json:"oAuthConfiguration"`
}

// ListItemOAuth is the OAuth part of a ListItem.
type ListItemOAuth struct {
	AuthType          string         `json:"authType"`
	ClientCredentials ListItemClient `json:"clientCredentials"`
}

// ListItemClient is the OAuth client of a ListItem.
type ListItemClient struct {
	URL                          string `json:"url"`
	IsMTLSEnabled                bool   `json:"isMtlsEnabled"`
	IsJWTClientAssertionEnabled  bool   `json:"isJwtClientAssertionEnabled"`
	HasFormValues                bool   `json:"hasFormValues"`
	HasHeaders                   bool   `json:"hasHeaders"`
	ContainsCertificate          bool   `json:"containsCertificate"`
	UseBasicAuthentication       bool   `json:"useBasicAuthentication"`
	UseMTLSEndpointConfiguration bool   `json:"useMtlsEndpointConfiguration"`
}

func listItemOf(c externalauth.Configuration) ListItem {
	out := ListItem{
		ID: c.ID, URL: c.URL, IsMTLSEnabled: c.IsMTLSEnabled, HasHeaders: len(c.Headers) > 0,
		ContainsCertificate: containsCertificate(c.EndpointCertificate), IsOAuthEnabled: c.OAuth != nil,
	}
	if o := c.OAuth; o != nil {
		out.OAuthConfiguration = &ListItemOAuth{AuthType: authType, ClientCredentials: ListItemClient{
			URL: o.URL, IsMTLSEnabled: o.IsMTLSEnabled, IsJWTClientAssertionEnabled: o.IsJWTClientAssertionEnabled,
			HasFormValues: len(o.FormValues) > 0, HasHeaders: len(o.Headers) > 0,
			ContainsCertificate:          containsCertificate(o.EndpointCertificate),
			UseBasicAuthentication:       o.UseBasicAuthentication,
			UseMTLSEndpointConfiguration: o.UseEndpointMTLS,
		}}
	}
	return out
}

func containsCertificate(c *externalauth.Certificate) bool { return c != nil && c.PEM != "" }
