package batchdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

func TestConformanceOfSuccessiveCalls(t *testing.T) { batchtest.Conform(t, open) }

func TestConformanceOfConcurrentCalls(t *testing.T) { batchtest.ConformConcurrently(t, open) }

// open returns an empty store.
func open(t *testing.T) batch.Store {
	t.Helper()
	return batchdb.New(dynamotest.Start(t), "test-batches")
}

// A batch of a release that counted nothing is counted from its upload on.
func TestOpenBatchOfAnEarlierRelease(t *testing.T) {
	db := dynamotest.Start(t)
	s := batchdb.New(db, "test-batches")
	b := batchtest.NewBatch(t, "tenant")
	errtest.Fatal(t, s.Create(t.Context(), b))
	errtest.Fatal(t, errtest.Of(db.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:        aws.String("test-batches"),
		Key:              dynamo.Item{"id": dynamo.String(string(b.ID)), "part": dynamo.String("batch")},
		UpdateExpression: aws.String("REMOVE #open"), ExpressionAttributeNames: map[string]string{"#open": "open"},
	})))
	for _, c := range []batch.Transition{
		{To: batch.Uploaded, ReceivedAt: b.CreatedAt, Object: &batch.Object{Key: "k", Size: 10}}, {To: batch.Failed},
	} {
		c.At = b.CreatedAt
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, c)))
		got, err := s.CountOpen(t.Context(), "tenant", batch.OpenWork{Batches: 10, UnvalidatedBytes: 100},
			b.CreatedAt)
		if want := c.To == batch.Uploaded; err != nil || got.Batches > 0 != want || got.UnvalidatedBytes > 0 != want {
			t.Errorf("%s: %+v, %v; want it counted: %t", c.To, got, err, want)
		}
	}
}

// More batches than are counted of one shard are said to be more.
func TestBacklogsThatAreCut(t *testing.T) {
	db := dynamotest.Start(t)
	s := batchdb.New(db, "test-batches")
	now := dynamo.String(dynamo.FormatTime(time.Now()))
	var rows []dynamo.Item
	for i := range 1001 {
		rows = append(rows, dynamo.Item{"id": dynamo.String(fmt.Sprint(i)), "part": dynamo.String("batch"),
			"unfinished": dynamo.String("a"), "look_at": now, "updated_at": now, "status": dynamo.String("UPLOADED")})
	}
	for _, n := range []int{999, 1001} {
		errtest.Fatal(t, dynamo.PutAll(t.Context(), db, "test-batches", rows[:n]))
		got, err := s.Backlogs(t.Context())
		if b := got[batch.Uploaded]; err != nil || b.Batches != min(n, 1000) || b.IsCut != (n > 1000) {
			t.Errorf("of %d batches: %+v, %v", n, b, err)
		}
	}
}

// Of several batches those that exist are read, as Get reads each.
func TestGetAll(t *testing.T) {
	s := batchdb.New(dynamotest.Start(t), "test-batches")
	want := map[batch.ID]batch.Batch{}
	ids := []batch.ID{batchtest.NewBatch(t, "tenant").ID} // is not stored
	for _, tenant := range []string{"tenant", "other"} {
		b := batchtest.NewBatch(t, tenant)
		errtest.Fatal(t, s.Create(t.Context(), b))
		want[b.ID], ids = errtest.Must(s.Get(t.Context(), b.ID))(t), append(ids, b.ID)
	}
	difftest.Equal(t, "batches", want, errtest.Must(s.GetAll(t.Context(), ids))(t))
}
