package batchtest

import (
	"bytes"
	"errors"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// testDigests commits the digests of files before, while and after batches are validated.
func testDigests(t *testing.T, s batch.Store) {
	first := batch.FileDigests{FileSHA256: bytes.Repeat([]byte{1}, 32), LinesSHA256: bytes.Repeat([]byte{2}, 32)}
	second := batch.FileDigests{FileSHA256: bytes.Repeat([]byte{3}, 32), LinesSHA256: bytes.Repeat([]byte{4}, 32)}
	b := create(t, s, "tenant", batch.ValidationStarted)
	for _, d := range []batch.FileDigests{first, first, second} {
		difftest.Equal(t, "CommitFileDigests", first, errtest.Must(s.CommitFileDigests(t.Context(), b.ID, d))(t))
	}
	for _, sum := range [][]byte{first.LinesSHA256, second.LinesSHA256} {
		got, err := s.CommitAcceptedDigest(t.Context(), b.ID, sum)
		if err != nil || !bytes.Equal(got, first.LinesSHA256) {
			t.Errorf("CommitAcceptedDigest: got %x, error %v, want %x", got, err, first.LinesSHA256)
		}
	}
	want := b
	want.FileSHA256, want.LinesSHA256, want.AcceptedSHA256 = first.FileSHA256, first.LinesSHA256, first.LinesSHA256
	difftest.Equal(t, "the batch", want, errtest.Must(s.Get(t.Context(), b.ID))(t))
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Failed, At: createdAt})))
	if got, err := s.CommitFileDigests(t.Context(), b.ID, second); err != nil ||
		!bytes.Equal(got.FileSHA256, first.FileSHA256) {
		t.Errorf("once more after its end: got %+v, error %v, want what is committed", got, err)
	}

	for _, status := range []batch.Status{batch.Uploaded, batch.PendingIngestion, batch.Failed} {
		b := create(t, s, "tenant", status)
		var conflict *batch.ConflictError
		if _, err := s.CommitFileDigests(t.Context(), b.ID, first); !errors.As(err, &conflict) ||
			conflict.Current.Status != status {
			t.Errorf("CommitFileDigests of a batch in %s: got the error %v, want a conflict", status, err)
		}
		if _, err := s.CommitAcceptedDigest(t.Context(), b.ID, first.FileSHA256); !errors.As(err, &conflict) {
			t.Errorf("CommitAcceptedDigest of a batch in %s: got the error %v, want a conflict", status, err)
		}
		got, err := s.Get(t.Context(), b.ID)
		if err != nil || got.FileSHA256 != nil || got.LinesSHA256 != nil || got.AcceptedSHA256 != nil {
			t.Errorf("the batch in %s: got %+v, error %v, want no digests", status, got, err)
		}
	}
	errtest.Is(t, "CommitFileDigests of an unknown batch",
		errtest.Of(s.CommitFileDigests(t.Context(), newID(t), first)), batch.ErrNotFound)
}
