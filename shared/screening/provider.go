package screening

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"sluice/shared/connect/externalauth"
)

const (
	// BuiltInName is the name of the built-in provider, which every tenant has.
	BuiltInName = "Sluice"
	// BuiltInSetID is the ID of its default set.
	BuiltInSetID = "5b1c0de0-7d1a-5c3e-9f60-2d8a4e6b7c91"
)

// Limits of the configuration of a tenant.
const (
	// MaxConfiguredProviders is how many providers a tenant can have, the built-in one not counted.
	MaxConfiguredProviders = 20
	// MaxProviderID is the length of the longest ID of a provider.
	MaxProviderID = 100
	// MaxProviderBytes is the size of the largest provider as JSON, with its settings' schema and its sets.
	MaxProviderBytes = 64 << 10
)

var (
	// ErrProviderExists means that the tenant has a provider of that ID already.
	ErrProviderExists = errors.New("screening: the provider exists already")
	// ErrTooManyProviders means that the tenant has MaxConfiguredProviders already.
	ErrTooManyProviders = errors.New("screening: too many providers")
	// ErrActive means that the tenant's settings make the provider active.
	ErrActive = errors.New("screening: the provider is active")
)

// Provider is who searches for the entities of batches, as a tenant has configured it.
type Provider struct {
	Tenant string
	// ID is chosen by the tenant. It consists of letters, digits, dots, hyphens and underscores.
	ID   string
	Name string
	// Adapter is how the provider is reached; nil for the built-in one, and for one that cannot be asked yet.
	Adapter *Adapter
	// Fields are the settings that the provider has.
	Fields []SettingField
	// Sets are its sets of settings. The first one is the default set.
	Sets []ConfigurationSet
	// ValidityDays is the validity of its search in days after the close of the batch; 0 if it does not expire.
	// Settings.ValidityDays of the tenant takes precedence.
	ValidityDays int

	CreatedAt time.Time
	UpdatedAt time.Time
	// UpdatedBy is the ID of the client that saved the provider last.
	UpdatedBy string
	// Version is 1 for a new provider and grows by one with every change. Writes are conditional on it. It is 0 for the
	// built-in provider as long as a tenant has changed nothing about it.
	Version int64
	// Sealed holds the keys of the adapter as they are stored; only the store reads it. It is empty if there are none.
	Sealed []byte
}

// Adapter is the program that speaks for a foreign provider, and the keys of the messages between it and the service.
type Adapter struct {
	// URL is an absolute https URL, below which the adapter has its paths.
	URL string
	// IsAuthenticationActive means that each message carries a MAC, made with AuthenticationKey.
	IsAuthenticationActive bool
	// AuthenticationKey is the key of HMAC-SHA256, in Base64; "" for none.
	AuthenticationKey externalauth.Secret
	// EncryptionKey is the key of AES-256-CBC, in Base64; "" if messages are not encrypted.
	EncryptionKey externalauth.Secret
}

// Format implements fmt.Formatter: behind a pointer, package fmt would print the fields without their methods.
func (a Adapter) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "{URL:"+a.URL+" AuthenticationKey:"+a.AuthenticationKey.String()+
		" EncryptionKey:"+a.EncryptionKey.String()+"}")
}

// HasMaskedKeys reports whether a key of the adapter is a mask.
func (a *Adapter) HasMaskedKeys() bool {
	return a != nil && (a.AuthenticationKey.IsMasked() || a.EncryptionKey.IsMasked())
}

// BuiltInProvider returns the built-in provider of a tenant as it is before the tenant changes anything: the matcher of
// this program over the watchlists of the tenant.
func BuiltInProvider(tenant string) Provider {
	return Provider{Tenant: tenant, ID: BuiltIn, Name: BuiltInName, Fields: builtInFields(),
		Sets: []ConfigurationSet{{ID: BuiltInSetID, Name: "Default",
			Description: "The tenant's active lists, at the tenant's threshold."}}}
}

// IsBuiltIn reports whether the provider is the built-in one.
func (p Provider) IsBuiltIn() bool { return p.ID == BuiltIn }

// FindSet returns the set of an ID, the default set for "".
func (p Provider) FindSet(id string) (ConfigurationSet, bool) {
	for _, s := range p.Sets {
		if id == "" || s.ID == id {
			return s, true
		}
	}
	return ConfigurationSet{}, false
}

// RestoreMaskedKeys replaces each masked key of the provider's adapter by the key of stored, a revealed provider or
// nil. It returns the keys that it cannot replace. A key is restored only if the URL is the same: a change of the
// provider must not direct messages under its keys elsewhere.
func (p *Provider) RestoreMaskedKeys(stored *Provider) []externalauth.MaskedSecret {
	if !p.Adapter.HasMaskedKeys() {
		return nil
	}
	a, before, reason := *p.Adapter, Adapter{}, ""
	switch {
	case stored == nil || stored.Adapter == nil:
		reason = "The value is a mask. Send the key itself."
	case !isSameURL(a.URL, stored.Adapter.URL):
		reason = "The value is a mask. The key itself is needed, because the URL is another one."
	default:
		before = *stored.Adapter
	}
	var missing []externalauth.MaskedSecret
	keep := func(property string, sent, stored externalauth.Secret) externalauth.Secret {
		switch {
		case !sent.IsMasked():
			return sent
		case reason != "":
			missing = append(missing, externalauth.MaskedSecret{Property: property, Reason: reason})
		case stored == "":
			missing = append(missing, externalauth.MaskedSecret{Property: property,
				Reason: "The value is a mask, but no key is stored."})
		}
		return stored
	}
	a.AuthenticationKey = keep("adapterConfiguration.authenticationKey", a.AuthenticationKey, before.AuthenticationKey)
	a.EncryptionKey = keep("adapterConfiguration.encryptionKey", a.EncryptionKey, before.EncryptionKey)
	p.Adapter = &a
	return missing
}

// isSameURL reports whether two URLs have the same canonical spelling.
func isSameURL(a, b string) bool {
	first, err1 := externalauth.CanonicalURL(a)
	second, err2 := externalauth.CanonicalURL(b)
	return err1 == nil && err2 == nil && first == second
}

// ProviderStore keeps the providers that tenants have configured. It is safe for concurrent use; a read sees every
// acknowledged write. Providers that it returns have a mask in place of each key, and the keys themselves in Sealed,
// until Reveal opens them.
type ProviderStore interface {
	// CreateProvider stores a new provider. It returns ErrProviderExists if the tenant has one of that ID, also if both
	// are created at the same time, and ErrTooManyProviders if the tenant has MaxConfiguredProviders.
	CreateProvider(ctx context.Context, p Provider) error
	// GetProvider reads a provider. It returns ErrNotFound if the tenant has no provider with that ID; the built-in one
	// is always there.
	GetProvider(ctx context.Context, tenant, id string) (Provider, error)
	// ListProviders reads all providers of a tenant: the built-in one, then the others in the order of their IDs.
	ListProviders(ctx context.Context, tenant string) ([]Provider, error)
	// SaveProvider replaces a provider, as it was read, by another one of the same ID, which gets the next Version.
	// Keys that are masked stay as they are stored: either both are masked or none is. It returns ErrChanged if the
	// stored version is another one or none.
	SaveProvider(ctx context.Context, previous, p Provider) error
	// DeleteProvider removes a provider of p's Version, unless settings, the tenant's, make it active: then it returns
	// ErrActive. It returns ErrChanged if the stored version of the provider or of the settings is another one:
	// together with Store.SaveSettings, no stored settings make a provider active that is deleted.
	DeleteProvider(ctx context.Context, p Provider, settings Settings) error
	// Reveal returns a provider that GetProvider or ListProviders has returned with its keys.
	Reveal(ctx context.Context, p Provider) (Provider, error)
}
