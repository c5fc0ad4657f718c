package screening

import "context"

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
