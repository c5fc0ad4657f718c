package lineindex_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// pend makes the batches pending whose work files are given, instead of adding them.
func (f *fixture) pend(b lineindex.Batch, chunks []lineindex.Chunk) {
	f.searcher.Work = f.files
	f.searcher.Pending = func(context.Context, string) ([]lineindex.Pending, time.Time, error) {
		return []lineindex.Pending{{Batch: b, Chunks: chunks}}, time.Time{}, nil
	}
}

// TestNumbersOfLines has numbers of lines of one identifier about those of a page, of a block and of a read: every line
// is found, and from each of them on the next one.
func TestNumbersOfLines(t *testing.T) {
	t.Parallel()
	around := []int{0, 1, 2, 383, 384, 385, 4095, 4096, 4097, 8191, 8192, 8193}
	for _, n := range around[1:] {
		for _, where := range []string{"segment", "merged", "pending"} {
			f := newFixture()
			lines := slices.Repeat([]line{{"same", "", "", ""}}, n)
			chunks := f.writeChunks(t, "a", [][]line{lines[:n/2], {{"p", "", "", ""}}, lines[n/2:]})
			b := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}
			if where == "pending" {
				f.pend(b, chunks)
			} else {
				errtest.Fatal(t, f.Add(t.Context(), f.tenant, b, chunks))
			}
			if where == "merged" {
				f.FileEntries = 100
				for range 3 {
					f.add(t, time.Time{}, []line{{"q", "", "", ""}})
				}
				errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
			}
			what := fmt.Sprintf("%d lines, %s: ", n, where)
			difftest.Equal(t, what+"lines found", n, len(f.search(t, "same", 5000)))
			for _, k := range around[:slices.Index(around, n)+1] {
				q := lineindex.Query{Tenant: f.tenant, Key: testKey, IDs: []string{"same"},
					Kinds: []lineindex.Kind{lineindex.Payment}, Limit: 1}
				number := int64(k + 1)
				if k >= n/2 {
					number++ // after the line of another identifier
				}
				if k > 0 {
					q.After = &lineindex.Position{ReceivedAt: start, Batch: b.ID, Place: placeOf(k-1, n/2)}
				}
				hits, next, _, err := f.searcher.Search(t.Context(), q)
				errtest.Fatal(t, err)
				if k == n {
					difftest.Equal(t, what+"hits after the last one", 0, len(hits))
					continue
				}
				difftest.Equal(t, what+fmt.Sprintf("line after %d", k), number, hits[0].Line)
				difftest.Equal(t, what+"place", placeOf(k, n/2), hits[0].Position.Place)
				difftest.Equal(t, what+"is the last page", k == n-1, next == nil)
			}
		}
	}
}

// placeOf returns the place of a line with the payment ID same, which a number of such lines precedes; one with the ID
// p is between those before and after the middle.
func placeOf(preceding, middle int) uint64 {
	offset := preceding * (5 + 1 + len("same"))
	if preceding >= middle {
		offset += 5 + 1 + len("p")
	}
	return uint64(offset) << 2
}

// TestLengthsOfIdentifiers has identifiers about the longest that is indexed, and some that are almost UUIDs.
func TestLengthsOfIdentifiers(t *testing.T) {
	f := newFixture()
	long := strings.Repeat("x", 256)
	for id, want := range map[string]bool{
		"x": true, long[:254]: true, long[:255]: true, long: false, "20-26-01-abcd-abcd-abcd-0123456789ab": true,
		"00000000-0000-0000-0000--12345678901": true, "00000000-0000-0000-0000-00000000000\x00": true, "\xff": true,
	} {
		f.add(t, time.Time{}, []line{{id, id, id, id}})
		if found := f.search(t, id, 10); (len(found) == lineindex.Kinds) != want {
			t.Errorf("%q: found %v, want it: %v", id, found, want)
		}
	}
	difftest.Equal(t, "lines without an identifier", 0, len(f.search(t, "", 10)))
}

// TestSeveralIdentifiers searches several identifiers at once, page by page, in a pending batch and in its segment.
// Both have the lines that have them, in order.
func TestSeveralIdentifiers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	chunks, want := make([][]line, 3), []string{}
	ids, number := []string{"a", "b", "c"}, 0
	for i := range chunks {
		for range 5000 {
			number++
			l := line{fmt.Sprint("p", number), fmt.Sprint("t", number), "", ""}
			if r.IntN(200) == 0 {
				l[r.IntN(2)] = ids[r.IntN(3)]
			}
			chunks[i] = append(chunks[i], l)
			for k, id := range l {
				if slices.Contains(ids, id) {
					want = append(want, fmt.Sprintf("%d %d", number, k))
				}
			}
		}
	}
	f := newFixture()
	b := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}
	written := f.writeChunks(t, "a", chunks)
	find := func(limit int) (found []string) {
		q := lineindex.Query{Tenant: f.tenant, Key: testKey, IDs: ids,
			Kinds: []lineindex.Kind{lineindex.Payment, lineindex.Transaction}, Limit: limit}
		for {
			hits, next, _, err := f.searcher.Search(t.Context(), q)
			errtest.Fatal(t, err)
			for _, h := range hits {
				found = append(found, fmt.Sprintf("%d %d", h.Line, h.Kind))
			}
			if q.After = next; next == nil {
				return found
			}
		}
	}
	f.pend(b, written)
	f.files.Reads = 0
	difftest.Equal(t, "pending", want, find(1000))
	if most := 3 * (1 + 2 + 1); f.files.Reads > most+len(want) { // headers, entries and records
		t.Errorf("%d reads for %d hits in three chunks", f.files.Reads, len(want))
	}
	difftest.Equal(t, "pending, page by page", want, find(5))
	errtest.Fatal(t, f.Add(t.Context(), f.tenant, b, written))
	difftest.Equal(t, "pending and in a segment", want, find(7))
	f.searcher.Pending = nil
	difftest.Equal(t, "in a segment", want, find(3))
}

// TestReadsOfAPendingBatch searches one page of many lines with an identifier.
func TestReadsOfAPendingBatch(t *testing.T) {
	f := newFixture()
	chunks := f.writeChunks(t, "a", [][]line{slices.Repeat([]line{{"same", "", "", ""}}, 8000)})
	f.pend(lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}, chunks)
	f.files.Reads = 0
	_, _, _, err := f.searcher.Search(t.Context(), lineindex.Query{Tenant: f.tenant, Key: testKey,
		IDs: []string{"same"}, Kinds: []lineindex.Kind{lineindex.Payment}, Limit: 10})
	errtest.Fatal(t, err)
	difftest.Equal(t, "reads of a header, entries and 10 records", 12, f.files.Reads)
}

// A batch whose work files are deleted before it was indexed does not keep others from being found.
func TestPendingBatchWithoutFiles(t *testing.T) {
	f := newFixture()
	f.add(t, time.Time{}, []line{{"p", "", "", ""}})
	f.pend(lineindex.Batch{ID: batch.ID("00000000-0000-7000-8000-00000000000a"), ReceivedAt: start},
		[]lineindex.Chunk{{Key: "work/gone", FirstLine: 1}})
	difftest.Equal(t, "lines of p", []string{"1 1 0"}, f.search(t, "p", 10))
}

// owingBatches are batches that owe their index, each of one chunk.
type owingBatches []batch.Batch

func (s owingBatches) List(context.Context, string, batch.Filter, batch.ID, int) ([]batch.Batch, batch.ID, error) {
	return s, "", nil
}

func (s owingBatches) Chunks(_ context.Context, id batch.ID) ([]batch.Chunk, error) {
	return []batch.Chunk{{Validated: &batch.ValidateResult{Lines: 1, IdentifiersKey: "work/" + string(id)},
		Settled: &batch.SettleResult{AcceptedKey: string(id)}}}, nil
}

// A batch is not pending if it does not owe its index, or its work files are deleted. Other errors fail.
func TestOwingBatches(t *testing.T) {
	owes := []batch.Receiver{batch.Index}
	errGone, errOther := errors.New("gone"), errors.New("slow down")
	batches := owingBatches{{ID: "1"}, {ID: "gone", Unannounced: owes}, {ID: "3", Unannounced: owes}}
	o := lineindex.Owing{Batches: batches,
		IsGone: func(err error) bool { return errors.Is(err, errGone) },
		Accepted: func(_ context.Context, c batch.Chunk) (func(int64) bool, error) {
			if c.Settled.AcceptedKey == "gone" {
				return nil, errGone
			}
			return func(line int64) bool { return line != 0 }, nil
		}}
	pending, _, err := o.Pending(t.Context(), "t1")
	errtest.Fatal(t, err)
	if len(pending) != 1 || pending[0].ID != "3" || !pending[0].Chunks[0].IsRejected(0) {
		t.Errorf("pending: %v", pending)
	}
	o.Accepted = func(context.Context, batch.Chunk) (func(int64) bool, error) { return nil, errOther }
	_, _, err = o.Pending(t.Context(), "t1")
	errtest.Is(t, "other errors", err, errOther)
}

// A search says until when batches are searched if more of them may owe their index than it looks at.
func TestSearchedUntil(t *testing.T) {
	const n = lineindex.LatestBatches
	owes := []batch.Receiver{batch.Webhooks, batch.Index}
	for name, test := range map[string]struct {
		batches  int
		earliest []batch.Receiver
		want     time.Time
	}{
		"no batch":                  {0, nil, time.Time{}},
		"fewer that owe it":         {n - 1, owes, time.Time{}},
		"as many":                   {n, owes, start},
		"the earliest does not":     {n, owes[:1], time.Time{}},
		"the earliest owes nothing": {n, nil, time.Time{}},
	} {
		batches := make(owingBatches, test.batches)
		for i := range batches {
			batches[i] = batch.Batch{ID: "gone", UpdatedAt: start.Add(time.Duration(test.batches-1-i) * time.Second),
				Unannounced: owes}
		}
		if test.batches > 0 {
			batches[test.batches-1].Unannounced = test.earliest
		}
		f := newFixture()
		f.searcher.Pending = lineindex.Owing{Batches: batches, IsGone: func(error) bool { return true },
			Accepted: func(context.Context, batch.Chunk) (func(int64) bool, error) {
				return nil, errors.New("gone")
			}}.Pending
		_, _, until, err := f.searcher.Search(t.Context(), lineindex.Query{Tenant: f.tenant, Key: testKey,
			IDs: []string{"p"}, Kinds: []lineindex.Kind{lineindex.Payment}, Limit: 1})
		errtest.Fatal(t, err)
		difftest.Equal(t, name, test.want, until)
	}
}
