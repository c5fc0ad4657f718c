// Package externalauth holds a tenant's configurations of calls to the outside: which certificate the receiver must
// present, and by which client certificate, headers and OAuth client the service authenticates itself.
// Package externalauth/externalauthdb stores them, externalauth/externalauthhttp serves them.
package externalauth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Configuration says how the URLs that begin with URL are called; see Choose.
type Configuration struct {
	// ID is a UUID in lower case.
	ID     string
	Tenant string
	// URL is an absolute https URL, as it was sent. CanonicalURL makes two spellings of one URL equal.
	URL string
	// IsMTLSEnabled makes the service show the tenant's client certificate.
	IsMTLSEnabled bool
	// EndpointCertificate says which certificates of the receiver are accepted; nil means those of a public CA. It is
	// enforced with and without IsMTLSEnabled.
	EndpointCertificate *Certificate
	// Headers are added to each request, in this order.
	Headers []NameValue
	// OAuth is the client that gets access tokens for the URL; nil for none.
	OAuth *OAuth

	// Noticed holds, by the ThumbprintSHA256 of each certificate in force, the time up to which all notices of its end
	// have been sent or are not wanted; see CarryOverNotices.
	Noticed map[string]time.Time

	CreatedAt time.Time
	UpdatedAt time.Time
	// UpdatedBy is the ID of the client that saved the configuration last.
	UpdatedBy string
	// Version is 1 for a new configuration and grows by one with every change. Writes are conditional on it, and what
	// is cached for a configuration is cached for one version.
	Version int64
	// Sealed holds the secrets as they are stored; only the store reads it. It is empty if there are none.
	Sealed []byte
}

// OAuth is a client of the client credentials grant (RFC 6749, section 4.4).
type OAuth struct {
	// URL is the token endpoint.
	URL      string
	ClientID string
	// ClientSecret is "" for a client without a secret.
	ClientSecret Secret
	// UseBasicAuthentication sends ID and secret in the Authorization header, otherwise in the form.
	UseBasicAuthentication bool
	// UseEndpointMTLS makes the configuration's own IsMTLSEnabled and EndpointCertificate apply to the token endpoint,
	// in place of those here.
	UseEndpointMTLS bool
	// IsMTLSEnabled and EndpointCertificate are as in Configuration, for the token endpoint.
	IsMTLSEnabled       bool
	EndpointCertificate *Certificate
	// IsJWTClientAssertionEnabled makes the client authenticate by private_key_jwt (RFC 7523), signed by the tenant's
	// client key.
	IsJWTClientAssertionEnabled bool
	// Headers and FormValues are added to each token request.
	Headers    []NameValue
	FormValues []NameValue
}

// NameValue is a header or a form value. Names may repeat.
type NameValue struct {
	Name  string
	Value Secret
}

// Secret is a text that cannot be printed, logged or encoded by accident: all of these show Mask in its place.
type Secret string

// Mask is shown in place of a secret.
const Mask = "********"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// IsMasked reports whether the secret was replaced by Mask.
func (s Secret) IsMasked() bool { return s == Mask }

// Masked returns Mask, or "" for an empty secret.
func (s Secret) Masked() Secret {
	if s == "" {
		return ""
	}
	return Mask
}

// String implements fmt.Stringer.
func (s Secret) String() string { return string(s.Masked()) }

// Format implements fmt.Formatter, for verbs that do not call String.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// Format implements fmt.Formatter. Without it, package fmt would print a pointer to an OAuth field by field and not
// call the methods of Secret.
func (o OAuth) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{URL:%s ClientID:%s ClientSecret:%s}", o.URL, o.ClientID, o.ClientSecret)
}

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.Masked()), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(string(s.Masked())) }

var (
	// ErrNotFound means that the tenant has no such configuration.
	ErrNotFound = errors.New("external authentication: not found")
	// ErrDuplicateURL means that the tenant has another configuration of the same URL.
	ErrDuplicateURL = errors.New("external authentication: another configuration has the URL")
	// ErrChanged means that the configuration has changed since it was read.
	ErrChanged = errors.New("external authentication: changed since it was read")
	// ErrTooMany means that the tenant has MaxConfigurations already.
	ErrTooMany = errors.New("external authentication: too many configurations")
)

// MaxConfigurations is the largest number of configurations of a tenant.
const MaxConfigurations = 100

// IsPublicFormValue reports whether the value of a form field is shown on reading. All others may be secrets.
func IsPublicFormValue(name string) bool {
	return name == "scope" || name == "resource" || name == "audience"
}
