package transaction

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

func FuzzIP(f *testing.F) {
	for _, address := range addresses {
		f.Add(address[1 : len(address)-1])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := isIP([]byte(text)), net.ParseIP(text) != nil; got != want {
			t.Fatalf("%q: got %v, the library says %v", text, got, want)
		}
	})
}

func TestEachNumberOfAnAddress(t *testing.T) {
	for n := range 1100 {
		number := strconv.Itoa(n)
		for _, text := range []string{number + ".1.22.333", "1." + number + ".22.33", "1.22.33." + number, "1.2.3.0" + number, number} {
			if got, want := isIP([]byte(text)), net.ParseIP(text) != nil; got != want {
				t.Fatalf("%q: got %v, the library says %v", text, got, want)
			}
		}
	}
}

// Random strings of the pieces of which addresses are made.
func TestIPAgainstTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{":", "::", ".", "0", "1", "f", "ffff", "abc", "12345", "255", "256", "01", "1.2.3.4", "G", "%", " ", ":1", "a:", "0:0:0:0:0:0"}
	valid := 0
	for range 300000 {
		text := ""
		for range 1 + rng.IntN(15) {
			text += parts[rng.IntN(len(parts))]
		}
		got, want := isIP([]byte(text)), net.ParseIP(text) != nil
		if got != want {
			t.Fatalf("%q: got %v, the library says %v", text, got, want)
		}
		if want {
			valid++
		}
	}
	if valid < 100 {
		t.Fatalf("only %d of the addresses were valid: the comparison proves little", valid)
	}
}
