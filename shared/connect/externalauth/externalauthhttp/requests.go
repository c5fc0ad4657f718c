package externalauthhttp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
)

const (
	// maxURL is the longest URL, in characters.
	maxURL = 2048
	// maxCertificate is the longest certificate in PEM, in characters.
	maxCertificate = 32_768
	// maxPairs is the largest number of headers or form values in one list.
	maxPairs = 50
	// maxValue is the longest secret, and the longest value of a header or a form field, in characters.
	maxValue = 8192
)

// ConfigurationRequest is the data of a new configuration, or the replacement of one.
type ConfigurationRequest struct {
	URL                 string              `json:"url"`
	IsMTLSEnabled       bool                `json:"isMtlsEnabled"`
	EndpointCertificate *CertificateRequest `json:"endpointCertificate"`
	Headers             []NameValue         `json:"headers"`
	OAuthConfiguration  *OAuthRequest       `json:"oAuthConfiguration"`
}

// CertificateRequest says which certificates a peer may show.
type CertificateRequest struct {
	IsPublicCA      *bool   `json:"isPublicCA"`
	Certificate     string  `json:"certificate"`
	NextCertificate string  `json:"nextCertificate"`
	ValidationMode  *string `json:"validationMode"`
}

// NameValue is a header or a form value.
type NameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// OAuthRequest is how access tokens are obtained.
type OAuthRequest struct {
	ClientCredentialsConfig *ClientCredentialsRequest `json:"clientCredentialsConfig"`
}

// ClientCredentialsRequest is a client of the client credentials grant.
type ClientCredentialsRequest struct {
	ClientID                     string              `json:"clientId"`
	URL                          string              `json:"url"`
	UseBasicAuthentication       *bool               `json:"useBasicAuthentication"`
	UseEndpointMTLSConfiguration *bool               `json:"useEndpointMtlsConfiguration"`
	ClientSecret                 string              `json:"clientSecret"`
	IsMTLSEnabled                bool                `json:"isMtlsEnabled"`
	IsJWTClientAssertionEnabled  bool                `json:"isJwtClientAssertionEnabled"`
	EndpointCertificate          *CertificateRequest `json:"endpointCertificate"`
	Headers                      []NameValue         `json:"headers"`
	FormValues                   []NameValue         `json:"formValues"`
	// AssertionValue is read-only: a sent value is ignored.
	AssertionValue *bool `json:"isJwtClientAssertionEnabledValue"`
}

// configuration returns the configuration of the data, without the values that the service adds.
func (in *ConfigurationRequest) configuration() externalauth.Configuration {
	c := externalauth.Configuration{
		URL: in.URL, IsMTLSEnabled: in.IsMTLSEnabled, EndpointCertificate: in.EndpointCertificate.certificate(),
		Headers: pairs(in.Headers),
	}
	if in.OAuthConfiguration == nil || in.OAuthConfiguration.ClientCredentialsConfig == nil {
		return c
	}
	o := in.OAuthConfiguration.ClientCredentialsConfig
	c.OAuth = &externalauth.OAuth{
		URL: o.URL, ClientID: o.ClientID, ClientSecret: externalauth.Secret(o.ClientSecret),
		UseBasicAuthentication: isTrue(o.UseBasicAuthentication), UseEndpointMTLS: isTrue(
			o.UseEndpointMTLSConfiguration),
		IsMTLSEnabled: o.IsMTLSEnabled, EndpointCertificate: o.EndpointCertificate.certificate(),
		IsJWTClientAssertionEnabled: o.IsJWTClientAssertionEnabled, Headers: pairs(o.Headers),
		FormValues: pairs(o.FormValues),
	}
	return c
}

func isTrue(b *bool) bool { return b != nil && *b }

func (in *CertificateRequest) certificate() *externalauth.Certificate {
	if in == nil {
		return nil
	}
	return &externalauth.Certificate{
		IsPublicCA: isTrue(in.IsPublicCA), PEM: in.Certificate, NextPEM: in.NextCertificate, Mode: in.mode(),
	}
}

// mode returns the validation mode, which may be an unknown one.
func (in *CertificateRequest) mode() externalauth.ValidationMode {
	if in.ValidationMode == nil {
		return externalauth.ValidationModes[0]
	}
	return externalauth.ValidationMode(*in.ValidationMode)
}

func pairs(values []NameValue) []externalauth.NameValue {
	var out []externalauth.NameValue
	for _, v := range values {
		out = append(out, externalauth.NameValue{Name: v.Name, Value: externalauth.Secret(v.Value)})
	}
	return out
}

// Check adds the errors of the data that do not depend on the time or on stored data.
func (in *ConfigurationRequest) Check(errs *platform.ValidationErrors) {
	v := checker{errs}
	v.RequireText("url", in.URL, maxURL)
	if in.URL != "" {
		_, err := externalauth.CanonicalURL(in.URL)
		v.addError("url", err, platform.CodeURL)
	}
	v.RequireValue("endpointCertificate", in.EndpointCertificate != nil || !in.IsMTLSEnabled)
	v.checkCertificate("endpointCertificate", in.EndpointCertificate)
	v.checkHeaders("headers", in.Headers, func(name string) bool {
		return name == "authorization" && in.OAuthConfiguration != nil
	})
	if in.OAuthConfiguration != nil {
		o := in.OAuthConfiguration.ClientCredentialsConfig
		if v.RequireValue("oAuthConfiguration.clientCredentialsConfig", o != nil); o != nil {
			v.checkClient(clientPrefix, o)
		}
	}
}

// clientPrefix begins the properties of the OAuth client.
const clientPrefix = "oAuthConfiguration.clientCredentialsConfig."

// checker checks the data of one request.
type checker struct{ *platform.ValidationErrors }

// checkClient checks the OAuth client.
func (v *checker) checkClient(prefix string, o *ClientCredentialsRequest) {
	v.RequireText(prefix+"clientId", o.ClientID, platform.MaxName)
	v.RequireText(prefix+"url", o.URL, maxURL)
	if o.URL != "" {
		v.addError(prefix+"url", externalauth.CheckTokenURL(o.URL), platform.CodeURL)
	}
	v.RequireValue(prefix+"useBasicAuthentication", o.UseBasicAuthentication != nil)
	v.RequireValue(prefix+"useEndpointMtlsConfiguration", o.UseEndpointMTLSConfiguration != nil)
	v.CheckText(prefix+"clientSecret", o.ClientSecret, maxValue)
	usesBasic := isTrue(o.UseBasicAuthentication)
	v.RequireValue(prefix+"clientSecret", o.ClientSecret != "" || !usesBasic)
	if usesBasic && o.IsJWTClientAssertionEnabled {
		v.Add(prefix+"isJwtClientAssertionEnabled",
			"A client that authenticates by an assertion does not authenticate by HTTP Basic as well.",
			platform.CodeOneOf)
	}
	needsCertificate := o.IsMTLSEnabled && !isTrue(o.UseEndpointMTLSConfiguration)
	v.RequireValue(prefix+"endpointCertificate", o.EndpointCertificate != nil || !needsCertificate)
	v.checkCertificate(prefix+"endpointCertificate", o.EndpointCertificate)
	v.checkHeaders(prefix+"headers", o.Headers, func(name string) bool { return name == "authorization" && usesBasic })
	v.checkFormValues(prefix+"formValues", o.FormValues)
}

func (v *checker) checkCertificate(property string, in *CertificateRequest) {
	if in == nil {
		return
	}
	v.RequireValue(property+".isPublicCA", in.IsPublicCA != nil)
	isNeeded := in.IsPublicCA != nil && !*in.IsPublicCA || in.NextCertificate != ""
	v.RequireValue(property+".certificate", in.Certificate != "" || !isNeeded)
	if in.ValidationMode != nil {
		var names []string
		for _, m := range externalauth.ValidationModes {
			names = append(names, string(m))
		}
		v.RequireOneOf(property+".validationMode", *in.ValidationMode, names...)
	}
	v.checkPEM(property+".certificate", in.Certificate, in.mode())
	v.checkPEM(property+".nextCertificate", in.NextCertificate, in.mode())
}

func (v *checker) checkPEM(property, text string, mode externalauth.ValidationMode) {
	switch {
	case text == "":
	case len(text) > maxCertificate:
		v.CheckText(property, text, maxCertificate)
	default:
		_, err := externalauth.CheckPEM(text, mode)
		v.addError(property, err, platform.CodeCertificate)
	}
}

// expiryWarning is how long before its end a certificate that is stored gets a warning.
const expiryWarning = 30 * 24 * time.Hour

// checkTimes adds the certificates of a configuration that have expired, and returns remarks on the others.
func (v *checker) checkTimes(c externalauth.Configuration, now time.Time) (warnings []platform.Message) {
	for _, given := range c.Certificates() {
		end := given.Certificate.NotAfter
		switch {
		case now.After(end):
			v.Add(given.Property, "The certificate expired at "+end.UTC().Format(time.RFC3339)+".",
				platform.CodeCertificate)
		case given.Mode == externalauth.PinLeafThumbprint && externalauth.IsIntermediate(given.Certificate):
			warnings = append(warnings, platform.Warning("certificate_is_ca",
				given.Property+" is the certificate of a CA. With PinLeafThumbprint, only a receiver that presents "+
					"this certificate itself is accepted, and none that it has signed."))
		case end.Sub(now) < expiryWarning:
			warnings = append(warnings, platform.Warning("certificate_ends_soon",
				given.Property+" is valid until "+end.UTC().Format(time.RFC3339)+"."))
		}
	}
	return warnings
}

// reservedHeaders are those that the service or HTTP itself sets.
var reservedHeaders = []string{"host", "content-length", "content-type", "transfer-encoding", "connection",
	"keep-alive", "proxy-connection", "upgrade", "te", "trailer", "expect", "accept-encoding", "x-signature"}

// reservedHeaderPrefixes begin further ones.
var reservedHeaderPrefixes = []string{"x-sluice-", "proxy-"}

// checkHeaders checks a list of headers. isTaken reports whether a name, in lower case, is set by another part of the
// configuration.
func (v *checker) checkHeaders(property string, headers []NameValue, isTaken func(name string) bool) {
	if !v.CheckCount(property, len(headers), maxPairs) {
		return
	}
	for i, h := range headers {
		at := fmt.Sprintf("%s.%d", property, i)
		v.checkPair(at, h)
		name := strings.ToLower(h.Name)
		switch {
		case h.Name != "" && strings.ContainsFunc(h.Name, isNoHeaderNameChar):
			v.Add(at+".name", "The value is not the name of a header.", platform.CodeHeader)
		case isReserved(name):
			v.Add(at+".name", "The service sets this header itself.", platform.CodeHeader)
		case isTaken(name):
			v.Add(at+".name", "The configuration of OAuth sets this header.", platform.CodeHeader)
		}
		if strings.TrimSpace(h.Value) != h.Value || strings.ContainsFunc(h.Value,
			func(r rune) bool { return r < ' ' || r > '~' }) {
			v.Add(at+".value", "The value must consist of printable ASCII characters and must not begin or end with "+
				"a space.",
				platform.CodeHeader)
		}
	}
}

// headerNameChars are the characters of header names (RFC 9110, section 5.6.2).
const headerNameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"

func isNoHeaderNameChar(r rune) bool { return !strings.ContainsRune(headerNameChars, r) }

func isReserved(name string) bool {
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.Contains(reservedHeaders, name) || slices.ContainsFunc(reservedHeaderPrefixes, hasPrefix)
}

// reservedFormValues are those that the service sets in a token request.
var reservedFormValues = []string{"grant_type", "client_id", "client_secret", "client_assertion",
	"client_assertion_type"}

func (v *checker) checkFormValues(property string, values []NameValue) {
	if !v.CheckCount(property, len(values), maxPairs) {
		return
	}
	for i, f := range values {
		at := fmt.Sprintf("%s.%d", property, i)
		v.checkPair(at, f)
		if slices.Contains(reservedFormValues, f.Name) {
			v.Add(at+".name", "The service sets this form value itself.", platform.CodeFormValue)
		}
	}
}

func (v *checker) checkPair(property string, p NameValue) {
	v.RequireText(property+".name", p.Name, platform.MaxName)
	v.RequireText(property+".value", p.Value, maxValue)
}

// addError adds an error of the domain, unless it is nil, as a sentence.
func (v *checker) addError(property string, err error, code string) {
	if err != nil {
		text := err.Error()
		v.Add(property, strings.ToUpper(text[:1])+text[1:]+".", code)
	}
}
