package batchtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// createListed stores the n-th batch of a tenant, by the time of its creation in minutes.
func createListed(t *testing.T, s batch.Store, tenant string, n int, change func(*batch.Batch)) batch.ID {
	t.Helper()
	b := NewBatch(t, tenant)
	b.CreatedAt = createdAt.Add(time.Duration(n) * time.Minute)
	ms := fmt.Sprintf("%012x", b.CreatedAt.UnixMilli())
	b.ID = batch.ID(ms[:8] + "-" + ms[8:] + string(b.ID[13:]))
	if change != nil {
		change(&b)
	}
	errtest.Fatal(t, s.Create(t.Context(), b))
	return b.ID
}

// listAll returns the IDs of all pages of a list.
func listAll(t *testing.T, s batch.Store, f batch.Filter, limit int) (ids []batch.ID, pages int) {
	t.Helper()
	for after := batch.ID(""); ; {
		found, next, err := s.List(t.Context(), "mine", f, after, limit)
		errtest.Fatal(t, err)
		pages++
		if len(found) > limit || next != "" && after != "" && next >= after {
			t.Fatalf("%d batches and the position %q after %q, want at most %d and an earlier position", len(found),
				next, after, limit)
		}
		for _, b := range found {
			ids = append(ids, b.ID)
		}
		if after = next; after == "" {
			return ids, pages
		}
	}
}

func testList(t *testing.T, s batch.Store) {
	var ids []batch.ID // newest first
	for n := range 40 {
		ids = slices.Insert(ids, 0, createListed(t, s, "mine", n, func(b *batch.Batch) {
			b.Client = fmt.Sprint("client-", n%2)
			b.Name = fmt.Sprintf("%c-%d", 'a'+n%3, n)
			b.Metadata = map[string]string{"n": fmt.Sprint(n), "half": fmt.Sprint(n / 20), "empty": ""}
		}))
	}
	createListed(t, s, "other", 1, nil)
	createListed(t, s, "min", 1, nil)
	for _, n := range []int{0, 3, 39} { // numbers from the oldest on
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), ids[39-n], batch.Transition{To: batch.Failed, At: createdAt,
			ErrorMessage: "e"})))
	}
	minute := func(n int) time.Time { return createdAt.Add(time.Duration(n) * time.Minute) }
	for _, tt := range []struct {
		name   string
		filter batch.Filter
		want   func(n int) bool
	}{
		{"all", batch.Filter{}, func(int) bool { return true }},
		{"status", batch.Filter{Statuses: []batch.Status{batch.Failed}},
			func(n int) bool { return n == 0 || n == 3 || n == 39 }},
		{"statuses", batch.Filter{Statuses: []batch.Status{batch.Failed, batch.AwaitingUpload}},
			func(int) bool { return true }},
		{"awaiting", batch.Filter{States: []batch.State{batch.InAwaitingUpload}},
			func(n int) bool { return n != 0 && n != 3 && n != 39 }},
		{"ended", batch.Filter{States: []batch.State{batch.InEnded}},
			func(n int) bool { return n == 0 || n == 3 || n == 39 }},
		{"open or ended", batch.Filter{States: []batch.State{batch.InOpen, batch.InEnded}},
			func(int) bool { return true }},
		{"open and failed", batch.Filter{States: []batch.State{batch.InOpen}, Statuses: []batch.Status{batch.Failed}},
			func(int) bool { return false }},
		{"no such status", batch.Filter{Statuses: []batch.Status{batch.Processed}}, func(int) bool { return false }},
		{"after", batch.Filter{CreatedAfter: minute(30)}, func(n int) bool { return n > 30 }},
		{"just after", batch.Filter{CreatedAfter: minute(30).Add(-1)}, func(n int) bool { return n >= 30 }},
		{"before", batch.Filter{CreatedBefore: minute(7)}, func(n int) bool { return n < 7 }},
		{"just before", batch.Filter{CreatedBefore: minute(7).Add(1)}, func(n int) bool { return n <= 7 }},
		{"between", batch.Filter{CreatedAfter: minute(2), CreatedBefore: minute(5)},
			func(n int) bool { return n == 3 || n == 4 }},
		{"nothing between", batch.Filter{CreatedAfter: minute(5), CreatedBefore: minute(2)},
			func(int) bool { return false }},
		{"long ago", batch.Filter{CreatedBefore: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)},
			func(int) bool { return false }},
		{"far away", batch.Filter{CreatedAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
			func(int) bool { return false }},
		{"client", batch.Filter{Client: "client-1"}, func(n int) bool { return n%2 == 1 }},
		{"name", batch.Filter{NamePrefix: "b-"}, func(n int) bool { return n%3 == 1 }},
		{"longer name", batch.Filter{NamePrefix: "b-10x"}, func(int) bool { return false }},
		{"metadata", batch.Filter{Metadata: map[string]string{"half": "1", "empty": ""}},
			func(n int) bool { return n >= 20 }},
		{"no such metadata", batch.Filter{Metadata: map[string]string{"absent": ""}}, func(int) bool { return false }},
		{"several", batch.Filter{Client: "client-0", NamePrefix: "a", CreatedAfter: minute(10),
			Metadata: map[string]string{"half": "0"}}, func(n int) bool { return n == 12 || n == 18 }},
	} {
		var want []batch.ID
		for i, id := range ids {
			if tt.want(39 - i) {
				want = append(want, id)
			}
		}
		for _, limit := range []int{1, 7, 39, 40, 41, 200} {
			got, pages := listAll(t, s, tt.filter, limit)
			difftest.Equal(t, fmt.Sprintf("%s by %d: IDs", tt.name, limit), want, got)
			if most := len(want)/limit + 1; tt.name == "all" && pages > max(1, (len(want)+limit-1)/limit) ||
				pages > most {
				t.Errorf("%s by %d: %d pages for %d batches", tt.name, limit, pages, len(want))
			}
		}
	}
}

// One call inspects a limited number of batches, and pages neither lose nor repeat one, whatever is created meanwhile.
func testListIsBounded(t *testing.T, s batch.Store) {
	const batches = 1100
	var rare []batch.ID
	for n := range batches {
		id := createListed(t, s, "mine", n, func(b *batch.Batch) {
			if n%550 == 0 {
				b.Name = "rare"
			}
		})
		if n%550 == 0 {
			rare = slices.Insert(rare, 0, id)
		}
	}
	first, next, err := s.List(t.Context(), "mine", batch.Filter{NamePrefix: "rare"}, "", 10)
	if err != nil || len(first) != 1 || next == "" {
		t.Fatalf("the first page has %d batches, next %q, error %v; want one of the two, and a next page", len(first),
			next, err)
	}
	for n := range 3 {
		createListed(t, s, "mine", batches+n, func(b *batch.Batch) { b.Name = "rare" })
	}
	second, next, err := s.List(t.Context(), "mine", batch.Filter{NamePrefix: "rare"}, next, 10)
	if err != nil || len(second) != 1 || next != "" || first[0].ID != rare[0] || second[0].ID != rare[1] {
		t.Errorf("the second page has %d batches, next %q, error %v; want the other one and the end", len(second), next,
			err)
	}
	if none, next, err := s.List(t.Context(), "mine", batch.Filter{Client: "nobody"}, "", 10); err != nil ||
		len(none) != 0 || next == "" {
		t.Errorf("a page of nothing has %d batches, next %q, error %v; want none and a next page", len(none), next, err)
	}
}
