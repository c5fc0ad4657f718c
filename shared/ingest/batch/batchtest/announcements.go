package batchtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// endAt is when the batches of these tests end.
var endAt = createdAt.Add(time.Hour)

// end stores a batch and ends it in a terminal status, from a status out of which one transition leads there.
func end(t *testing.T, s batch.Store, status batch.Status) batch.Batch {
	t.Helper()
	from := status.Predecessors()
	b := create(t, s, "tenant", from[len(from)-1])
	return errtest.Must(s.Apply(t.Context(), b.ID, batch.Transition{To: status, At: endAt}))(t)
}

// visitsOfUnannounced returns how often a batch is among those whose announcement is to be looked at before a time.
func visitsOfUnannounced(t *testing.T, s batch.Store, id batch.ID, before time.Time) (n int) {
	t.Helper()
	if err := s.EachUnannounced(t.Context(), before, func(visited batch.ID) error {
		if visited == id {
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// testUnannounced ends batches, postpones their announcements and makes them.
func testUnannounced(t *testing.T, s batch.Store) {
	visits := func(id batch.ID, before time.Time) int {
		t.Helper()
		return visitsOfUnannounced(t, s, id, before)
	}
	for _, status := range []batch.Status{batch.Processed, batch.ValidationFailed, batch.Failed} {
		b := end(t, s, status)
		difftest.Equal(t, fmt.Sprintf("%s: the end is unannounced to", status), batch.Receivers(), b.Unannounced)
		at := endAt
		difftest.Equal(t, fmt.Sprintf("%s: visits: at its end and after it", status), [2]int{0, 1},
			[2]int{visits(b.ID, at), visits(b.ID, at.Add(time.Second))})
		at = at.Add(time.Hour)
		errtest.Fatal(t, s.PostponeAnnouncement(t.Context(), b.ID, at))
		difftest.Equal(t, fmt.Sprintf("%s, postponed: visits", status), [2]int{0, 1},
			[2]int{visits(b.ID, at), visits(b.ID, at.Add(time.Second))})
		for _, to := range [][]batch.Receiver{nil, {"someone-else"}} {
			errtest.Fatal(t, s.MarkAnnounced(t.Context(), b, to))
			difftest.Equal(t, fmt.Sprintf("%s, announced to %v: visits", status, to), 1,
				visits(b.ID, at.Add(time.Second)))
		}
		testAnnouncing(t, s, b)
		difftest.Equal(t, fmt.Sprintf("%s, announced to everyone: visits", status), 0,
			visits(b.ID, at.Add(time.Second)))
	}
	unknown := newID(t)
	errtest.Is(t, "an unknown batch",
		errors.Join(s.PostponeAnnouncement(t.Context(), unknown, endAt),
			s.MarkAnnounced(t.Context(), batch.Batch{ID: unknown}, batch.Receivers())), nil)
	errtest.Is(t, "an unknown batch exists after its announcement was postponed",
		errtest.Of(s.Get(t.Context(), unknown)), batch.ErrNotFound)
	stop := errors.New("stop")
	end(t, s, batch.Failed)
	err := s.EachUnannounced(t.Context(), endAt.Add(time.Hour), func(batch.ID) error { return stop })
	errtest.Is(t, "a visit that fails", err, stop)
}

// testAnnouncing announces the end of a batch to one receiver after the other, each twice.
func testAnnouncing(t *testing.T, s batch.Store, b batch.Batch) {
	t.Helper()
	rest := batch.Receivers()
	for _, r := range batch.Receivers() {
		rest = rest[1:]
		for range 2 {
			errtest.Fatal(t, s.MarkAnnounced(t.Context(), b, []batch.Receiver{r}))
			got := errtest.Must(s.Get(t.Context(), b.ID))(t)
			want := b
			want.Unannounced = append([]batch.Receiver(nil), rest...)
			difftest.Equal(t, fmt.Sprintf("announced to %s", r), want, got)
		}
	}
	errtest.Fatal(t, s.PostponeAnnouncement(t.Context(), b.ID, endAt))
}

// testOneAttemptAnnounces claims announcements in the name of several attempts.
func testOneAttemptAnnounces(t *testing.T, s batch.Store) {
	open, ended := create(t, s, "tenant", batch.AwaitingUpload), end(t, s, batch.Processed)
	testClaims(t, s.ClaimAnnouncement, open.ID, ended, batch.ErrNothingToAnnounce)
	errtest.Fatal(t, s.MarkAnnounced(t.Context(), ended, batch.Receivers()))
	expectNoClaim(t, s.ClaimAnnouncement, ended.ID, batch.ErrNothingToAnnounce)
}

// claimFunc is a method of batch.Store by which attempts claim what a batch owes.
type claimFunc func(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch, error)

// claimedUntil is when the claims of these tests end.
var claimedUntil = endAt.Add(time.Minute)

// testClaims claims what a batch owes in the name of several attempts. nothing is the error about one that owes
// nothing, and about one that another attempt has claimed.
func testClaims(t *testing.T, claim claimFunc, owesNothing batch.ID, ended batch.Batch, nothing error) {
	t.Helper()
	for _, c := range []struct {
		name    string
		id      batch.ID
		attempt string
		at      time.Time
		want    error
	}{
		{"unknown batch", newID(t), "a", endAt, batch.ErrNotFound},
		{"a batch that owes nothing", owesNothing, "a", endAt, nothing},
		{"first", ended.ID, "a", endAt, nil},
		{"repeated", ended.ID, "a", endAt, nil},
		{"another one", ended.ID, "b", claimedUntil, nothing},
		{"another one after the time of the first", ended.ID, "b", claimedUntil.Add(time.Second), nil},
		{"the first one again", ended.ID, "a", endAt, nothing},
	} {
		got, err := claim(t.Context(), c.id, c.attempt, c.at, claimedUntil)
		if !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: got error %v, want %v", c.name, err, c.want)
		}
		if diff := cmp.Diff(ended, got); c.want == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// expectNoClaim claims what is done for the attempt which had the claim last, after its time.
func expectNoClaim(t *testing.T, claim claimFunc, id batch.ID, nothing error) {
	t.Helper()
	later := claimedUntil.Add(time.Hour)
	errtest.Is(t, "claim of what is done", errtest.Of(claim(t.Context(), id, "b", later, later)), nothing)
}
