package e2e

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
)

// assert reports a failure of the test, with a message, unless a condition holds. The arguments are evaluated in any
// case.
func assert(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// require is assert, and ends the test after a failure.
func require(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatalf(format, args...)
	}
}

// equal reports a failure of the test unless two values are equal.
func equal(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	difftest.Equal(t, what, want, got, options...)
}

// must ends a test whose own step has failed.
func must(t testing.TB, err error) {
	t.Helper()
	require(t, err == nil, "%v", err)
}

// ok returns the result of a call that must succeed: text := ok(os.ReadFile(path))(t).
func ok[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		must(t, err)
		return v
	}
}

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
