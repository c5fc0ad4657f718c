package intakedb_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/intake/intakedb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

var arrival = time.Date(2026, 11, 26, 8, 15, 0, 123000000, time.UTC)

func newUploads(t *testing.T) *intakedb.Store {
	return intakedb.New(dynamotest.Start(t), "test-batches", func() time.Time { return arrival })
}

// Of an arrival and a result that are recorded concurrently, at least one call returns both.
func TestConcurrentArrivalAndResult(t *testing.T) {
	store := newUploads(t)
	for i := range 40 {
		o := batch.Object{Key: fmt.Sprint("uploads/t/", i), ETag: `"e"`, Size: 7}
		var seen [2]intake.Upload
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { seen[0], errs[0] = store.RecordArrival(context.Background(), o, arrival) })
		both.Go(func() {
			seen[1], errs[1] = store.RecordScan(context.Background(),
				intake.ScanReport{Event: "1", Key: o.Key, ETag: o.ETag, Result: intake.NoThreatsFound})
		})
		both.Wait()
		want := intake.Upload{Object: o, ReceivedAt: arrival, Result: intake.NoThreatsFound}
		if errs[0] != nil || errs[1] != nil || seen[0] != want && seen[1] != want {
			t.Fatalf("concurrent calls: got %+v and %+v, errors %v, want one of them %+v", seen[0], seen[1], errs, want)
		}
		if got, err := store.Get(t.Context(), o); err != nil || got != want {
			t.Fatalf("Get: got %+v, error %v, want %+v", got, err, want)
		}
	}
}

// The most severe final result counts, in any order of the results, and failures are counted by their events.
func TestMostSevereResultCounts(t *testing.T) {
	store := newUploads(t)
	o := batch.Object{Key: "k", ETag: `"e"`}
	for _, step := range []struct {
		event    string
		result   intake.ScanResult
		threat   string
		want     intake.ScanResult
		failures int
	}{
		{"1", intake.ScanFailed, "", "", 1},
		{"1", intake.ScanFailed, "", "", 1},
		{"2", intake.AccessDenied, "", "", 2},
		{"3", intake.NoThreatsFound, "", intake.NoThreatsFound, 2},
		{"4", intake.ScanFailed, "", intake.NoThreatsFound, 3},
		{"5", intake.Unsupported, "", intake.Unsupported, 3},
		{"3", intake.NoThreatsFound, "", intake.Unsupported, 3},
		{"6", intake.ThreatsFound, "EICAR", intake.ThreatsFound, 3},
		{"7", intake.NoThreatsFound, "", intake.ThreatsFound, 3},
		{"8", intake.ThreatsFound, "other", intake.ThreatsFound, 3},
	} {
		got, err := store.RecordScan(t.Context(),
			intake.ScanReport{Event: step.event, Key: o.Key, ETag: o.ETag, Result: step.result, Threat: step.threat})
		if err != nil || got.Result != step.want || got.Failures != step.failures ||
			got.Result == intake.ThreatsFound && got.Threat != "EICAR" {
			t.Errorf("event %s, %s: got %+v, error %v, want result %q and %d failures",
				step.event, step.result, got, err, step.want, step.failures)
		}
	}
}

// The first arrival counts. An object with another key, ETag or version is another upload.
func TestUploadsAreDistinguished(t *testing.T) {
	store := newUploads(t)
	o := batch.Object{Key: "k", ETag: `"e"`, Version: "v1", Size: 7}
	for _, at := range []time.Time{arrival, arrival.Add(time.Hour)} {
		if got, err := store.RecordArrival(t.Context(), o, at); err != nil || !got.ReceivedAt.Equal(arrival) ||
			got.Object != o {
			t.Errorf("arrival at %v: got %+v, error %v, want that at %v", at, got, err, arrival)
		}
	}
	for _, s := range []intake.ScanReport{
		{Event: "1", Key: "k", ETag: `"f"`, Version: "v1", Result: intake.ThreatsFound},
		{Event: "2", Key: "l", ETag: `"e"`, Version: "v1", Result: intake.ThreatsFound},
		{Event: "3", Key: "k", ETag: `"e"`, Version: "v2", Result: intake.NoThreatsFound},
	} {
		errtest.Fatal(t, errtest.Of(store.RecordScan(t.Context(), s)))
	}
	if got, err := store.Get(t.Context(), o); err != nil || got.Result != "" {
		t.Errorf("Get: got %+v, error %v, want no result", got, err)
	}
	if got, err := store.Get(t.Context(), batch.Object{Key: "k", ETag: `"none"`}); err != nil ||
		got != (intake.Upload{}) {
		t.Errorf("Get of an unknown object: got %+v, error %v, want the zero Upload", got, err)
	}
}

func TestWaitingUploads(t *testing.T) {
	store := newUploads(t)
	waiting := func(before time.Time) (keys []string) {
		t.Helper()
		errtest.Fatal(t, store.EachWaiting(t.Context(), before, func(u intake.Upload) error {
			keys = append(keys, u.Object.Key)
			return nil
		}))
		slices.Sort(keys) // they come in no particular order
		return keys
	}
	for i, key := range []string{"a", "b", "c"} {
		errtest.Fatal(t, errtest.Of(store.RecordArrival(t.Context(), batch.Object{Key: key, ETag: `"e"`},
			arrival.Add(time.Duration(i)*time.Minute))))
	}
	errtest.Fatal(t, errtest.Of(store.RecordScan(t.Context(),
		intake.ScanReport{Event: "1", Key: "d", ETag: `"e"`, Result: intake.NoThreatsFound})))
	difftest.Equal(t, "waiting after two minutes", "[a b]", fmt.Sprint(waiting(arrival.Add(2*time.Minute))))
	for range 2 {
		for _, key := range []string{"a", "nothing"} {
			errtest.Fatal(t, store.StopWaiting(t.Context(), batch.Object{Key: key, ETag: `"e"`}))
		}
	}
	difftest.Equal(t, "waiting after StopWaiting", "[b c]", fmt.Sprint(waiting(arrival.Add(time.Hour))))
	unknown := batch.Object{Key: "nothing", ETag: `"e"`}
	if u, err := store.Get(t.Context(), unknown); err != nil || u != (intake.Upload{}) {
		t.Errorf("StopWaiting has stored %+v for an unknown object, %v", u, err)
	}
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)
