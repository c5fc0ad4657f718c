package setup

import (
	"testing"
	"time"
)

// A call to AWS that fails for a reason that passes is repeated, as often as the faults of docs/faults.md are survived.
func TestCallsAreRepeated(t *testing.T) {
	cfg, err := LoadAWS(t.Context(), retrying(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Retryer().MaxAttempts(); got != 5 {
		t.Errorf("a call is attempted up to %d times, want 5", got)
	}
}
