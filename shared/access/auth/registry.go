// Package auth holds tenants, clients and signing keys, and issues and verifies access tokens: JWTs of the type at+jwt
// (RFC 9068), signed with ES256 by keys in KMS. It is the only package that imports jwx.
//
// Package auth/authdb stores the registry, auth/authhttp serves the token endpoint and is the authorizer.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"maps"
	"time"

	"sluice/shared/access"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
)

// Tenant is an institution that owns data.
type Tenant struct {
	// ID is a UUID.
	ID string
	// BatchEnabled turns the batch feature on; it is off for a new tenant.
	BatchEnabled bool
	Settings     tenancy.Settings
	// FourEyes means that no client approves its own work: verifies a draft of an entity that it has made or changed,
	// publishes a draft of a policy whose last change is its own, or closes a screening batch with a match that it has
	// resolved.
	FourEyes bool
	// MaskPartialProperties means that partial properties of drafts are masked as those of entities are.
	MaskPartialProperties bool
	// Limits are the limits of the tenant that differ from the defaults; nil if none does.
	Limits    ratelimit.Settings
	CreatedAt time.Time
}

// AttributeFourEyes is the name of the caller's attribute that says "true" if the tenant has Tenant.FourEyes. Functions
// of different releases exchange it: it never changes.
const AttributeFourEyes = "fourEyes"

// AttributeMaskPartial is AttributeFourEyes for Tenant.MaskPartialProperties.
const AttributeMaskPartial = "maskPartialProperties"

// Attributes returns the attributes of the tenant that the authorizer passes to the functions.
func (t Tenant) Attributes() map[string]string {
	attributes := t.Settings.Attributes()
	if t.FourEyes {
		attributes[AttributeFourEyes] = "true"
	}
	if t.MaskPartialProperties {
		attributes[AttributeMaskPartial] = "true"
	}
	if limits := t.Limits.String(); limits != "" {
		attributes[ratelimit.Attribute] = limits
	}
	return attributes
}

// TenantChange is a change of a tenant's settings. A nil field leaves the setting unchanged.
type TenantChange struct {
	MaxPast               *time.Duration
	MaxFuture             *time.Duration
	MainEntity            *tenancy.MainEntityRule
	Retention             *time.Duration
	Parquet               *bool
	FourEyes              *bool
	MaskPartialProperties *bool
	// Limits are the limits that change: their new values, nil for the default.
	Limits map[ratelimit.Setting]*int64
}

// Apply returns the tenant with the change.
func (c TenantChange) Apply(t Tenant) Tenant {
	set(&t.Settings.MaxPast, c.MaxPast)
	set(&t.Settings.MaxFuture, c.MaxFuture)
	set(&t.Settings.MainEntity, c.MainEntity)
	set(&t.Settings.Retention, c.Retention)
	set(&t.Settings.Parquet, c.Parquet)
	set(&t.FourEyes, c.FourEyes)
	set(&t.MaskPartialProperties, c.MaskPartialProperties)
	t.Limits = maps.Clone(t.Limits)
	for name, value := range c.Limits {
		if value == nil {
			delete(t.Limits, name)
			continue
		}
		if t.Limits == nil {
			t.Limits = ratelimit.Settings{}
		}
		t.Limits[name] = *value
	}
	if len(t.Limits) == 0 {
		t.Limits = nil
	}
	return t
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// DefaultSettings returns the settings of a new tenant: transactions may be of any age and up to 30 days in the future.
func DefaultSettings() tenancy.Settings { return tenancy.Settings{MaxFuture: 720 * time.Hour} }

// Client is a program that acts for a tenant.
type Client struct {
	// ID is a UUID.
	ID string
	// Tenant is the ID of the one tenant that the client acts for.
	Tenant      string
	Permissions []string
	// AccessLayers are the layers that the client holds. Empty means Global and Enterprise.
	AccessLayers access.Layers
	Secret       SecretHash
	// NextSecret is a second secret, of NextSecretAt, while the client moves to it; both are zero if there is none.
	NextSecret   SecretHash
	NextSecretAt time.Time
	Disabled     bool
	CreatedAt    time.Time
}

// Accepts reports whether a secret is one of the client's.
func (c Client) Accepts(secret string) bool {
	return c.Secret.Matches(secret) || c.NextSecret.Matches(secret)
}

// Key is a signing key. It is published as soon as it is stored, signs from ActiveFrom on, and verifies until RetireAt.
type Key struct {
	// ID is the kid header of the tokens that the key signs.
	ID string
	// KMSKey is the ID or ARN of the key in KMS.
	KMSKey string
	// PublicKey is the public key in PKIX, ASN.1 DER form.
	PublicKey  []byte
	ActiveFrom time.Time
	// RetireAt is zero while no rotation has decided it.
	RetireAt time.Time
}

var (
	// ErrNotFound means that there is no such tenant, client or key.
	ErrNotFound = errors.New("auth: not found")
	// ErrExists means that the ID of a new tenant or client is taken.
	ErrExists = errors.New("auth: exists already")
	// ErrTwoSecrets means that a client has two secrets, and ErrOneSecret that it has one only.
	ErrTwoSecrets = errors.New("auth: the client has two secrets")
	ErrOneSecret  = errors.New("auth: the client has only one secret")
	// ErrLastKey means that there would be a time at which no token could be signed without this key.
	ErrLastKey = errors.New("auth: no other key signs")
	// ErrChanged means that someone else has replaced the keys since they were read.
	ErrChanged = errors.New("auth: keys changed since they were read")
)

// Registry keeps tenants, clients and keys. It is safe for concurrent use; a read sees every acknowledged write. Every
// write is one conditional write of one item.
type Registry interface {
	// CreateTenant stores a new tenant. It returns ErrExists if the ID is taken, also by an earlier call with the same
	// tenant.
	CreateTenant(ctx context.Context, t Tenant) error
	// Tenant reads one tenant. It returns ErrNotFound if the tenant does not exist.
	Tenant(ctx context.Context, id string) (Tenant, error)
	// Tenants lists all tenants in the order of their IDs.
	Tenants(ctx context.Context) ([]Tenant, error)
	// EnableBatch turns the batch feature of a tenant on or off and returns the tenant as it then is. Repeating the
	// call changes nothing. It returns ErrNotFound if there is no such tenant.
	EnableBatch(ctx context.Context, tenant string, on bool) (Tenant, error)
	// ChangeTenant changes settings of a tenant, all of them or none, and returns the tenant as it then is. Batches
	// that exist keep the settings that they were created with. It returns ErrNotFound if there is no such tenant.
	ChangeTenant(ctx context.Context, tenant string, c TenantChange) (Tenant, error)

	// CreateClient stores a new client of an existing tenant. It returns ErrExists if the ID is taken, and ErrNotFound
	// if there is no such tenant.
	CreateClient(ctx context.Context, c Client) error
	// Client reads one client. It returns ErrNotFound if the client does not exist.
	Client(ctx context.Context, id string) (Client, error)
	// Clients lists all clients in the order of their IDs.
	Clients(ctx context.Context) ([]Client, error)
	// DisableClient prevents a client, from now on, from getting tokens and from using those it has, and returns the
	// client as it then is. Repeating the call changes nothing. It returns ErrNotFound if there is no such client.
	DisableClient(ctx context.Context, id string) (Client, error)
	// AddSecret gives a client a second secret and returns the client as it then is. It returns ErrNotFound if there is
	// no such client, and ErrTwoSecrets if it has two, also by an earlier call with the same secret.
	AddSecret(ctx context.Context, client string, secret SecretHash, at time.Time) (Client, error)
	// RemoveSecret takes the older one of a client's two secrets, or the newer one, and returns the client as it then
	// is. It returns ErrNotFound if there is no such client, and ErrOneSecret if it has one only.
	RemoveSecret(ctx context.Context, client string, newer bool) (Client, error)
	// ClientAndTenant reads a client and a tenant in one request. It returns ErrNotFound if either does not exist.
	ClientAndTenant(ctx context.Context, client, tenant string) (Client, Tenant, error)

	// SealedToken reads the sealed token of an ID. It returns ErrNotFound if the token does not exist.
	SealedToken(ctx context.Context, id string) (SealedToken, error)
	// StoreSealedToken stores a sealed token, unless there is one of the same key that may still be handed out, and
	// returns the one that is stored then. Of several calls at the same time one stores its token, and all return it.
	StoreSealedToken(ctx context.Context, t SealedToken, now time.Time) (SealedToken, error)

	// Keys reads all keys and the version of the set: no keys and version 0 before the first are stored.
	Keys(ctx context.Context) (keys []Key, version int64, err error)
	// ReplaceKeys replaces all keys if the version of the set is still the given one. Otherwise it returns ErrChanged;
	// so does a repetition of a call that succeeded.
	ReplaceKeys(ctx context.Context, keys []Key, version int64) error
}

// SecretHash is the stored form of a client's secret: a random salt and the SHA-256 of salt and secret. A slow password
// hash would only slow down the token endpoint, because a secret of 256 random bits cannot be guessed at any speed.
type SecretHash struct {
	// Salt is 16 random bytes.
	Salt []byte
	// Sum is the SHA-256 of Salt followed by the secret.
	Sum []byte
}

// NewSecret returns a new client secret, which is shown once, and the hash to store.
func NewSecret() (secret string, hash SecretHash) {
	random, salt := make([]byte, 32), make([]byte, 16)
	rand.Read(random)
	rand.Read(salt)
	secret = base64.RawURLEncoding.EncodeToString(random)
	return secret, SecretHash{salt, saltedSum(salt, secret)}
}

// Matches reports whether the hash was made of the secret. It compares in constant time.
func (h SecretHash) Matches(secret string) bool {
	return len(h.Sum) == sha256.Size && subtle.ConstantTimeCompare(h.Sum, saltedSum(h.Salt, secret)) == 1
}

func saltedSum(salt []byte, secret string) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write([]byte(secret))
	return h.Sum(nil)
}
