package environ

import (
	"os"
	"testing"
)

func TestUnset(t *testing.T) {
	for name, isKept := range map[string]bool{
		"ENVIRONTEST_A": false, "ENVIRONTEST_": false, "ENVIRONTEST": true, "AN_ENVIRONTEST_A": true,
		"OTHERTEST_A": false,
	} {
		t.Setenv(name, "a value")
		t.Cleanup(func() {
			if _, isThere := os.LookupEnv(name); isThere != isKept {
				t.Errorf("%s is set: %v, want %v", name, isThere, isKept)
			}
		})
	}
	Unset("ENVIRONTEST_", "OTHERTEST")
}
