//go:build unix

package linefile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/errtest"
)

func TestMappedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	page := os.Getpagesize()
	content := make([]byte, 3*page+7)
	for i := range content {
		content[i] = byte(i * 31)
	}
	errtest.Fatal(t, os.WriteFile(path, content, 0o600))
	file, err := os.Open(path)
	errtest.Fatal(t, err)
	defer file.Close()
	mapped := NewSource(file).(chunk.MappedSource)
	edges := []int{0, 1, page - 1, page, page + 1, 2 * page, len(content) - 1, len(content)}
	for _, from := range edges {
		for _, to := range edges {
			if from >= to {
				continue
			}
			got, release := mapped.Map(int64(from), int64(to))
			if release == nil {
				t.Fatalf("the bytes [%d, %d) cannot be mapped", from, to)
			}
			if !bytes.Equal(got, content[from:to]) {
				t.Errorf("the mapped bytes [%d, %d) are not those of the file", from, to)
			}
			release()
		}
	}
	errtest.Fatal(t, os.Truncate(path, 10))
	_, err = validation.ValidateFile(t.Context(), validation.FileInput{
		Source: mapped, Plan: chunk.NewPlan(int64(len(content)), int64(page)),
		NewScanner: func() validation.Scanner { return scanner.New(transaction.Rules{}) },
	}, io.Discard)
	errtest.Is(t, "validation of a file that was truncated", err, validation.ErrShrank)
}
