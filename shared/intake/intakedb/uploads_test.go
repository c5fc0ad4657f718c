package intakedb_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice/shared/batch"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/intake/intakedb"
	"sluice/shared/upload"
)

var arrival = time.Date(2026, 11, 26, 8, 15, 0, 123000000, time.UTC)

func newUploads(t *testing.T) *intakedb.Store {
	return intakedb.New(dynamotest.Start(t), "test-batches", func() time.Time { return arrival })
}

// Of the two that come at the same time at least one knows both.
func TestUploadsJoin(t *testing.T) {
	store := newUploads(t)
	for i := range 40 {
		o := batch.Object{Key: fmt.Sprint("uploads/t/", i), ETag: `"e"`, Size: 7}
		var seen [2]upload.Upload
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { seen[0], errs[0] = store.Arrived(context.Background(), o, arrival) })
		both.Go(func() {
			seen[1], errs[1] = store.Scanned(context.Background(), upload.Scanned{Event: "1", Key: o.Key, ETag: o.ETag, Result: upload.Clean})
		})
		both.Wait()
		want := upload.Upload{Object: o, ReceivedAt: arrival, Result: upload.Clean}
		if errs[0] != nil || errs[1] != nil || seen[0] != want && seen[1] != want {
			t.Fatalf("%+v %v", seen, errs)
		}
		if got, err := store.Get(t.Context(), o); err != nil || got != want {
			t.Fatalf("%+v %v", got, err)
		}
	}
}

// The heaviest final result stands, whatever comes after it, and failures are counted by their events.
func TestUploadsKeepTheHeaviestResult(t *testing.T) {
	store := newUploads(t)
	o := batch.Object{Key: "k", ETag: `"e"`}
	for _, step := range []struct {
		event    string
		result   upload.Result
		threat   string
		want     upload.Result
		failures int
	}{
		{"1", upload.Failed, "", "", 1},
		{"1", upload.Failed, "", "", 1},
		{"2", upload.Denied, "", "", 2},
		{"3", upload.Clean, "", upload.Clean, 2},
		{"4", upload.Failed, "", upload.Clean, 3},
		{"5", upload.Unsupported, "", upload.Unsupported, 3},
		{"3", upload.Clean, "", upload.Unsupported, 3},
		{"6", upload.Threats, "EICAR", upload.Threats, 3},
		{"7", upload.Clean, "", upload.Threats, 3},
		{"8", upload.Threats, "other", upload.Threats, 3},
	} {
		got, err := store.Scanned(t.Context(), upload.Scanned{Event: step.event, Key: o.Key, ETag: o.ETag, Result: step.result, Threat: step.threat})
		if err != nil || got.Result != step.want || got.Failures != step.failures || got.Result == upload.Threats && got.Threat != "EICAR" {
			t.Errorf("event %s: %+v %v", step.event, got, err)
		}
	}
}

// The first arrival stays, other objects under the key are others, and a result of another version is none.
func TestUploadsAreObjects(t *testing.T) {
	store := newUploads(t)
	o := batch.Object{Key: "k", ETag: `"e"`, Version: "v1", Size: 7}
	for _, at := range []time.Time{arrival, arrival.Add(time.Hour)} {
		if got, err := store.Arrived(t.Context(), o, at); err != nil || !got.ReceivedAt.Equal(arrival) || got.Object != o {
			t.Errorf("%+v %v", got, err)
		}
	}
	for _, s := range []upload.Scanned{
		{Event: "1", Key: "k", ETag: `"f"`, Version: "v1", Result: upload.Threats},
		{Event: "2", Key: "l", ETag: `"e"`, Version: "v1", Result: upload.Threats},
		{Event: "3", Key: "k", ETag: `"e"`, Version: "v2", Result: upload.Clean},
	} {
		if _, err := store.Scanned(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := store.Get(t.Context(), o); err != nil || got.Result != "" {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := store.Get(t.Context(), batch.Object{Key: "k", ETag: `"none"`}); err != nil || got != (upload.Upload{}) {
		t.Errorf("%+v %v", got, err)
	}
}

func TestUploadsThatWait(t *testing.T) {
	store := newUploads(t)
	waiting := func(before time.Time) (keys []string) {
		t.Helper()
		if err := store.Waiting(t.Context(), before, func(u upload.Upload) error {
			keys = append(keys, u.Object.Key)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	for i, key := range []string{"a", "b", "c"} {
		if _, err := store.Arrived(t.Context(), batch.Object{Key: key, ETag: `"e"`}, arrival.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Scanned(t.Context(), upload.Scanned{Event: "1", Key: "d", ETag: `"e"`, Result: upload.Clean}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(waiting(arrival.Add(2 * time.Minute))); got != "[a b]" {
		t.Error(got)
	}
	for range 2 {
		for _, key := range []string{"a", "nothing"} {
			if err := store.Settled(t.Context(), batch.Object{Key: key, ETag: `"e"`}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := fmt.Sprint(waiting(arrival.Add(time.Hour))); got != "[b c]" {
		t.Error(got)
	}
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)
