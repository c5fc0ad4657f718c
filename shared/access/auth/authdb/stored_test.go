package authdb_test

import (
	"sluice/shared/access"
	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

func storedLayers() access.Layers {
	return access.Layers{Geographic: []string{"Europe"}, BusinessRelated: []string{"Retail"}}
}

// TestStoredRegistry pins the stored items: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredRegistry(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := authdb.New(client, "test-clients")
	tenant := auth.Tenant{ID: storedTenant, BatchEnabled: true, CreatedAt: at, FourEyes: true,
		Limits:   ratelimit.Settings{ratelimit.PlatformPerSecond: 300, ratelimit.OpenBatches: 0},
		Settings: tenancy.Settings{MaxPast: time.Hour, MaxFuture: 2 * time.Hour, MainEntity: tenancy.ByPaymentType},

		MaskPartialProperties: true}
	errtest.Fatal(t, s.CreateTenant(ctx, tenant))
	c := auth.Client{ID: "client", Tenant: storedTenant, Permissions: []string{"BatchUpload", "BatchRead"},
		AccessLayers: storedLayers(), Secret: auth.SecretHash{Salt: []byte("salt"), Sum: []byte("sum")}, Disabled: true,
		NextSecret: auth.SecretHash{Salt: []byte("salt 2"), Sum: []byte("sum 2")}, NextSecretAt: at, CreatedAt: at}
	errtest.Fatal(t, s.CreateClient(ctx, c))
	token := auth.SealedToken{ID: "client/digest", Key: "kid", ReuseUntil: time.Unix(1795680900, 0),
		Ciphertext: []byte("sealed")}
	errtest.Fatal(t, errtest.Of(s.StoreSealedToken(ctx, token, at)))
	keys := []auth.Key{{ID: "kid", KMSKey: "arn", PublicKey: []byte("public"), ActiveFrom: at,
		RetireAt: at.Add(time.Hour)}}
	errtest.Fatal(t, s.ReplaceKeys(ctx, keys, 0))
	dynamotest.CompareStored(t, client, "test-clients", "clients")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-clients", "clients")
	s = authdb.New(client, "test-clients")
	difftest.Equal(t, "tenant", tenant, errtest.Must(s.Tenant(ctx, storedTenant))(t))
	difftest.Equal(t, "client", c, errtest.Must(s.Client(ctx, "client"))(t))
	difftest.Equal(t, "token", token, errtest.Must(s.SealedToken(ctx, token.ID))(t))
	gotKeys, version, err := s.Keys(ctx)
	if diff := cmp.Diff(keys, gotKeys); err != nil || diff != "" || version != 1 {
		t.Errorf("keys: version %d, %v, (-want +got)\n%s", version, err, diff)
	}
}
