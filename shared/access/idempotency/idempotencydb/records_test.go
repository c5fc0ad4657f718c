package idempotencydb_test

import (
	"testing"
	"time"

	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencydb"
	"sluice/shared/access/idempotency/idempotencytest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const table = "test-idempotency"

func TestConformance(t *testing.T) {
	db := dynamotest.Start(t)
	t.Run("answers arrive", func(t *testing.T) { idempotencytest.Conform(t, idempotencydb.New(db, table)) })
	t.Run("answers are lost", func(t *testing.T) {
		db := dynamotest.Start(t)
		idempotencytest.Conform(t, idempotencydb.New(dynamotest.Forgetful(db), table))
	})
}

// TestStored pins the stored items: a golden item for each state of a key, which is read back.
func TestStored(t *testing.T) {
	ctx, db := t.Context(), dynamotest.Start(t)
	store := idempotencydb.New(db, table)
	keys := map[string]idempotency.Key{}
	records := map[string]idempotency.Record{}
	for _, run := range []string{"running", "released", "answered", "answered-without-body"} {
		keys[run] = idempotency.Key{Tenant: "7c2f1a52-3f6e-4b1e-9d0a-000000000001", Path: "/tm/path", Name: run}
		r, created, err := store.Create(ctx, keys[run], idempotencytest.NewRecord(run), time.Unix(0, 0))
		if err != nil || !created {
			t.Fatalf("created %t, error %v", created, err)
		}
		records[run] = r
	}
	end := func(run string, answer *idempotency.Answer, err error) {
		t.Helper()
		errtest.Fatal(t, err)
		r := records[run]
		r.Until, r.Answer = time.Time{}, answer
		records[run] = r
	}
	end("released", nil, store.Release(ctx, keys["released"], "released"))
	whole, bare := idempotency.Answer{Status: 201, Body: []byte("answer")}, idempotency.Answer{Status: 200}
	end("answered", &whole, store.Finish(ctx, keys["answered"], "answered", whole))
	end("answered-without-body", &bare, store.Finish(ctx, keys["answered-without-body"], "answered-without-body", bare))
	dynamotest.CompareStored(t, db, table, "keys")

	db = dynamotest.Start(t)
	dynamotest.LoadStored(t, db, table, "keys")
	store = idempotencydb.New(db, table)
	for run, want := range records {
		got, _, err := store.Create(ctx, keys[run], idempotencytest.NewRecord("another"), time.Unix(0, 0))
		errtest.Fatal(t, err)
		difftest.Equal(t, run+": record", want, got)
	}
}
