package lineindex_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var (
	testKey = lineindex.Key{1, 2, 3}
	start   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// fixture is an index of which a test knows all lines.
type fixture struct {
	*lineindex.Indexer
	searcher lineindex.Searcher
	files    *lineindextest.Files
	clock    atomic.Int64
	names    atomic.Int64
	tenant   string
	// added are the batches.
	added []lineindex.Batch
}

func newFixture() *fixture {
	f := &fixture{files: lineindextest.NewFiles(), tenant: "t1"}
	f.clock.Store(start.UnixNano())
	f.Indexer = &lineindex.Indexer{Catalog: lineindextest.NewCatalog(), Work: f.files, Files: f.files,
		Lease: time.Minute, Now: f.now,
		NewName: func() string { return fmt.Sprint("name", f.names.Add(1)) }}
	f.searcher = lineindex.Searcher{Catalog: f.Catalog, Files: f.files, Now: f.now,
		IsGone: lineindextest.IsGone}
	return f
}

func (f *fixture) now() time.Time { return time.Unix(0, f.clock.Load()).UTC() }

func (f *fixture) advance(d time.Duration) { f.clock.Add(int64(d)) }

// line has the identifiers of a line by their kinds; "" for none.
type line = lineindex.IDs

// add adds a batch with chunks of lines, and returns it. Each batch is received a second after the one before.
func (f *fixture) add(t *testing.T, expires time.Time, chunks ...[]line) lineindex.Batch {
	t.Helper()
	f.advance(time.Second)
	b := lineindex.Batch{ID: batch.ID(fmt.Sprintf("00000000-0000-7000-8000-%012x", len(f.added)+1)),
		ReceivedAt: f.now(), Expires: expires}
	f.added = append(f.added, b)
	errtest.Fatal(t, f.Add(context.Background(), f.tenant, b, f.writeChunks(t, string(b.ID), chunks)))
	return b
}

// writeChunks writes the work files of chunks.
func (f *fixture) writeChunks(t testing.TB, name string, chunks [][]line) (written []lineindex.Chunk) {
	t.Helper()
	first := int64(1)
	var c lineindex.Collector
	for i, lines := range chunks {
		c.Reset(&testKey, 0)
		for n, ids := range lines {
			c.Add(int64(n), resultOf(ids))
		}
		// The identifiers are behind something else, except for those of the first chunk.
		out := lineindex.Chunk{Key: fmt.Sprintf("work/%s/%d", name, i), Offset: int64(7 * i), FirstLine: first}
		first += int64(len(lines))
		b := bytes.NewBuffer(make([]byte, out.Offset))
		size := errtest.Must(c.WriteTo(b))(t)
		if size == 0 {
			out.Key = ""
		} else {
			errtest.Fatal(t, f.files.WriteObject(context.Background(), out.Key, func(w io.Writer) error {
				_, err := b.WriteTo(w)
				return err
			}))
		}
		written = append(written, out)
	}
	return written
}

func resultOf(ids line) *transaction.Result {
	text := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(s)
	}
	return &transaction.Result{PaymentExternalID: text(ids[lineindex.Payment]),
		TransactionExternalID: text(ids[lineindex.Transaction]),
		ModificationID:        text(ids[lineindex.Modification]), RequestUUID: text(ids[lineindex.Request])}
}

// search returns the hits of all pages as "batch line kind".
func (f *fixture) search(t *testing.T, id string, limit int, kinds ...lineindex.Kind) (found []string) {
	t.Helper()
	if kinds == nil {
		kinds = []lineindex.Kind{lineindex.Payment, lineindex.Transaction, lineindex.Modification, lineindex.Request}
	}
	q := lineindex.Query{Tenant: f.tenant, Key: testKey, IDs: []string{id}, Kinds: kinds, Limit: limit}
	for {
		hits, next, _, err := f.searcher.Search(context.Background(), q)
		errtest.Fatal(t, err)
		for _, h := range hits {
			number := strings.TrimLeft(string(h.Batch.ID[24:]), "0")
			found = append(found, fmt.Sprintf("%s %d %d", number, h.Line, h.Kind))
		}
		if q.After = next; next == nil {
			return found
		}
	}
}

func (f *fixture) segments(t *testing.T) []lineindex.Segment {
	t.Helper()
	segments, merges, err := f.Catalog.Segments(context.Background(), f.tenant)
	errtest.Fatal(t, err)
	if len(merges) > 0 {
		t.Errorf("%d merges have not ended", len(merges))
	}
	return segments
}

// checkObjects checks that the objects of the index are those of its segments and the records of its batches.
func (f *fixture) checkObjects(t *testing.T) {
	t.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	add := func(format string, args ...any) { want["index/"+f.tenant+"/"+fmt.Sprintf(format, args...)] = true }
	for _, s := range f.segments(t) {
		if s.Batches > 1 {
			add("segments/%s/batches", s.ID)
		}
		for i := range s.Entries {
			add("segments/%s/%d", s.ID, i)
		}
	}
	for _, b := range f.added {
		if b.Expires.IsZero() {
			add("records/%s", b.ID)
		}
	}
	for key := range f.files.Objects {
		if strings.HasPrefix(key, "index/") {
			got[key] = true
		}
	}
	difftest.Equal(t, "objects", want, got)
}

func TestFindsLinesByEachIdentifier(t *testing.T) {
	f := newFixture()
	const request = "0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"
	long := strings.Repeat("ü", 127) + "x" // 255 bytes
	f.add(t, time.Time{}, []line{{"p1", "t1", "m1", request}, {}, {"p1", "t2", "m2", ""}}, []line{{}},
		[]line{{"", "p1", long, ""}})
	f.add(t, time.Time{}, []line{{"p2", "t1", "m3", strings.ToUpper(request)}})
	for id, want := range map[string][]string{
		"p1": {"1 1 0", "1 3 0", "1 5 1"}, "t1": {"2 1 1", "1 1 1"}, "m2": {"1 3 2"}, long: {"1 5 2"}, "m3": {"2 1 2"},
		request: {"2 1 3", "1 1 3"}, strings.ToUpper(request): {"2 1 3", "1 1 3"}, "P1": nil, "absent": nil,
	} {
		difftest.Equal(t, id, want, f.search(t, id, 10))
		difftest.Equal(t, id, want, f.search(t, id, 1))
	}
	difftest.Equal(t, "transaction p1", []string{"1 5 1"}, f.search(t, "p1", 10, lineindex.Transaction))
	hits, _, _, err := f.searcher.Search(context.Background(), lineindex.Query{Tenant: f.tenant, Key: testKey,
		IDs: []string{"m1"}, Kinds: []lineindex.Kind{lineindex.Modification}, Limit: 1})
	errtest.Fatal(t, err)
	difftest.Equal(t, "identifiers", line{"p1", "t1", "m1", request}, hits[0].IDs)
	for _, other := range []lineindex.Query{{Tenant: "t2", Key: testKey}, {Tenant: f.tenant, Key: lineindex.Key{9}}} {
		other.IDs, other.Kinds, other.Limit = []string{"m1"}, []lineindex.Kind{lineindex.Modification}, 1
		if hits, _, _, err := f.searcher.Search(context.Background(), other); err != nil || len(hits) > 0 {
			t.Errorf("found %v, error %v", hits, err)
		}
	}
}

func TestMergedIndexAnswersAsBefore(t *testing.T) {
	for _, fileEntries := range []int64{0, 1000, 100} {
		t.Run(fmt.Sprint(fileEntries), func(t *testing.T) { testMergedIndex(t, fileEntries) })
	}
}

func testMergedIndex(t *testing.T, fileEntries int64) {
	f := newFixture()
	f.FileEntries = fileEntries
	r := rand.New(rand.NewPCG(1, 2))
	all := map[string]bool{}
	for range 70 {
		lines := make([]line, 1+r.IntN(40))
		for i := range lines {
			lines[i] = line{fmt.Sprintf("p%d", r.IntN(300)), fmt.Sprintf("t%d", r.IntN(900)), uuid.NewString(), ""}
			if r.IntN(10) == 0 {
				all[lines[i][r.IntN(3)]] = true
			}
		}
		cut := r.IntN(len(lines))
		f.add(t, time.Time{}, lines[:cut], lines[cut:])
	}
	before := map[string][]string{}
	for id := range all {
		before[id] = f.search(t, id, 100)
		if len(before[id]) == 0 {
			t.Fatalf("%s is not found", id)
		}
	}
	difftest.Equal(t, "segments", 70, len(f.segments(t)))
	errtest.Fatal(t, f.Maintain(context.Background(), f.tenant))
	segments := f.segments(t)
	if len(segments) >= 4 {
		t.Errorf("%d segments after maintenance", len(segments))
	}
	if n := len(segments[0].Entries); fileEntries > 0 && n < 2000/int(fileEntries) {
		t.Errorf("%d files of a segment", n)
	}
	f.checkObjects(t)
	for id, want := range before {
		difftest.Equal(t, id, want, f.search(t, id, 100))
	}
}

func TestRequestsOfASearch(t *testing.T) {
	f := newFixture()
	for i := range 10 {
		f.add(t, time.Time{}, []line{{fmt.Sprintf("p%d", i), "", "", ""}})
	}
	errtest.Fatal(t, f.Maintain(context.Background(), f.tenant))
	n := len(f.segments(t))
	f.files.Reads = 0
	f.search(t, "p3", 10)
	// A page of each segment; of one the entries, the table of batches and the record.
	if f.files.Reads < n+2 || f.files.Reads > n+3 {
		t.Errorf("%d reads for %d segments", f.files.Reads, n)
	}
}

// TestManyLinesOfOneIdentifier has more entries of one digest in a page than are read at a time.
func TestManyLinesOfOneIdentifier(t *testing.T) {
	f := newFixture()
	lines := make([]line, 9000)
	for i := range lines {
		lines[i] = line{"same", fmt.Sprintf("t%d", i), "", ""}
	}
	f.add(t, time.Time{}, lines)
	f.add(t, time.Time{}, lines[:10])
	found := f.search(t, "same", 1000)
	difftest.Equal(t, "number of lines", 9010, len(found))
	difftest.Equal(t, "first lines", []string{"2 1 0", "2 2 0"}, found[:2])
	difftest.Equal(t, "last line", "1 9000 0", found[9009])
	for _, i := range []int{0, 4095, 4096, 8999} {
		if found := f.search(t, fmt.Sprintf("t%d", i), 10, lineindex.Transaction); !slices.Contains(found, fmt.Sprintf(
			"1 %d 1", i+1)) {
			t.Errorf("t%d: found %v", i, found)
		}
	}
}

func TestExpiredLines(t *testing.T) {
	f := newFixture()
	gone := f.add(t, start.Add(time.Hour), []line{{"p", "", "", ""}})
	f.add(t, start.Add(48*time.Hour), []line{{"p", "", "", ""}})
	f.add(t, time.Time{}, []line{{"p", "", "", ""}})
	difftest.Equal(t, "lines of p", []string{"3 1 0", "2 1 0", "1 1 0"}, f.search(t, "p", 10))
	f.clock.Store(start.Add(time.Hour).UnixNano())
	difftest.Equal(t, "lines of p", []string{"3 1 0", "2 1 0"}, f.search(t, "p", 10))
	recordsOfGone := "index/" + f.tenant + "/records/" + string(gone.ID)
	if f.files.Objects[recordsOfGone] == nil {
		t.Fatalf("no object %s of %v", recordsOfGone, slices.Collect(maps.Keys(f.files.Objects)))
	}
	f.clock.Store(start.Add(8 * 24 * time.Hour).UnixNano())
	errtest.Fatal(t, f.Maintain(context.Background(), f.tenant))
	difftest.Equal(t, "lines of p", []string{"3 1 0"}, f.search(t, "p", 10))
	if f.files.Objects[recordsOfGone] != nil {
		t.Error("the records of an expired batch are kept")
	}
	difftest.Equal(t, "segments", 2, len(f.segments(t))) // of the batch that expired alone, nothing is left
}

func TestAddAgain(t *testing.T) {
	f := newFixture()
	chunks := [][]line{{{"p", "", "", ""}}}
	b := f.add(t, time.Time{}, chunks...)
	for range 3 {
		f.add(t, time.Time{}, chunks...)
	}
	again := func() {
		errtest.Fatal(t, f.Add(context.Background(), f.tenant, b, f.writeChunks(t, string(b.ID), chunks)))
	}
	again()
	errtest.Fatal(t, f.Maintain(context.Background(), f.tenant))
	again() // its segment is merged already
	want := []string{"4 1 0", "3 1 0", "2 1 0", "1 1 0"}
	difftest.Equal(t, "lines of p", want, f.search(t, "p", 10))
	for range 3 {
		f.add(t, time.Time{}, []line{{"q", "", "", ""}})
	}
	errtest.Fatal(t, f.Maintain(context.Background(), f.tenant))
	difftest.Equal(t, "lines of p", want, f.search(t, "p", 10))
	entries := int64(0)
	for _, s := range f.segments(t) {
		for _, n := range s.Entries {
			entries += n
		}
	}
	difftest.Equal(t, "entries of 7 lines", int64(7), entries)
	f.add(t, time.Time{}, []line{{}})
	difftest.Equal(t, "lines of p", want, f.search(t, "p", 10))
}

// A chunk may be validated after its batch has ended. When the batch is added again, the chunk's lines are found, too.
func TestAddAgainWithALateChunk(t *testing.T) {
	f := newFixture()
	b := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}
	chunks := f.writeChunks(t, "a", [][]line{{{"p", "t", "m", ""}}, {{"p", "p", "p", "p"}}})
	for n := range 3 {
		errtest.Fatal(t, f.Add(t.Context(), f.tenant, b, chunks[:min(1+n, 2)]))
		want := []string{"a 1 0", "a 2 0", "a 2 1", "a 2 2", "a 2 3"}
		if n == 0 {
			want = want[:1]
		}
		difftest.Equal(t, "lines of p", want, f.search(t, "p", 10))
		f.add(t, time.Time{}, []line{{"q", "", "", ""}})
		errtest.Fatal(t, f.Maintain(t.Context(), f.tenant))
		difftest.Equal(t, "lines of p in the end", want, f.search(t, "p", 10))
	}
}

// A batch that is not in a segment yet is found as it will be found there, also by a search that goes on after it got
// there.
func TestPendingBatches(t *testing.T) {
	f := newFixture()
	f.add(t, time.Time{}, []line{{"p", "t", "", ""}})
	chunks := f.writeChunks(t, "pending", [][]line{{{}, {"p", "p", "", ""}}, {}, {{"p", "t", "", ""}, {}}})
	b := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: f.now().Add(time.Second),
		Expires: start.Add(time.Hour)}
	isPending := true
	f.searcher.Work = f.files
	f.searcher.Pending = func(context.Context, string) ([]lineindex.Pending, time.Time, error) {
		if !isPending {
			return nil, time.Time{}, nil
		}
		return []lineindex.Pending{{Batch: b, Chunks: chunks}}, time.Time{}, nil
	}
	check := func(when string) {
		t.Helper()
		for _, limit := range []int{1, 2, 100} {
			difftest.Equal(t, when, []string{"a 2 0", "a 2 1", "a 3 0", "1 1 0"}, f.search(t, "p", limit))
			difftest.Equal(t, when, []string{"a 3 1", "1 1 1"}, f.search(t, "t", limit))
		}
	}
	check("pending")
	q := lineindex.Query{Tenant: f.tenant, Key: testKey, IDs: []string{"p"}, Kinds: []lineindex.Kind{lineindex.Payment},
		Limit: 1}
	_, next, _, err := f.searcher.Search(t.Context(), q)
	errtest.Fatal(t, err)
	errtest.Fatal(t, f.Add(t.Context(), f.tenant, b, chunks))
	check("pending and in a segment")
	isPending = false
	check("in a segment")
	q.After, q.Limit = next, 2
	rest, _, _, err := f.searcher.Search(t.Context(), q)
	if err != nil || len(rest) != 2 || rest[0].Line != 3 || rest[1].Batch.ID == b.ID {
		t.Errorf("after the first hit: %+v, %v", rest, err)
	}
	isPending = true
	f.clock.Store(b.Expires.UnixNano())
	difftest.Equal(t, "without the expired batch", []string{"1 1 0"}, f.search(t, "p", 10))
}
