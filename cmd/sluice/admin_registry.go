package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/auth"
)

type tenantOut struct {
	TenantID     string    `json:"tenant_id"`
	BatchEnabled bool      `json:"batch_enabled"`
	Scope        string    `json:"scope"`
	CreatedAt    time.Time `json:"created_at"`
}

func tenantOf(t auth.Tenant) tenantOut {
	return tenantOut{t.ID, t.BatchEnabled, "tenant/" + t.ID, t.CreatedAt}
}

type clientOut struct {
	ClientID     string        `json:"client_id"`
	ClientSecret string        `json:"client_secret,omitempty"` // on creation only
	TenantID     string        `json:"tenant_id"`
	Scope        string        `json:"scope"`
	Permissions  []string      `json:"permissions"`
	AccessLayers access.Layers `json:"access_layers"`
	Disabled     bool          `json:"disabled"`
	CreatedAt    time.Time     `json:"created_at"`
}

func clientOf(c auth.Client) clientOut {
	return clientOut{
		ClientID: c.ID, TenantID: c.Tenant, Scope: "tenant/" + c.Tenant, Permissions: c.Permissions,
		AccessLayers: c.AccessLayers.OrDefault(), Disabled: c.Disabled, CreatedAt: c.CreatedAt,
	}
}

func createTenant(ctx context.Context, a *admin) (any, error) {
	id, err := uuid.Parse(a.id)
	if err != nil {
		return nil, fmt.Errorf("the tenant id %q is no UUID", a.id)
	}
	t := auth.Tenant{ID: id.String(), Settings: auth.DefaultSettings(), CreatedAt: a.now}
	err = a.registry.CreateTenant(ctx, t)
	if errors.Is(err, auth.ErrExists) {
		return nil, fmt.Errorf("the tenant %s exists already", t.ID)
	}
	return tenantOf(t), err
}

func listTenants(ctx context.Context, a *admin) (any, error) {
	tenants, err := a.registry.Tenants(ctx)
	out := make([]tenantOut, len(tenants))
	for i, t := range tenants {
		out[i] = tenantOf(t)
	}
	return out, err
}

func setBatch(ctx context.Context, a *admin, on bool) (any, error) {
	id, err := a.one("tenant id")
	if err != nil {
		return nil, err
	}
	t, err := a.registry.EnableBatch(ctx, id, on)
	return tenantOf(t), missing(err, "tenant", id)
}

func createClient(ctx context.Context, a *admin) (any, error) {
	if a.tenant == "" {
		return nil, fmt.Errorf("--tenant is needed; %w", errUsage)
	}
	permissions := []string(a.permissions)
	if len(permissions) == 0 {
		permissions = auth.Permissions
	}
	for _, p := range permissions {
		if !slices.Contains(auth.Permissions, p) {
			return nil, fmt.Errorf("no permission %q; there are %s", p, strings.Join(auth.Permissions, ", "))
		}
	}
	layers := access.Layers{Geographic: a.geographic, BusinessRelated: a.business}.OrDefault()
	for _, name := range slices.Concat(layers.Geographic, layers.BusinessRelated) {
		if name == "" || strings.ContainsRune(name, '\n') {
			return nil, fmt.Errorf("no access layer can be called %q", name)
		}
	}
	secret, hash := auth.NewSecret()
	c := auth.Client{ID: uuid.NewString(), Tenant: a.tenant, Permissions: permissions, Secret: hash,
		AccessLayers: layers, CreatedAt: a.now}
	if err := a.registry.CreateClient(ctx, c); err != nil {
		return nil, missing(err, "tenant", a.tenant)
	}
	out := clientOf(c)
	out.ClientSecret = secret
	return out, nil
}

func listClients(ctx context.Context, a *admin) (any, error) {
	clients, err := a.registry.Clients(ctx)
	out := make([]clientOut, len(clients))
	for i, c := range clients {
		out[i] = clientOf(c)
	}
	return out, err
}

func disableClient(ctx context.Context, a *admin) (any, error) {
	id, err := a.one("client id")
	if err != nil {
		return nil, err
	}
	c, err := a.registry.DisableClient(ctx, id)
	return clientOf(c), missing(err, "client", id)
}

func missing(err error, what, id string) error {
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("no %s %q", what, id)
	}
	return err
}

type keyOut struct {
	KeyID      string     `json:"kid"`
	ActiveFrom time.Time  `json:"active_from"`
	RetireAt   *time.Time `json:"retire_at,omitempty"`
}

// rotateKey publishes a new key. Its tag is what the token function's permission to sign with it hangs on.
func rotateKey(ctx context.Context, a *admin) (any, error) {
	keys, version, err := a.registry.Keys(ctx)
	if err != nil {
		return nil, err
	}
	made, err := a.kms.CreateKey(ctx, &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify,
		Description: aws.String(a.prefix + ": signs access tokens"),
		Tags:        []types.Tag{{TagKey: aws.String("sluice-signing"), TagValue: &a.prefix}},
	})
	if err != nil {
		return nil, err
	}
	next, err := auth.NewKey(ctx, a.kms, *made.KeyMetadata.Arn)
	if err != nil {
		return nil, err
	}
	keys = auth.PlanRotation(keys, next, a.now, time.Duration(a.tokenLifetime)*time.Second)
	if err := a.registry.ReplaceKeys(ctx, keys, version); err != nil {
		return nil, err
	}
	out := make([]keyOut, len(keys))
	for i, k := range keys {
		out[i] = keyOut{KeyID: k.ID, ActiveFrom: k.ActiveFrom}
		if !k.RetireAt.IsZero() {
			out[i].RetireAt = &k.RetireAt
		}
	}
	return out, nil
}
