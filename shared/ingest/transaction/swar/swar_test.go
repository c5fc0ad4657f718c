package swar

import (
	"fmt"
	"testing"
	"unicode"

	"sluice/shared/kit/difftest"
)

func TestMarkAlphanumerics(t *testing.T) {
	for c := range 256 {
		for place := range 8 {
			w := uint64(c) << (8 * place)
			for _, last := range []rune{'f', 'z'} {
				want := c < 0x80 && (unicode.IsDigit(rune(c)) || unicode.IsLetter(rune(c)) &&
					unicode.ToLower(rune(c)) <= last)
				difftest.Equal(t, fmt.Sprintf("byte %#x at %d, up to %c", c, place, last), want,
					MarkAlphanumerics(w, uint64(last))>>(8*place+7)&1 != 0)
			}
		}
	}
}

func TestMarkDigits(t *testing.T) {
	for c := range 256 {
		for place := range 8 {
			want := uint64(0)
			if '0' <= c && c <= '9' {
				want = 0x80 << (8 * place)
			}
			difftest.Equal(t, fmt.Sprintf("MarkDigits with byte %#x at %d", c, place), want,
				MarkDigits(uint64(c)<<(8*place)))
		}
	}
}

// A quotation mark, a backslash and a control character are found at every place, after bytes of every kind.
func TestMarkStringSpecials(t *testing.T) {
	for c := range 256 {
		want := c == '"' || c == '\\' || c < 0x20
		for _, filler := range []byte{' ', '!', '#', '[', ']', 'a', 0x7f, 0x80, 0xff} {
			for place := range 8 {
				var text [8]byte
				for i := range text {
					text[i] = filler
				}
				text[place] = byte(c)
				difftest.Equal(t, fmt.Sprintf("SkipToQuote(%q)", text), skipToQuoteByByte(text[:]),
					SkipToQuote(append(text[:], `123456789"______________`...), 0))
				marks := MarkStringSpecials(Load8(text[:], 0))
				first := uint64(0x80) << (8 * place)
				if (marks&-marks == first) != want || (marks != 0) != want {
					t.Fatalf("%q: marks %#x, want %v at %d", text, marks, want, place)
				}
			}
		}
	}
}

func skipToQuoteByByte(text []byte) int {
	for i, c := range text {
		if c == '"' || c < 0x20 {
			return i
		}
	}
	return len(text) + len("123456789")
}
