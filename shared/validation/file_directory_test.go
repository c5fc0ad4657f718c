package validation

import (
	"fmt"
	"strconv"
	"testing"
)

// TestDirectory fills directories of every small size, and looks up each of their entities and as many others.
func TestDirectory(t *testing.T) {
	for n := range 70 {
		t.Run(fmt.Sprintf("%d entities", n), func(t *testing.T) {
			d := NewDirectory()
			stateOf := func(i int) EntityState {
				if i >= n {
					return Missing
				}
				return Onboarded - EntityState(i%2)
			}
			for i := range n {
				d.Add(strconv.Itoa(i), Missing+1)
				d.Add(strconv.Itoa(i), stateOf(i)) // replaces the state
			}
			for i := range 2 * n {
				if got, want := d.state(d.hash([]byte(strconv.Itoa(i)))), stateOf(i); got != want {
					t.Fatalf("entity %d has state %d, want %d", i, got, want)
				}
			}
		})
	}
}
