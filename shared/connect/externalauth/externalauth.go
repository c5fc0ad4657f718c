// Package externalauth holds a tenant's configurations of calls to the outside: which certificate the receiver must
// present, and by which client certificate, headers and OAuth client the service authenticates itself.
// Package externalauth/externalauthdb stores them, externalauth/externalauthhttp serves them.
package externalauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
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

// MaskedSecret is a place in a configuration with a Mask that RestoreMaskedSecrets could not replace.
type MaskedSecret struct {
	// Property is the place, as the interface names it.
	Property string
	// Reason says why the stored secret cannot replace it.
	Reason string
}

// RestoreMaskedSecrets replaces each masked secret of c by the one in the same place of stored, and returns those that
// it cannot replace. Stored is the configuration that c replaces, with its secrets; nil if c is new. So a client can
// change a configuration that it has read and send it back. A secret is restored only if it will be sent to the same
// URL as before: otherwise a client that may change configurations could learn their secrets by directing them
// elsewhere.
func (c *Configuration) RestoreMaskedSecrets(stored *Configuration) []MaskedSecret {
	k := restorer{}
	if stored == nil {
		stored, k.reason = &Configuration{}, "The value is a mask. Send the secret itself."
	} else if !sameURL(c.URL, stored.URL) {
		k.reason = "The value is a mask. The secret itself is needed, because the URL is another one."
	}
	c.Headers = k.restoreAll("headers", c.Headers, stored.Headers)
	if c.OAuth == nil {
		return k.missing
	}
	const prefix = "oAuthConfiguration.clientCredentialsConfig."
	o, before := *c.OAuth, OAuth{}
	if stored.OAuth != nil {
		before = *stored.OAuth
		if k.reason == "" && o.URL != before.URL {
			k.reason = "The value is a mask. The secret itself is needed, because the URL of the token endpoint is " +
				"another one."
		}
	}
	o.ClientSecret = k.restore(prefix+"clientSecret", o.ClientSecret, before.ClientSecret, before.ClientSecret != "")
	o.Headers = k.restoreAll(prefix+"headers", o.Headers, before.Headers)
	o.FormValues = k.restoreAll(prefix+"formValues", o.FormValues, before.FormValues)
	c.OAuth = &o
	return k.missing
}

// restorer replaces masked secrets and collects those that it could not replace.
type restorer struct {
	// reason is why no secret may be restored; "" if they may.
	reason  string
	missing []MaskedSecret
}

// restore returns a secret as it was sent or, in place of a mask, as it is stored.
func (k *restorer) restore(property string, sent, stored Secret, isStored bool) Secret {
	switch {
	case !sent.IsMasked():
		return sent
	case k.reason != "":
		k.missing = append(k.missing, MaskedSecret{property, k.reason})
	case !isStored:
		k.missing = append(k.missing, MaskedSecret{property,
			"The value is a mask, but nothing is stored under this name."})
	default:
		return stored
	}
	return ""
}

// restoreAll restores the values of masked pairs. Pairs with the same name correspond in their order.
func (k *restorer) restoreAll(property string, sent, stored []NameValue) []NameValue {
	out, used := slices.Clone(sent), map[string]int{}
	for i, v := range out {
		name := strings.ToLower(v.Name)
		value, ok := nth(stored, name, used[name])
		used[name]++
		out[i].Value = k.restore(fmt.Sprintf("%s.%d.value", property, i), v.Value, value, ok)
	}
	return out
}

// nth returns the value of the nth pair of a name, counted from 0.
func nth(values []NameValue, name string, n int) (Secret, bool) {
	for _, v := range values {
		if strings.ToLower(v.Name) != name {
			continue
		}
		if n == 0 {
			return v.Value, true
		}
		n--
	}
	return "", false
}

// HasMaskedSecrets reports whether RestoreMaskedSecrets has anything to replace, so that the stored secrets are needed.
func (c *Configuration) HasMaskedSecrets() bool {
	isMasked := func(v NameValue) bool { return v.Value.IsMasked() }
	return slices.ContainsFunc(c.Headers, isMasked) || c.OAuth != nil && (c.OAuth.ClientSecret.IsMasked() ||
		slices.ContainsFunc(c.OAuth.Headers, isMasked) || slices.ContainsFunc(c.OAuth.FormValues, isMasked))
}

// sameURL reports whether two URLs have the same canonical spelling.
func sameURL(a, b string) bool {
	first, err1 := CanonicalURL(a)
	second, err2 := CanonicalURL(b)
	return err1 == nil && err2 == nil && first == second
}

// Store keeps configurations. It is safe for concurrent use; a read sees every acknowledged write. Configurations that
// it returns have Mask in place of each secret, and the secrets themselves in Sealed, until Reveal opens them.
type Store interface {
	// Create stores a new configuration. It returns ErrDuplicateURL if the tenant has another one with the same
	// CanonicalURL, also if both are created at the same time, and ErrTooMany if the tenant has MaxConfigurations.
	Create(ctx context.Context, c Configuration) error
	// Get reads a configuration. It returns ErrNotFound if the tenant has no configuration with that ID.
	Get(ctx context.Context, tenant, id string) (Configuration, error)
	// List reads all configurations of a tenant, in the order of their IDs.
	List(ctx context.Context, tenant string) ([]Configuration, error)
	// Save replaces a configuration, as it was read, by another one of the same ID, whose secrets are all unmasked. The
	// new one gets the next Version. It returns ErrChanged if the stored version is another one or none, and
	// ErrDuplicateURL as Create does.
	Save(ctx context.Context, previous, c Configuration) error
	// Delete removes a configuration of c's Version. It returns ErrChanged if the stored version is another one or
	// none.
	Delete(ctx context.Context, c Configuration) error
	// Reveal decrypts Sealed of a configuration that Get or List has returned, and returns the configuration with its
	// secrets in place of the masks.
	Reveal(ctx context.Context, c Configuration) (Configuration, error)
}
