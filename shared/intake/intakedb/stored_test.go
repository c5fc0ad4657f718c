package intakedb_test

import (
	"sluice/shared/batch"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/intake/intakedb"
	"sluice/shared/upload"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStoredUploads pins what is stored: one golden item for each kind of row, with every attribute set. It writes through the store and
// compares the items, and it reads the golden items through the store and compares the values. Renaming a Go field so that a
// stored name changes fails both.
func TestStoredUploads(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	now := func() time.Time { return at }
	s := intakedb.New(client, "test-batches", now)
	object := batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}
	if _, err := s.Arrived(ctx, object, at); err != nil {
		t.Fatal(err)
	}
	failed := upload.Scanned{Event: "event", Key: object.Key, ETag: object.ETag, Version: object.Version, Result: upload.Failed}
	if _, err := s.Scanned(ctx, failed); err != nil {
		t.Fatal(err)
	}
	found := upload.Scanned{Event: "other", Key: object.Key, ETag: object.ETag, Version: object.Version, Result: upload.Threats, Threat: "EICAR"}
	want, err := s.Scanned(ctx, found)
	if err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-batches", "uploads")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "uploads")
	s = intakedb.New(client, "test-batches", now)
	got, err := s.Get(ctx, object)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("upload: %v, (-want +got)\n%s", err, diff)
	}
	waiting := 0
	err = s.Waiting(ctx, at.Add(time.Hour), func(upload.Upload) error { waiting++; return nil })
	if err != nil || waiting != 1 {
		t.Errorf("%d uploads wait, want 1; %v", waiting, err)
	}
}
