// Package auth knows tenants and clients, and issues and verifies access tokens: RFC 9068 JWTs (at+jwt) signed with ES256 by
// keys in KMS. It is the only importer of jwx.
package auth

import (
	"context"
	"errors"
	"time"

	"sluice/shared/access"
	"sluice/shared/batch"
)

// Permissions lists every permission that a client may hold.
var Permissions = []string{"BatchUpload", "BatchRead", "TransactionRead",
	"EntityDataAccessAndSearch", "EntityDataEdit", "EntityDataApprove",
	"EntityGroupManagementAccessAndSearch", "EntityGroupManagementEdit",
	"DocumentManagementAccess", "DocumentManagementCreate", "DocumentManagementCreateVirtual", "DocumentManagementLink",
	"DocumentManagementEdit", "DocumentManagementDelete"}

// Tenant is a customer.
type Tenant struct {
	ID           string // UUID
	BatchEnabled bool   // off until it is asked for
	Settings     batch.Settings
	CreatedAt    time.Time
}

// DefaultSettings are the rules of a new tenant: history is taken whatever its age, the future up to 30 days.
func DefaultSettings() batch.Settings { return batch.Settings{MaxFuture: 720 * time.Hour} }

// Client is a program that acts for a tenant.
type Client struct {
	ID          string // UUID
	Tenant      string
	Permissions []string
	Layers      access.Layers // that it holds; empty for Global and Enterprise
	Secret      SecretHash
	Disabled    bool
	CreatedAt   time.Time
}

// Key is a signing key. It is published at once, signs from ActiveFrom on, and verifies until RetireAt.
type Key struct {
	ID         string // the kid of tokens
	KMSKey     string // ID or ARN of the key that signs
	Public     []byte // PKIX, DER
	ActiveFrom time.Time
	RetireAt   time.Time // zero: not yet decided
}

var (
	// ErrNotFound means that there is no such tenant or client.
	ErrNotFound = errors.New("auth: not found")
	// ErrExists means that there is a tenant or client of that ID.
	ErrExists = errors.New("auth: exists already")
	// ErrChanged means that the keys were changed by someone else in between: read them again.
	ErrChanged = errors.New("auth: changed in between")
)

// Registry keeps tenants, clients and keys. Every method is safe for concurrent use; a read sees every acknowledged write.
type Registry interface {
	// CreateTenant stores a new tenant. ErrExists.
	CreateTenant(ctx context.Context, t Tenant) error
	// Tenant reads one. ErrNotFound.
	Tenant(ctx context.Context, id string) (Tenant, error)
	// Tenants lists all, in order of ID.
	Tenants(ctx context.Context) ([]Tenant, error)
	// EnableBatch turns the batch feature of a tenant on or off. ErrNotFound.
	EnableBatch(ctx context.Context, tenant string, on bool) (Tenant, error)

	// CreateClient stores a new client of an existing tenant. ErrExists, or ErrNotFound without the tenant.
	CreateClient(ctx context.Context, c Client) error
	// Client reads one. ErrNotFound.
	Client(ctx context.Context, id string) (Client, error)
	// Clients lists all, in order of ID.
	Clients(ctx context.Context) ([]Client, error)
	// DisableClient makes a client unable to get or use tokens, at once. ErrNotFound.
	DisableClient(ctx context.Context, id string) (Client, error)
	// Identify reads a client and a tenant at once. ErrNotFound if either is missing.
	Identify(ctx context.Context, client, tenant string) (Client, Tenant, error)

	// Keys reads all keys and the version of the whole; no keys and 0 before the first.
	Keys(ctx context.Context) ([]Key, int64, error)
	// SetKeys replaces all keys if their version is still the given one. ErrChanged.
	SetKeys(ctx context.Context, keys []Key, version int64) error
}
