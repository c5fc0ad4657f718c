package batchtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

// testContent commits unpacked copies: the first one counts, while the batch is UPLOADED.
func testContent(t *testing.T, s batch.Store) {
	const tenant = "content"
	first := batch.Object{Key: "unpacked/t/b/1", ETag: `"1"`, Size: 9000}
	second := batch.Object{Key: "unpacked/t/b/2", ETag: `"2"`, Size: 9000}
	errtest.Is(t, "unknown batch", errtest.Of(s.CommitContent(t.Context(), newID(t), batch.Gzip, first)),
		batch.ErrNotFound)
	b := create(t, s, tenant, batch.AwaitingUpload)
	expect := func(what string, content batch.Object, want batch.Object, encoding batch.Encoding) {
		t.Helper()
		got, err := s.CommitContent(t.Context(), b.ID, batch.Gzip, content)
		if err != nil || got.Content != want || got.Encoding != encoding {
			t.Errorf("%s: got %+v, packed as %q, error %v, want %+v, %q", what, got.Content, got.Encoding, err, want,
				encoding)
		}
		read, err := s.Get(t.Context(), b.ID)
		if diff := cmp.Diff(got, read); err != nil || diff != "" {
			t.Errorf("%s: error %v, batch (-returned +read):\n%s", what, err, diff)
		}
	}
	expect("before the upload", first, batch.Object{}, "")
	for i, change := range transitionsToProcessed() {
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, change)))
		if i == 0 {
			expect("first", first, first, batch.Gzip)
			expect("repeated", first, first, batch.Gzip)
			open, err := s.CountOpen(t.Context(), tenant, batch.OpenWork{Batches: 9, UnvalidatedBytes: 1 << 40},
				createdAt)
			if want := (batch.OpenWork{Batches: 1, UnvalidatedBytes: first.Size}); err != nil || open != want {
				t.Errorf("open: got %+v, error %v, want %+v", open, err, want)
			}
		}
		expect("second in "+string(change.To), second, first, batch.Gzip)
	}
	late := create(t, s, tenant, batch.AwaitingUpload)
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), late.ID, batch.Transition{To: batch.Failed, At: createdAt,
		Encoding: batch.Zstd})))
	b = late
	expect("after the end", first, batch.Object{}, batch.Zstd)
}
