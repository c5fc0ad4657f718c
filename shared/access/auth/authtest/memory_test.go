package authtest_test

import (
	"testing"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authtest"
)

func TestMemory(t *testing.T) {
	authtest.Conform(t, func(*testing.T) auth.Registry { return authtest.NewMemory() })
}
