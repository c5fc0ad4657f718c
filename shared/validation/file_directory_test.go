package validation

import (
	"strconv"
	"testing"
)

// TestDirectory: each entity of a directory of any small size has its state, and no other is in it.
func TestDirectory(t *testing.T) {
	for n := range 70 {
		d := NewDirectory()
		for i := range n {
			d.Add(strconv.Itoa(i), Onboarded-EntityState(i%2))
		}
		for i := range 2 * n {
			want := Onboarded - EntityState(i%2)
			if i >= n {
				want = Missing
			}
			if got := d.state(d.hash([]byte(strconv.Itoa(i)))); got != want {
				t.Fatalf("%d of %d entities: state %d, want %d", i, n, got, want)
			}
		}
	}
}
