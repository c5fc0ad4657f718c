// Package difftest compares values in tests.
package difftest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
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

// Reply returns a check of a status and a body: Reply(t, "a batch", 200)(get("/batch")). The test fails, and goes on,
// unless the status is the wanted one and the text of the body has all parts. The message says what replied.
func Reply(t testing.TB, what string, want int, parts ...string) func(status int, body any) {
	return func(status int, body any) {
		t.Helper()
		text := fmt.Sprint(body)
		if status != want || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
			t.Errorf("%s: got %d %.2000s, want %d %s", what, status, text, want, strings.Join(parts, ", "))
		}
	}
}

// Contains fails a test, which goes on, unless a text has all parts. The message says what the text is.
func Contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: got %s, want %q in it", what, text, part)
		}
	}
}

// Len fails a test, which goes on, unless a slice or map has the wanted length. The message says what it holds.
func Len(t testing.TB, what string, want int, got any) {
	t.Helper()
	if n := reflect.ValueOf(got).Len(); n != want {
		t.Errorf("%s: got %d, want %d: %+v", what, n, want, got)
	}
}
