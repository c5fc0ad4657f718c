package intakedb_test

import (
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/intake/intakedb"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
)

// TestStoredUploads pins the stored items: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredUploads(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	now := func() time.Time { return at }
	s := intakedb.New(client, "test-batches", now)
	object := batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}
	errtest.Fatal(t, errtest.Of(s.RecordArrival(ctx, object, at)))
	failed := intake.ScanReport{Event: "event", Key: object.Key, ETag: object.ETag, Version: object.Version,
		Result: intake.ScanFailed}
	errtest.Fatal(t, errtest.Of(s.RecordScan(ctx, failed)))
	found := intake.ScanReport{Event: "other", Key: object.Key, ETag: object.ETag, Version: object.Version,
		Result: intake.ThreatsFound, Threat: "EICAR"}
	want := errtest.Must(s.RecordScan(ctx, found))(t)
	dynamotest.CompareStored(t, client, "test-batches", "uploads")

	// The value of the attribute waiting of earlier releases has no digit.
	for _, name := range []string{"uploads", "uploads-one-shard"} {
		client = dynamotest.Start(t)
		dynamotest.LoadStored(t, client, "test-batches", name)
		s = intakedb.New(client, "test-batches", now)
		got, err := s.Get(ctx, object)
		errtest.Fatal(t, err)
		difftest.Equal(t, name, want, got)
		waiting := 0
		err = s.EachWaiting(ctx, at.Add(time.Hour), func(intake.Upload) error { waiting++; return nil })
		errtest.Fatal(t, err)
		difftest.Equal(t, name+": uploads wait", 1, waiting)
	}
}
