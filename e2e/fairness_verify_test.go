//go:build verify

package e2e

import "testing"

func TestManySlowReceiversDelayNobodyElse(t *testing.T) { testSlowReceivers(t, 10) }
