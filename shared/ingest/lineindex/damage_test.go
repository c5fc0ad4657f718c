package lineindex_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/kit/errtest"
)

// checkDamage checks that an error is one of a damaged object, or of a place that names none.
func checkDamage(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, lineindex.ErrCorrupt) && !lineindextest.IsGone(err) {
		t.Errorf("%s: error %v", what, err)
	}
}

// FuzzDamagedIndex damages an object of an index, in the place of an earlier one, and then searches and merges. Neither
// panics, and no line is found that does not have the identifier.
func FuzzDamagedIndex(f *testing.F) {
	for object := range uint8(16) {
		for _, at := range []uint16{0, 15, 31, 40, 1128} {
			f.Add(object, at, []byte{0xff}, false)
			f.Add(object, at, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, true)
		}
	}
	f.Fuzz(func(t *testing.T, object uint8, at uint16, change []byte, isCut bool) {
		x := newFixture()
		x.FileEntries = 8
		add := func(n int) {
			for range n {
				id := fmt.Sprint(len(x.added))
				x.add(t, start.Add(9*24*time.Hour), []line{{"p", "t" + id, "m" + id, "r" + id}})
			}
		}
		add(4)
		errtest.Fatal(t, x.Maintain(t.Context(), x.tenant))
		add(3)
		keys := slices.Sorted(maps.Keys(x.files.Objects))
		keys = slices.DeleteFunc(keys, func(key string) bool { return key[:6] != "index/" })
		key := keys[int(object)%len(keys)]
		b := bytes.Clone(x.files.Objects[key])
		n := min(int(at), len(b))
		if copied := copy(b[n:], change); isCut {
			b = b[:n+copied]
		}
		x.files.Objects[key] = b
		search := func(id string) {
			for limit := range 3 {
				hits, _, _, err := x.searcher.Search(t.Context(), lineindex.Query{Tenant: x.tenant, Key: testKey,
					IDs: []string{id}, Kinds: []lineindex.Kind{lineindex.Payment, lineindex.Modification},
					Limit: 1 + limit})
				checkDamage(t, "search in "+key, err)
				for _, h := range hits {
					if h.IDs[h.Kind] != id {
						t.Errorf("found %q for %s", h.IDs, id)
					}
				}
			}
		}
		for _, id := range []string{"p", "m0", "m3", "m6"} {
			search(id)
		}
		add(1)
		checkDamage(t, "merge of "+key, x.Maintain(t.Context(), x.tenant))
		search("p")
	})
}

// A merge that fails does not keep others from being made.
func TestMergeOfADamagedSegment(t *testing.T) {
	f := newFixture()
	f.add(t, time.Time{}, []line{{"p", "", "", ""}})
	key := "index/" + f.tenant + "/segments/" + f.segments(t)[0].ID + "/0"
	f.files.Objects[key] = nil
	for range 10 {
		f.add(t, time.Time{}, []line{{"p", "", "", ""}})
	}
	errtest.Is(t, "merge", f.Maintain(t.Context(), f.tenant), lineindex.ErrCorrupt)
	segments, merges, err := f.Catalog.Segments(t.Context(), f.tenant)
	errtest.Fatal(t, err)
	if len(segments) != 5 || len(merges) != 1 { // four that cannot be merged, and one of the others
		t.Errorf("%d segments and %d merges", len(segments), len(merges))
	}
}

// FuzzWorkFile indexes a batch with a work file of any bytes, and one that is whole.
func FuzzWorkFile(f *testing.F) {
	x := newFixture()
	const uuid = "0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"
	x.writeChunks(f, "seed", [][]line{{{"p", "t", "m", "r"}, {}, {"p", "", "", uuid}}})
	whole := x.files.Objects["work/seed/0"]
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte{})
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x80
		f.Add(damaged)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x := newFixture()
		chunks := x.writeChunks(t, "a", [][]line{{{"p", "t", "m", "r"}}, {}, {{"p", "t", "m", "r"}}})
		chunks[1].Key = "work/any"
		x.files.Objects["work/any"] = b
		added := lineindex.Batch{ID: "00000000-0000-7000-8000-00000000000a", ReceivedAt: start}
		x.searcher.Work = x.files
		x.searcher.Pending = func(context.Context, string) ([]lineindex.Pending, time.Time, error) {
			return []lineindex.Pending{{Batch: added, Chunks: chunks}}, time.Time{}, nil
		}
		search := func(when string) error {
			hits, _, _, err := x.searcher.Search(t.Context(), lineindex.Query{Tenant: x.tenant, Key: testKey,
				IDs: []string{"p"}, Kinds: []lineindex.Kind{lineindex.Payment}, Limit: 100})
			checkDamage(t, when, err)
			for _, h := range hits {
				if h.IDs[lineindex.Payment] != "p" {
					t.Errorf("found %q %s", h.IDs, when)
				}
			}
			return err
		}
		search("while it is pending")
		err := x.Add(t.Context(), x.tenant, added, chunks)
		checkDamage(t, "add", err)
		x.searcher.Pending = nil
		if search("in a segment"); err != nil && len(x.segments(t)) > 0 {
			t.Error("a batch with a damaged work file is registered")
		}
	})
}

// FuzzPosition parses any text, and a position that is parsed again is the same.
func FuzzPosition(f *testing.F) {
	f.Add("")
	f.Add(lineindex.Position{ReceivedAt: start, Batch: "b", Place: 1<<64 - 1}.String())
	f.Add("-1 b 0")
	f.Add("1 b")
	f.Add("1 b -1")
	f.Add("1 b 1 2")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := lineindex.ParsePosition(text)
		if err != nil || p == nil {
			return
		}
		again, err := lineindex.ParsePosition(p.String())
		errtest.Fatal(t, err)
		if *again != *p {
			t.Errorf("%q is %v, and then %v", text, p, again)
		}
	})
}
