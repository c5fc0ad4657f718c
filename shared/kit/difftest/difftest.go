// Package difftest compares values in tests.
package difftest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Equal fails a test, which goes on, unless two values are equal. The message says what was compared, and shows where
// the values differ.
func Equal(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
