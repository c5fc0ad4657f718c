package swar

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/difftest"
)

// ValidUTF8 agrees with the standard library on every first and second byte of a sequence at every place of a word, and
// on random pieces.
func TestValidUTF8(t *testing.T) {
	check := func(text []byte) {
		t.Helper()
		for from := range 2 {
			b := make([]byte, from+len(text)+16)
			copy(b[from:], text)
			for i := from + len(text); i < len(b); i++ {
				b[i] = 0x80 + byte(i) // the bytes after the text must not count
			}
			difftest.Equal(t, fmt.Sprintf("ValidUTF8(%q)", text), utf8.Valid(text), ValidUTF8(b, from, from+len(text)))
		}
	}
	for at := range 9 {
		for first := 0x80; first < 0x100; first++ {
			for second := 0x70; second < 0x100; second++ {
				for _, rest := range []string{"", "a", "\x80", "\xbf\xbf", "\x80a\xc3\xa9"} {
					text := make([]byte, at, 16)
					check(append(append(text, byte(first), byte(second)), rest...))
				}
			}
		}
	}
	parts := []string{"a", "é", "Ω", "€", "한", "ก", "😀", "\xc3", "\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"plain text"}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		var text []byte
		for range rng.IntN(12) {
			n := len(parts)
			if rng.IntN(2) == 0 {
				n = 7
			}
			text = append(text, parts[rng.IntN(n)]...)
		}
		check(text)
	}
}
