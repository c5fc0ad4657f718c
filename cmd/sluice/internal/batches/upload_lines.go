package batches

import (
	"context"
	"os"
	"sync"

	"sluice/cmd/sluice/internal/files"
	"sluice/shared/ingest/batch"
)

// unpackedLines are the lines of a file that is uploaded. A packed one is unpacked when a line is read for the first
// time.
type unpackedLines struct {
	// ctx is that of the command: an io.ReaderAt takes none.
	ctx    context.Context
	upload *os.File
	size   int64
	path   string
	packed batch.Encoding

	once sync.Once
	// content is upload itself if it is not packed.
	content *os.File
	err     error
}

// ReadAt reads unpacked bytes.
func (u *unpackedLines) ReadAt(p []byte, at int64) (int, error) {
	u.once.Do(func() {
		if u.content = u.upload; u.packed != batch.Identity {
			u.content, _, u.err = files.UnpackFile(u.ctx, u.upload, u.size, u.packed, u.path)
		}
	})
	if u.err != nil {
		return 0, u.err
	}
	return u.content.ReadAt(p, at)
}

// Close removes what was unpacked. It does not close the uploaded file.
func (u *unpackedLines) Close() error {
	if u.content == nil || u.content == u.upload {
		return nil
	}
	return u.content.Close()
}
