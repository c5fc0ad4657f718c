package samples

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"sluice/internal/command"
	"sluice/sampledata"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Files that cannot be written to their end are removed.
func TestWriteFilesRemovesIncompleteFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	_, err := WriteFiles(ctx, sampledata.Options{Lines: 10}, filepath.Join(dir, "batch.jsonl"))
	errtest.Is(t, "error", err, command.ErrInterrupted)
	left := errtest.Must(os.ReadDir(dir))(t)
	difftest.Equal(t, "files that are left", 0, len(left))
}
