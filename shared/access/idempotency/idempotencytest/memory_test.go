package idempotencytest_test

import (
	"testing"

	"sluice/shared/access/idempotency/idempotencytest"
)

func TestMemory(t *testing.T) { idempotencytest.Conform(t, idempotencytest.NewMemory()) }
