package observationdb_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/observationdb"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// find returns what is found, at a time, in pages of two.
func find(t *testing.T, s *observationdb.Store, kind observation.Kind, id string, now time.Time) (
	all []observation.Event) {
	t.Helper()
	for place := ""; ; {
		found, isMore, err := s.Find(context.Background(), "t1", kind, id, place, 2, now)
		errtest.Fatal(t, err)
		for _, f := range found {
			all, place = append(all, f.Event), f.Place
		}
		if !isMore {
			return all
		}
		if len(found) == 0 {
			t.Fatal("found none although there are more")
		}
	}
}

// A request is found by each of its IDs, with the others; by the ID of its transaction only if it was refused.
func TestFindByEachID(t *testing.T) {
	t.Parallel()
	for name, o := range observed {
		s := observationdb.New(dynamotest.Start(t), table)
		errtest.Fatal(t, s.Record(t.Context(), o))
		for kind, id := range map[observation.Kind]string{observation.Payment: "p", observation.Transaction: "t",
			observation.Modification: "m", observation.Request: strings.ToUpper(o.RequestID)} {
			want := o
			want.Expires, want.Reason, want.RequestID = o.Expires.Truncate(time.Second), "", ""
			switch kind {
			case observation.Modification:
				want.Reason = o.Reason
			case observation.Request:
				want.RequestID = id
			}
			expected := []observation.Event{want}
			if kind == observation.Transaction && o.IsStored() {
				expected = nil
			}
			if diff := cmp.Diff(expected, find(t, s, kind, id, at)); diff != "" {
				t.Errorf("%s by %s (-want +got):\n%s", name, kind, diff)
			}
			if got, _, err := s.Find(t.Context(), "t2", kind, id, "", 10, at); len(got) > 0 || err != nil {
				t.Errorf("%s by %s: another tenant found %+v, %v", name, kind, got, err)
			}
		}
	}
}

// Requests are found newest first, in pages and before a time, until they expire. IDs that no line can have are not
// looked for.
func TestFindInPages(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), observationdb.New(dynamotest.Start(t), table)
	for i := range 5 {
		e := observation.Event{Tenant: "t1", At: at.Add(time.Duration(i)), TransactionID: "t",
			ModificationID: fmt.Sprint("m", i), PaymentID: "p", RequestID: strings.Repeat("r", 256),
			Status: http.StatusCreated, Expires: at.Add(time.Duration(i+1) * time.Minute)}
		if i == 0 {
			e.Expires = time.Time{}
		}
		errtest.Fatal(t, s.Record(ctx, e))
	}
	modifications := func(events []observation.Event) (ids []string) {
		for _, e := range events {
			ids = append(ids, e.ModificationID)
		}
		return ids
	}
	for after, want := range map[time.Duration][]string{
		0: {"m4", "m3", "m2", "m1", "m0"}, 4 * time.Minute: {"m4", "m0"}, time.Hour: {"m0"},
	} {
		if got := modifications(find(t, s, observation.Payment, "p", at.Add(after))); !slices.Equal(got, want) {
			t.Errorf("after %v found %q, want %q", after, got, want)
		}
	}
	found, isMore, err := s.Find(ctx, "t1", observation.Payment, "p", observation.PlaceOf(at.Add(2)), 10, at)
	if err != nil || isMore || len(found) != 2 || found[0].ModificationID != "m1" {
		t.Errorf("before a time found %+v, %t, %v, want m1 and m0", found, isMore, err)
	}
	if got := find(t, s, observation.Request, strings.Repeat("r", 256), at); got != nil {
		t.Errorf("found %+v by an ID that is too long", got)
	}
}

// Events are those of some time, although what is found by IDs is stored longer.
func TestEventsSinceATime(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), observationdb.New(dynamotest.Start(t), table)
	errtest.Fatal(t, s.Record(ctx, observed["stored-by-each-id"]))
	for since, want := range map[time.Time]int{at: 1, at.Add(1): 0} {
		events, next, err := s.Events(ctx, "t1", "m", since, "", 10)
		if len(events) != want || next != "" || err != nil {
			t.Errorf("since %v got %+v, %q, %v, want %d", since, events, next, err, want)
		}
	}
}
