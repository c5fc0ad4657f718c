package idempotencytest_test

import (
	"testing"

	"sluice/shared/idempotency/idempotencytest"
)

func TestMemory(t *testing.T) { idempotencytest.Conform(t, idempotencytest.NewMemory()) }
