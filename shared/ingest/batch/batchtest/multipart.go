package batchtest

import (
	"errors"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

// testUpload changes what is recorded of an upload while it is awaited, and after that.
func testUpload(t *testing.T, s batch.Store) {
	b := NewBatch(t, "tenant")
	b.Multipart = &batch.Multipart{UploadID: "upload", PartSize: 400, PartCount: 3, HasChecksums: true}
	errtest.Fatal(t, s.Create(t.Context(), b))
	by, at := createdAt.Add(time.Hour), createdAt.Add(time.Minute)
	for _, call := range []string{"first", "repeated"} {
		got, err := s.ExtendUpload(t.Context(), b.ID, by)
		if err != nil || !got.UploadBy.Equal(by) || got.Multipart == nil || got.Multipart.UploadID != "upload" {
			t.Errorf("%s ExtendUpload: %+v, error %v, want an upload by %v", call, got, err, by)
		}
	}
	for _, completion := range []string{"first", "second", "second"} {
		got, err := s.RecordCompletion(t.Context(), b.ID, completion, at)
		if err != nil || got.Multipart.Completion != completion || !got.Multipart.AskedAt.Equal(at) ||
			!got.Multipart.HasChecksums {
			t.Errorf("RecordCompletion: %+v, error %v, want %s at %v", got.Multipart, err, completion, at)
		}
	}
	single := create(t, s, "tenant", batch.AwaitingUpload)
	var conflict *batch.ConflictError
	if _, err := s.RecordCompletion(t.Context(), single.ID, "x", at); !errors.As(err, &conflict) {
		t.Errorf("RecordCompletion of a single PUT: error %v, want a ConflictError", err)
	}
	errtest.Fatal(t,
		errtest.Of(s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Failed, At: at, ErrorMessage: "m"})))
	for name, call := range map[string]func(batch.ID) error{
		"ExtendUpload": func(id batch.ID) error { _, err := s.ExtendUpload(t.Context(), id, by); return err },
		"RecordCompletion": func(id batch.ID) error {
			_, err := s.RecordCompletion(t.Context(), id, "x",
				at)
			return err
		},
	} {
		if err := call(b.ID); !errors.As(err, &conflict) || conflict.Current.Status != batch.Failed {
			t.Errorf("%s after the end: error %v, want a ConflictError with the batch", name, err)
		}
		errtest.Is(t, name+" of an unknown batch", call(newID(t)), batch.ErrNotFound)
	}
}
