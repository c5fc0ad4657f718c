package samples

import (
	"context"
	"errors"
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
	if !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("error %v, want that it was interrupted", err)
	}
	left, err := os.ReadDir(dir)
	errtest.Fatal(t, err)
	difftest.Equal(t, "files that are left", 0, len(left))
}
