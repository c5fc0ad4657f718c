package externalauth

import "context"

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
