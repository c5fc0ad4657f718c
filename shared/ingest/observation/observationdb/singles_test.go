package observationdb_test

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const table = "test-observations"

var at = time.Date(2026, 11, 26, 23, 59, 59, 999, time.UTC)

// Each request is counted once, by its day; those that were refused are listed in pages.
func TestRequestsAreCountedOnce(t *testing.T) {
	t.Parallel()
	const stored, refused, conflict = http.StatusCreated, http.StatusBadRequest, http.StatusConflict
	ctx, store := t.Context(), observationdb.New(dynamotest.Start(t), table)
	for i, o := range []observation.Event{
		{At: at, TransactionID: "t", ModificationID: "a", Status: stored},
		{At: at, TransactionID: "t", ModificationID: "a", Status: stored},
		{At: at, TransactionID: "t", ModificationID: "a", Status: refused},
		{At: at.Add(-1), TransactionID: "t", ModificationID: "b#", Status: conflict},
		{At: at.Add(-1), TransactionID: "t", ModificationID: "b#", Status: conflict, Reason: "again"},
		{At: at.Add(-2), Status: refused},
		{At: at.Add(time.Second), TransactionID: "t", ModificationID: "a", Status: refused},
		{Tenant: "t2", At: at, ModificationID: "c", Status: refused},
	} {
		if o.Tenant == "" {
			o.Tenant = "t1"
		}
		if err := store.Record(ctx, o); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for last, want := range map[string]map[string]observation.Counts{
		"2026-11-25": {},
		"2026-11-26": {"2026-11-26": {Stored: 1, Refused: 3}},
		"2026-11-27": {"2026-11-26": {Stored: 1, Refused: 3}, "2026-11-27": {Refused: 1}},
	} {
		got, err := store.Count(ctx, "t1", "2026-11-25", last)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("counts up to %s, error %v (-want +got):\n%s", last, err, diff)
		}
	}
	first, next, err := store.Refused(ctx, "t1", "2026-11-26", "", 1)
	if err != nil || !slices.Equal(first, []string{"b#"}) || next == "" {
		t.Fatalf("got %q, %q, %v, want b# and more", first, next, err)
	}
	rest, next, err := store.Refused(ctx, "t1", "2026-11-26", next, 5)
	if err != nil || !slices.Equal(rest, []string{"a"}) || next != "" {
		t.Errorf("got %q, %q, %v, want a and no more", rest, next, err)
	}
}

// Requests at the same time, each of them recorded twice, are counted once each.
func TestRequestsAtTheSameTime(t *testing.T) {
	t.Parallel()
	const requests = 40
	ctx, store := t.Context(), observationdb.New(dynamotest.Start(t), table)
	var wg sync.WaitGroup
	for i := range 2 * requests {
		wg.Go(func() {
			o := observation.Event{Tenant: "t1", At: at.Add(-time.Duration(i / 2)), TransactionID: "t",
				ModificationID: "m", Status: http.StatusCreated}
			if err := store.Record(ctx, o); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := store.Count(ctx, "t1", "2026-11-26", "2026-11-26")
	if want := (observation.Counts{Stored: requests}); err != nil || got["2026-11-26"] != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// A request that could not be recorded completely is not counted twice, and is listed, when it is recorded again.
func TestRecordAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	db := dynamotest.Start(t)
	o := observation.Event{Tenant: "t1", At: at, TransactionID: "t", ModificationID: "m", Status: http.StatusBadRequest}
	for i, want := range []int64{1, 1, 0} { // the call that fails: the list's, the request's, the count's
		o.Tenant = string(rune('a' + i))
		if err := observationdb.New(failingAfter(db, i), table).Record(t.Context(), o); err == nil {
			t.Fatalf("call %d failed, and Record returned no error", i)
		}
		store := observationdb.New(db, table)
		for range 2 {
			errtest.Fatal(t, store.Record(t.Context(), o))
		}
		counts, err := store.Count(t.Context(), o.Tenant, "2026-11-26", "2026-11-26")
		if err != nil || counts["2026-11-26"].Refused != want {
			t.Errorf("after call %d failed, got %+v, %v, want %d", i, counts, err, want)
		}
		ids, _, err := store.Refused(t.Context(), o.Tenant, "2026-11-26", "", 10)
		if err != nil || !slices.Equal(ids, []string{"m"}) {
			t.Errorf("after call %d failed, got %q, %v, want m once", i, ids, err)
		}
	}
}

// observed are requests with every attribute set, by the names of their golden items.
var observed = map[string]observation.Event{
	"stored-by-each-id": {Tenant: "t1", At: at, TransactionID: "t", ModificationID: "m", PaymentID: "p",
		RequestID: "1F0A8F4E-6f54-4d0a-8c6b-0d9a5c7b4e15", Status: http.StatusCreated, Expires: at.Add(time.Hour)},
	"refused-by-each-id": {Tenant: "t1", At: at, TransactionID: "t", ModificationID: "m", PaymentID: "p",
		RequestID: "1F0A8F4E-6f54-4d0a-8c6b-0d9a5c7b4e15", Status: http.StatusBadRequest,
		Reason: "2 validation errors"},
}

// TestStored pins the stored items.
func TestStored(t *testing.T) {
	t.Parallel()
	for name, o := range observed {
		db := dynamotest.Start(t)
		errtest.Fatal(t, observationdb.New(db, table).Record(t.Context(), o))
		dynamotest.CompareStored(t, db, table, name)
	}
}

// Items of earlier releases, which have only the modification's, stay readable.
func TestReadStored(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]observation.Event{
		"stored":  {Status: http.StatusCreated, Expires: at.Add(32 * 24 * time.Hour).Truncate(time.Second)},
		"refused": {Status: http.StatusBadRequest, Reason: "2 validation errors"},
	} {
		want.Tenant, want.At, want.TransactionID, want.ModificationID = "t1", at, "t", "m"
		db := dynamotest.Start(t)
		dynamotest.LoadStored(t, db, table, name)
		got, _, err := observationdb.New(db, table).Events(t.Context(), "t1", "m", at, "", 10)
		if diff := cmp.Diff([]observation.Event{want}, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// limitedCalls makes a number of calls, and fails those that follow.
type limitedCalls struct {
	dynamodb.HTTPClient
	left int
}

func (c *limitedCalls) Do(r *http.Request) (*http.Response, error) {
	if c.left--; c.left < 0 {
		return nil, errors.New("failed")
	}
	return c.HTTPClient.Do(r)
}

// failingAfter returns a client that fails after a number of calls.
func failingAfter(db *dynamodb.Client, calls int) *dynamodb.Client {
	return dynamodb.New(db.Options(), func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = &limitedCalls{o.HTTPClient, calls}, aws.NopRetryer{}
	})
}
