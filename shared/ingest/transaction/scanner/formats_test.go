package scanner

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"testing"

	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
)

func TestCodeSets(t *testing.T) {
	for _, c := range []struct {
		name     string
		codes    []string
		set      []uint32
		contains func([]byte) bool
		width    int
	}{
		{"countries", schema.Countries(), countries[:], isCountry, 2},
		{"currencies", schema.Currencies(), currencies[:], isCurrency, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			for _, word := range c.set {
				n += bits.OnesCount32(word)
			}
			difftest.Equal(t, "codes in the set", len(c.codes), n)
			// Of all strings of the width made of these bytes, the codes and nothing else are in the set.
			const alphabet = "@AZ[_`az019 \x00\xc3BCDEFGHIJKLMNOPQRSTUVWXY"
			for n := range power(len(alphabet), c.width) {
				code := make([]byte, c.width)
				for i := range code {
					code[i] = alphabet[n%len(alphabet)]
					n /= len(alphabet)
				}
				_, want := slices.BinarySearch(c.codes, string(code))
				difftest.Equal(t, fmt.Sprintf("%q", code), want, c.contains(code))
			}
			for _, wrong := range []string{"", "A", "AAAA", "EURO"} {
				if c.contains([]byte(wrong)) {
					t.Errorf("%q is in the set", wrong)
				}
			}
		})
	}
}

func power(base, exponent int) int {
	n := 1
	for range exponent {
		n *= base
	}
	return n
}

func FuzzIP(f *testing.F) {
	for _, address := range addresses {
		f.Add(address[1 : len(address)-1])
	}
	f.Fuzz(func(t *testing.T, text string) {
		difftest.Equal(t, text, net.ParseIP(text) != nil, isIP([]byte(text)))
	})
}

func TestEachNumberOfAnAddress(t *testing.T) {
	for n := range 1100 {
		number := strconv.Itoa(n)
		for _, text := range []string{number + ".1.22.333", "1." + number + ".22.33", "1.22.33." + number, "1.2.3.0" +
			number, number} {
			difftest.Equal(t, text, net.ParseIP(text) != nil, isIP([]byte(text)))
		}
	}
}

// Random strings made of the pieces of addresses.
func TestIPAgainstTheLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{":", "::", ".", "0", "1", "f", "ffff", "abc", "12345", "255", "256", "01", "1.2.3.4", "G", "%",
		" ", ":1", "a:", "0:0:0:0:0:0"}
	valid := 0
	for range 300000 {
		text := ""
		for range 1 + rng.IntN(15) {
			text += parts[rng.IntN(len(parts))]
		}
		got, want := isIP([]byte(text)), net.ParseIP(text) != nil
		difftest.Equal(t, text, want, got)
		if want {
			valid++
		}
	}
	if valid < 100 {
		t.Fatalf("only %d of the addresses were valid: the comparison proves little", valid)
	}
}
