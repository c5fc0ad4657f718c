package validation

import (
	"fmt"
	"strconv"
	"strings"
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

// An ID that is a UUID is found in any case; any other ID of its length only as it was added.
func TestDirectoryFindsUUIDsInAnyCase(t *testing.T) {
	const lower, other = "abcdefab-cdef-4abc-9def-abcdefabcdef", "abcdefab-cdef-4abc-9def-abcdefabcdeg"
	d := NewDirectory()
	d.Add(lower, Onboarded)
	d.Add(other, Onboarded)
	for i := range lower {
		upper := []byte(lower)
		upper[i] = strings.ToUpper(lower)[i]
		if got := d.state(d.hash(upper)); got != Onboarded {
			t.Errorf("state of %s is %v, want %v", upper, got, Onboarded)
		}
		exact := []byte(other)
		if exact[i] = strings.ToUpper(other)[i]; string(exact) == other {
			continue
		}
		if got := d.state(d.hash(exact)); got != Missing {
			t.Errorf("state of %s, which is not a UUID, is %v, want %v", exact, got, Missing)
		}
	}
}
