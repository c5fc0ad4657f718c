package outbounddb_test

import (
	"testing"
	"time"

	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outbounddb"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

func TestKeys(t *testing.T) {
	outboundtest.Conform(t, func(t *testing.T) outbound.KeyStore {
		return outbounddb.New(dynamotest.Start(t), "test-outbound")
	})
}

// TestStoredKeys pins the stored items; see the golden item.
func TestStoredKeys(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := outbounddb.New(client, "test-outbound")
	key := outbound.ClientKey{
		Tenant: "7c2f1a52-3f6e-4b1e-9d0a-000000000001", ID: "kid", KMSKey: "arn", PublicKey: []byte("public"),
		Certificates: [][]byte{[]byte("leaf"), []byte("issuer")},
		CreatedAt:    time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC),
		InstalledAt:  time.Date(2026, 11, 27, 8, 15, 0, 0, time.UTC),
	}
	errtest.Fatal(t, s.CreateClientKey(ctx, key))
	dynamotest.CompareStored(t, client, "test-outbound", "outbound")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-outbound", "outbound")
	got := errtest.Must(outbounddb.New(client, "test-outbound").ClientKey(ctx, key.Tenant))(t)
	difftest.Equal(t, "client key", key, got)
}
