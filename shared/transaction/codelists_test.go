package transaction

import (
	"math/bits"
	"strings"
	"testing"
)

func TestCodeLists(t *testing.T) {
	for _, c := range []struct {
		name  string
		lists string
		set   []uint32
		in    func([]byte) bool
		width int
		want  int
	}{
		{"countries", countriesInForce + countriesBeside, countries[:], isCountry, 2, 249 + 5},
		{"currencies", currenciesInForce + currenciesWithdrawn, currencies[:], isCurrency, 3, 178 + 65},
	} {
		n := 0
		for _, word := range c.set {
			n += bits.OnesCount32(word)
		}
		if words := strings.Fields(c.lists); n != c.want || len(words) != c.want {
			t.Errorf("%s: %d codes in the lists, %d in the set, want %d", c.name, len(words), n, c.want)
		}
		// Every string of the width made of these bytes: the codes and nothing else are in.
		alphabet := "@AZ[_`az019 \x00\xc3BCDEFGHIJKLMNOPQRSTUVWXY"
		for n := range pow(len(alphabet), c.width) {
			code := make([]byte, c.width)
			for i := range code {
				code[i] = alphabet[n%len(alphabet)]
				n /= len(alphabet)
			}
			if want := strings.Contains(c.lists, string(code)) && !strings.Contains(string(code), " "); c.in(code) != want {
				t.Errorf("%s: %q: got %v", c.name, code, !want)
			}
		}
		for _, wrong := range []string{"", "A", "AAAA", "EURO"} {
			if c.in([]byte(wrong)) {
				t.Errorf("%s: %q is in", c.name, wrong)
			}
		}
	}
}

func pow(base, exponent int) int {
	n := 1
	for range exponent {
		n *= base
	}
	return n
}
