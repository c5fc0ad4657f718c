package e2e

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// writeFile writes a file of a name into a new folder, which is removed after the test, and returns its path.
func writeFile[T ~string | ~[]byte](t *testing.T, name string, content T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// readFile reads the file at a signed URL, as a client opens it.
func readFile(ctx context.Context, open func(context.Context, string) (io.ReadCloser, error), url string) ([]byte,
	error) {
	body, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
