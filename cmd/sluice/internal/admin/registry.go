package admin

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

	"sluice/internal/command"
	"sluice/shared/access"
	"sluice/shared/access/auth"
	"sluice/shared/access/permission"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/receipt"
	"sluice/shared/ingest/receipt/issue"
	"sluice/shared/kit/dynamo"
)

// tenantOutput is how a tenant is printed.
type tenantOutput struct {
	TenantID     string    `json:"tenant_id"`
	BatchEnabled bool      `json:"batch_enabled"`
	Scope        string    `json:"scope"`
	CreatedAt    time.Time `json:"created_at"`
}

func newTenantOutput(t auth.Tenant) tenantOutput {
	return tenantOutput{t.ID, t.BatchEnabled, "tenant/" + t.ID, t.CreatedAt}
}

// clientOutput is how a client is printed.
type clientOutput struct {
	ClientID string `json:"client_id"`
	// ClientSecret is printed when it is made, and never again.
	ClientSecret string        `json:"client_secret,omitempty"`
	TenantID     string        `json:"tenant_id"`
	Scope        string        `json:"scope"`
	Permissions  []string      `json:"permissions"`
	AccessLayers access.Layers `json:"access_layers"`
	Disabled     bool          `json:"disabled"`
	CreatedAt    time.Time     `json:"created_at"`
	// NextSecretAt is when the client got the second of two valid secrets; nil if it has one.
	NextSecretAt *time.Time `json:"next_secret_at,omitempty"`
}

func newClientOutput(c auth.Client) clientOutput {
	out := clientOutput{
		ClientID: c.ID, TenantID: c.Tenant, Scope: "tenant/" + c.Tenant, Permissions: c.Permissions,
		AccessLayers: c.AccessLayers.OrDefault(), Disabled: c.Disabled, CreatedAt: c.CreatedAt,
	}
	if !c.NextSecretAt.IsZero() {
		out.NextSecretAt = &c.NextSecretAt
	}
	return out
}

// createTenant creates a tenant with settings of the form KEY=VALUE.
func createTenant(ctx context.Context, a *admin, tenantID string, settings []string) (any, error) {
	id, err := uuid.Parse(tenantID)
	if err != nil {
		return nil, fmt.Errorf("the tenant ID %q is not a UUID", tenantID)
	}
	change, err := parseTenantChange(settings)
	if err != nil {
		return nil, err
	}
	t := change.Apply(auth.Tenant{ID: id.String(), Settings: auth.DefaultSettings(), CreatedAt: a.now})
	err = a.registry.CreateTenant(ctx, t)
	if errors.Is(err, auth.ErrExists) {
		return nil, fmt.Errorf("the tenant %s exists already", t.ID)
	}
	return newTenantOutput(t), err
}

func listTenants(ctx context.Context, a *admin, _ []string) (any, error) {
	tenants, err := a.registry.Tenants(ctx)
	out := make([]tenantOutput, len(tenants))
	for i, t := range tenants {
		out[i] = newTenantOutput(t)
	}
	return out, err
}

func setBatchFeature(ctx context.Context, a *admin, tenantID string, enabled bool) (any, error) {
	t, err := a.registry.EnableBatch(ctx, tenantID, enabled)
	return newTenantOutput(t), explainNotFound(err, "tenant", tenantID)
}

// allPermissions stands for every permission that there is. A client gets them only where somebody writes so.
const allPermissions = "all"

// clientOptions are the rights of a new client.
type clientOptions struct {
	// permissions are the names of its permissions, at least one, or allPermissions alone.
	permissions []string
	// geographic and businessRelated are its access layers; none means the widest.
	geographic, businessRelated []string
}

func createClient(ctx context.Context, a *admin, o clientOptions) (any, error) {
	if err := a.requireTenant(); err != nil {
		return nil, err
	}
	if len(o.permissions) == 0 {
		return nil, command.Usagef("--permission is needed: name what the client may do (%s), or %s",
			strings.Join(permission.All(), ", "), allPermissions)
	}
	if slices.Equal(o.permissions, []string{allPermissions}) {
		o.permissions = permission.All()
	}
	for _, p := range o.permissions {
		if !slices.Contains(permission.All(), p) {
			return nil, fmt.Errorf("there is no permission %q; there are %s", p, strings.Join(permission.All(), ", "))
		}
	}
	layers := access.Layers{Geographic: o.geographic, BusinessRelated: o.businessRelated}.OrDefault()
	for _, name := range slices.Concat(layers.Geographic, layers.BusinessRelated) {
		if name == "" || strings.ContainsRune(name, '\n') {
			return nil, fmt.Errorf("%q cannot be the name of an access layer: it must be one line of text", name)
		}
	}
	secret, hash := auth.NewSecret()
	c := auth.Client{
		ID: uuid.NewString(), Tenant: a.tenant, Permissions: o.permissions, Secret: hash, AccessLayers: layers,
		CreatedAt: a.now,
	}
	if err := a.registry.CreateClient(ctx, c); err != nil {
		return nil, explainNotFound(err, "tenant", a.tenant)
	}
	out := newClientOutput(c)
	out.ClientSecret = secret
	return out, nil
}

func listClients(ctx context.Context, a *admin, _ []string) (any, error) {
	clients, err := a.registry.Clients(ctx)
	out := make([]clientOutput, len(clients))
	for i, c := range clients {
		out[i] = newClientOutput(c)
	}
	return out, err
}

func disableClient(ctx context.Context, a *admin, args []string) (any, error) {
	c, err := a.registry.DisableClient(ctx, args[0])
	return newClientOutput(c), explainNotFound(err, "client", args[0])
}

// addSecret gives a client a second secret.
func addSecret(ctx context.Context, a *admin, args []string) (any, error) {
	secret, hash := auth.NewSecret()
	c, err := a.registry.AddSecret(ctx, args[0], hash, a.now)
	if errors.Is(err, auth.ErrTwoSecrets) {
		return nil, fmt.Errorf("client %s has two secrets: take the old one when the client uses the new one, or "+
			"the new one if it is lost (--newer): %s", args[0], a.commandLine("client remove-secret "+args[0]))
	}
	if err != nil {
		return nil, explainNotFound(err, "client", args[0])
	}
	out := newClientOutput(c)
	out.ClientSecret = secret
	return out, nil
}

// removeSecret takes one of a client's two secrets.
func removeSecret(ctx context.Context, a *admin, client string, newer bool) (any, error) {
	c, err := a.registry.RemoveSecret(ctx, client, newer)
	if errors.Is(err, auth.ErrOneSecret) {
		return nil, fmt.Errorf("client %s has only one secret; 'sluice admin client disable' stops it", client)
	}
	return newClientOutput(c), explainNotFound(err, "client", client)
}

// explainNotFound replaces auth.ErrNotFound by an error that names what is missing.
func explainNotFound(err error, what, id string) error {
	if errors.Is(err, auth.ErrNotFound) {
		return fmt.Errorf("there is no %s %q", what, id)
	}
	return err
}

// keyOutput is how a signing key is printed.
type keyOutput struct {
	KeyID      string     `json:"kid"`
	ActiveFrom time.Time  `json:"active_from"`
	RetireAt   *time.Time `json:"retire_at,omitempty"`
	// KMSKey is that of a key of receipts in KMS, by which it is disabled there.
	KMSKey string `json:"kms_key,omitempty"`
}

// rotatedKeys are the keys after a rotation; the last one is new.
type rotatedKeys []keyOutput

// rotateKey creates a key and publishes it. The key's tag is what allows the token function to sign with it.
func rotateKey(ctx context.Context, a *admin, tokenLifetime time.Duration) (any, error) {
	keys, version, err := a.registry.Keys(ctx)
	if err != nil {
		return nil, err
	}
	created, err := a.kms.CreateKey(ctx, &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify, MultiRegion: aws.Bool(true),
		Description: aws.String(a.prefix + ": signs access tokens"),
		Tags:        []types.Tag{{TagKey: aws.String("sluice-signing"), TagValue: &a.prefix}},
	})
	if err != nil {
		return nil, err
	}
	next, err := auth.NewKey(ctx, a.kms, *created.KeyMetadata.Arn)
	if err != nil {
		return nil, err
	}
	keys = auth.PlanRotation(keys, next, a.now, tokenLifetime)
	if err := a.registry.ReplaceKeys(ctx, keys, version); err != nil {
		return nil, err
	}
	return rotatedKeys(newKeyOutputs(keys)), nil
}

func listKeys(ctx context.Context, a *admin, _ []string) (any, error) {
	keys, _, err := a.registry.Keys(ctx)
	return newKeyOutputs(keys), err
}

// retireKey ends a key now.
func retireKey(ctx context.Context, a *admin, args []string) (any, error) {
	keys, version, err := a.registry.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys, err = auth.PlanRetirement(keys, args[0], a.now)
	switch {
	case errors.Is(err, auth.ErrLastKey):
		return nil, fmt.Errorf("without %s there would be a time at which no key signs: make another one unless there "+
			"is one, wait until the new key is active (active_from), and retire this one then: %s", args[0],
			a.commandLine("key rotate"))
	case err != nil:
		return nil, explainNotFound(err, "signing key", args[0])
	}
	return newKeyOutputs(keys), a.registry.ReplaceKeys(ctx, keys, version)
}

func newKeyOutputs(keys []auth.Key) []keyOutput {
	out := make([]keyOutput, len(keys))
	for i, k := range keys {
		out[i] = keyOutput{KeyID: k.ID, ActiveFrom: k.ActiveFrom}
		if !k.RetireAt.IsZero() {
			out[i].RetireAt = &k.RetireAt
		}
	}
	return out
}

// receiptKeys returns the store of the keys of receipts.
func (a *admin) receiptKeys(ctx context.Context) (issue.Store, error) {
	tables, err := a.tables(ctx, "TABLE_BATCHES")
	if err != nil {
		return nil, err
	}
	return batchdb.New(dynamo.NewClient(a.aws), tables["TABLE_BATCHES"]), nil
}

// rotateReceiptKey creates a key of receipts and publishes it. The key's tag is what allows the function receipt to
// sign with it. No key is ever withdrawn.
func rotateReceiptKey(ctx context.Context, a *admin) (any, error) {
	store, err := a.receiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys, version, err := store.ReceiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	created, err := a.kms.CreateKey(ctx, &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify, MultiRegion: aws.Bool(true),
		Description: aws.String(a.prefix + ": signs receipts of batches"),
		Tags:        []types.Tag{{TagKey: aws.String("sluice-receipts"), TagValue: &a.prefix}},
	})
	if err != nil {
		return nil, err
	}
	next, err := issue.NewKey(ctx, a.kms, *created.KeyMetadata.Arn)
	if err != nil {
		return nil, err
	}
	keys = receipt.AddKey(keys, next, a.now)
	if err := store.ReplaceReceiptKeys(ctx, keys, version); err != nil {
		return nil, err
	}
	return rotatedKeys(newReceiptKeyOutputs(keys)), nil
}

func listReceiptKeys(ctx context.Context, a *admin) (any, error) {
	store, err := a.receiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys, _, err := store.ReceiptKeys(ctx)
	return newReceiptKeyOutputs(keys), err
}

func newReceiptKeyOutputs(keys []receipt.Key) []keyOutput {
	out := make([]keyOutput, len(keys))
	for i, k := range keys {
		out[i] = keyOutput{KeyID: k.ID, ActiveFrom: k.ActiveFrom, KMSKey: k.KMSKey}
	}
	return out
}
