package lineindextest

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Conform checks a catalog without segments.
func Conform(t *testing.T, c lineindex.Catalog) {
	at := time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)
	only := lineindex.Batch{ID: "0193a0b4-7c00-7000-8000-000000000001", ReceivedAt: at,
		Expires: at.Truncate(time.Second)}
	one := lineindex.Segment{ID: "1", Entries: []int64{7}, Batches: 1, Only: only, FirstExpiry: only.Expires}
	two := lineindex.Segment{ID: "2", Entries: []int64{1, 0, 300, 1 << 40}, PageBits: 16, Batches: 2}
	merge := func(id string, inputs ...lineindex.Segment) lineindex.Merge {
		return lineindex.Merge{At: at, Inputs: inputs,
			Output: lineindex.Segment{ID: id, Entries: []int64{0, 0}, PageBits: 3}}
	}
	check := func(when string, segments []lineindex.Segment, merges ...lineindex.Merge) {
		t.Helper()
		gotSegments, gotMerges, err := c.Segments(t.Context(), "t1")
		errtest.Fatal(t, err)
		difftest.Equal(t, "segments "+when, segments, gotSegments)
		difftest.Equal(t, "merges "+when, merges, gotMerges)
	}
	taken := func(doing string, err error) {
		t.Helper()
		errtest.Is(t, doing, err, lineindex.ErrTaken)
	}
	check("at first", nil)
	for range 2 {
		errtest.Fatal(t, c.Register(t.Context(), "t1", two))
		errtest.Fatal(t, c.Register(t.Context(), "t1", one))
	}
	check("after registering", []lineindex.Segment{one, two})

	// Of several merges with the same input, one begins. One whose inputs do not exist changes nothing.
	taken("absent input", c.BeginMerge(t.Context(), "t1", merge("9", one, lineindex.Segment{ID: "3"})))
	taken("another tenant", c.BeginMerge(t.Context(), "t2", merge("9", one)))
	begun := make(chan lineindex.Merge, 4)
	var g errgroup.Group
	for _, id := range []string{"31", "32", "33", "34"} {
		g.Go(func() error {
			m := merge(id, one, two)
			err := c.BeginMerge(t.Context(), "t1", m)
			if err == nil {
				begun <- m
			} else {
				taken("begin", err)
			}
			return nil
		})
	}
	errtest.Fatal(t, g.Wait())
	m := <-begun
	if len(begun) > 0 {
		t.Error("several merges of the same segments have begun")
	}
	check("while they are merged", []lineindex.Segment{one, two}, m)

	// A merge has one worker until the worker's time is over.
	claim := func(worker string, now time.Time) (lineindex.Merge, error) {
		return c.ClaimMerge(t.Context(), "t1", m.Output.ID, worker, now, now.Add(time.Minute))
	}
	_, err := c.ClaimMerge(t.Context(), "t1", "absent", "a", at, at)
	taken("claim of an absent merge", err)
	for range 2 {
		difftest.Equal(t, "claimed", m, errtest.Must(claim("a", at))(t))
	}
	taken("claim of another's", errtest.Of(claim("b", at.Add(time.Minute))))
	m.Done, m.Output.Entries, m.Output.Batches, m.Output.FirstExpiry = 1, []int64{200, 0}, 3, at
	errtest.Fatal(t, c.SaveMerge(t.Context(), "t1", "a", m, at.Add(2*time.Minute)))
	taken("claim after it was extended", errtest.Of(claim("b", at.Add(2*time.Minute))))
	difftest.Equal(t, "claimed by b", m, errtest.Must(claim("b", at.Add(2*time.Minute+time.Second)))(t))
	taken("save by a", c.SaveMerge(t.Context(), "t1", "a", m, at.Add(time.Hour)))
	taken("publish by a", c.PublishMerge(t.Context(), "t1", "a", m))
	check("before the end", []lineindex.Segment{one, two}, m)

	// It is published once.
	errtest.Fatal(t, c.PublishMerge(t.Context(), "t1", "b", m))
	taken("publish again", c.PublishMerge(t.Context(), "t1", "b", m))
	m.IsPublished = true
	check("published", []lineindex.Segment{one, two, m.Output}, m)
	difftest.Equal(t, "claimed after that", m, errtest.Must(claim("b", at))(t))
	for range 2 {
		errtest.Fatal(t, c.RemoveInputs(t.Context(), "t1", m))
	}
	check("without inputs", []lineindex.Segment{m.Output}, m)
	for range 2 {
		errtest.Fatal(t, c.EndMerge(t.Context(), "t1", m))
	}
	check("in the end", []lineindex.Segment{m.Output})
	taken("claim in the end", errtest.Of(claim("b", at)))
	taken("save in the end", c.SaveMerge(t.Context(), "t1", "b", m, at))
	taken("publish in the end", c.PublishMerge(t.Context(), "t1", "b", m))

	// An output without entries is no segment.
	empty := merge("5", m.Output)
	errtest.Fatal(t, c.BeginMerge(t.Context(), "t1", empty))
	errtest.Fatal(t, errtest.Of(c.ClaimMerge(t.Context(), "t1", "5", "a", at, at)))
	errtest.Fatal(t, c.PublishMerge(t.Context(), "t1", "a", empty))
	empty.IsPublished = true
	check("with an empty output", []lineindex.Segment{m.Output}, empty)
}
