package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/objects"
)

var quiet = slog.New(slog.DiscardHandler)

// stuck is a store that never answers.
type stuck struct{ batches }

func (stuck) Apply(ctx context.Context, _ batch.ID, _ batch.Transition) (batch.Batch, error) {
	<-ctx.Done()
	return batch.Batch{}, ctx.Err()
}

// A step that cannot finish says so while its invocation still has time to be heard.
func TestAStepEndsBeforeItsInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := (&Admit{Batches: stuck{}, Now: time.Now, Log: quiet}).Run(ctx, BatchInput{ID: "b"})
		var transient *Transient
		if took := time.Since(start); took != time.Minute-margin || !errors.As(err, &transient) {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// planned is a store with one batch, of a file of size bytes.
type planned struct{ size int64 }

func (p planned) Get(context.Context, batch.ID) (batch.Batch, error) {
	return batch.Batch{Status: batch.Uploaded, Object: batch.Object{Size: p.size}}, nil
}

func (p planned) Apply(_ context.Context, _ batch.ID, c batch.Transition) (batch.Batch, error) {
	return batch.Batch{Status: c.To, Object: batch.Object{Size: p.size}, Plan: *c.Plan}, nil
}

// However small chunks are set, an execution can hold them all.
func TestChunksAreBounded(t *testing.T) {
	for _, c := range []struct {
		size, chunkBytes int64
		want             int
	}{
		{1, 1, 1}, {maxChunks, 1, maxChunks}, {maxChunks + 1, 1, maxChunks/2 + 1}, {maxChunks*10 - 1, 10, maxChunks},
		{2<<30 - 1, 1 << 10, maxChunks}, {2<<30 - 1, 0, chunk.MaxDefaultCount}, {2<<30 - 1, 1 << 30, 2},
	} {
		s := &Plan{Batches: planned{c.size}, ChunkBytes: c.chunkBytes, Now: time.Now, Log: quiet}
		out, err := s.Run(t.Context(), BatchInput{})
		if err != nil || len(out.Chunks) != c.want {
			t.Errorf("%d bytes by %d: %d chunks, %v; want %d", c.size, c.chunkBytes, len(out.Chunks), err, c.want)
		}
	}
}

// Of the uploaded file alone it is said that it has changed; the service's own files come back or they do not.
func TestWhoseFileIsGone(t *testing.T) {
	for _, cause := range []error{objects.ErrChanged, objects.ErrNotFound, objects.ErrDenied} {
		_, err := pinned(batch.Batch{}, missing{cause}).Open(t.Context(), 0, 1)
		var changed *ObjectChanged
		if !errors.As(named(t.Context(), quiet, "b", err), &changed) {
			t.Errorf("uploaded file: %v", err)
		}
		var transient *Transient
		if !errors.As(named(t.Context(), quiet, "b", cause), &transient) {
			t.Errorf("work file: %v", cause)
		}
	}
}

type missing struct{ err error }

func (m missing) Source(string, string) chunk.Source { return m }

func (m missing) Open(context.Context, int64, int64) (io.ReadCloser, error) { return nil, m.err }
