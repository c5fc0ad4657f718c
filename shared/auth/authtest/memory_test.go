package authtest_test

import (
	"testing"

	"sluice/shared/auth"
	"sluice/shared/auth/authtest"
)

func TestMemory(t *testing.T) {
	authtest.Conform(t, func(*testing.T) auth.Registry { return authtest.NewMemory() })
}
