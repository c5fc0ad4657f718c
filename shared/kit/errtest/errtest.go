// Package errtest ends tests at unexpected errors.
package errtest

import "testing"

// Fatal ends a test at an error, as t.Fatal does, and does nothing for nil.
func Fatal(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Of returns the error of a call whose other result does not matter: Fatal(t, Of(store.Get(ctx, id))).
func Of[T any](_ T, err error) error { return err }
