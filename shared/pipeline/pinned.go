package pipeline

import (
	"context"
	"errors"
	"io"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/objects"
)

// uploads is the bucket of the files that clients send.
type uploads interface {
	Source(key, etag string) chunk.Source
}

// errUpload means that the uploaded file is not there any more as it was pinned. Of work files, which are the service's own,
// nothing like it is ever said: they are missing by its fault, and a later try may find them.
var errUpload = errors.New("the uploaded file is not as it was pinned")

// pinned returns the uploaded file of a batch.
func pinned(b batch.Batch, u uploads) chunk.Source {
	return upload{u.Source(b.Object.Key, b.Object.ETag)}
}

type upload struct{ chunk.Source }

func (u upload) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	r, err := u.Source.Open(ctx, from, to)
	if errors.Is(err, objects.ErrChanged) || errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrDenied) {
		err = errors.Join(errUpload, err)
	}
	return r, err
}
