// Package errtest checks errors in tests.
package errtest

import (
	"errors"
	"strings"
	"testing"
)

// Fatal ends a test at an error, as t.Fatal does, and does nothing for nil.
func Fatal(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Of returns the error of a call whose other result does not matter: Fatal(t, Of(store.Get(ctx, id))).
func Of[T any](_ T, err error) error { return err }

// Must returns the result of a call that may not fail: got := Must(store.Get(ctx, id))(t). An error ends the test.
func Must[T any](result T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Fatal(t, err)
		return result
	}
}

// Is fails a test, which goes on, unless an error is the wanted one, as errors.Is defines it; nil is no error. The
// message says what returned it.
func Is(t testing.TB, what string, err, want error) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("%s: got the error %v, want %v", what, err, want)
	}
}

// Fails fails a test, which goes on, unless there is an error whose text has all parts. The message says what should
// have returned it.
func Fails(t testing.TB, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: got no error", what)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got the error %v, want one with %q", what, err, part)
		}
	}
}
