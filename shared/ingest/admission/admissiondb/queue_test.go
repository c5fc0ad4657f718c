package admissiondb_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const table = "test-admission"

func TestConformance(t *testing.T) {
	db := dynamotest.Start(t)
	admissiontest.Conform(t, func(t *testing.T) admission.Queue {
		empty(t, db)
		return admissiondb.New(db, table)
	})
}

// empty deletes all items.
func empty(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	name := table
	out := errtest.Must(db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name}))(t)
	for _, item := range out.Items {
		key := dynamo.Item{"stage": item["stage"], "place": item["place"]}
		errtest.Fatal(t, errtest.Of(db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &name, Key: key})))
	}
}

// TestStored pins the stored items: a ticket and a gate, with every attribute set.
func TestStored(t *testing.T) {
	ctx, at := t.Context(), time.Date(2026, 11, 26, 8, 15, 0, 123000000, time.UTC)
	const tenant, first, second = "7c2f1a52-3f6e-4b1e-9d0a-000000000001", "0193a0b4-7c00-7000-8000-000000000001",
		"0193a0b4-7c00-7000-8000-000000000002"
	ticket := admission.Ticket{
		Pool: admission.LargeIngestion, Token: "token", Round: 4,
		Attempt: admission.Attempt{Entered: at.Add(time.Hour), Retry: 7},
		Place:   admission.Place{Tenant: tenant, ReceivedAt: at, Batch: batch.ID(first)},
	}
	db := dynamotest.Start(t)
	q := admissiondb.New(db, table)
	errtest.Fatal(t, q.Put(ctx, ticket))
	g, err := q.Gate(ctx, admission.LargeIngestion)
	for _, id := range []batch.ID{first, second} {
		if err == nil {
			other := ticket
			other.Batch = id
			g, err = q.Admit(ctx, g, at.Add(time.Minute), other)
		}
	}
	if err == nil {
		g, err = q.Adapt(ctx, g, 3, at.Add(2*time.Minute))
	}
	errtest.Fatal(t, err)
	g.RefusedAt = at.Add(3 * time.Minute)
	errtest.Fatal(t, q.SetRefused(ctx, admission.LargeIngestion, g.RefusedAt))
	dynamotest.CompareStored(t, db, table, "admission")

	empty(t, db)
	dynamotest.LoadStored(t, db, table, "admission")
	difftest.Equal(t, "gate", g, errtest.Must(q.Gate(ctx, admission.LargeIngestion))(t))
	got := errtest.Must(q.After(ctx, admission.LargeIngestion, admission.Place{}, 2))(t)
	difftest.Equal(t, "tickets", []admission.Ticket{ticket}, got)
}
