// Package swar reads text eight bytes at a time, as SIMD within a register: a word of 64 bits holds eight bytes, the
// first of them in its lowest byte, and one operation on the word works on all of them.
//
// Functions named Mark... set the highest bit of each byte that has a property and clear all other bits;
// bits.TrailingZeros64 of the marks, divided by eight, is the number of the first such byte.
//
// The functions that read from a slice may read up to 15 bytes beyond the byte at which they stop. Their callers pass
// slices with padding at the end.
package swar

import (
	"encoding/binary"
	"math/bits"
)

const (
	// LowBits has the lowest bit of each byte set; multiplied by a byte, it repeats that byte eight times.
	LowBits = 0x0101010101010101

	// HighBits has the highest bit of each byte set.
	HighBits = 0x8080808080808080
)

// Load4 returns the four bytes from b[i] on.
func Load4(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i : i+4]) }

// Load8 returns the eight bytes from b[i] on.
func Load8(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// MarkZero marks the bytes that are zero. The first mark is right; marks after it may be wrong.
func MarkZero(w uint64) uint64 { return (w - LowBits) &^ w & HighBits }

// MarkQuotes marks the bytes that are quotation marks. The first mark is right; marks after it may be wrong.
func MarkQuotes(w uint64) uint64 { return MarkZero(w ^ LowBits*'"') }

// MarkStringSpecials marks the bytes that end or interrupt a JSON string: quotation marks, backslashes and control
// characters. Bytes of 0x80 and more are never marked. The first mark is right, because a subtraction borrows only from
// a byte that is itself a hit; marks after it may be wrong.
func MarkStringSpecials(w uint64) uint64 {
	low := w ^ LowBits*('"'^' ') // a quotation mark becomes a space, which is below 0x21 as the control characters are
	slash := w ^ LowBits*'\\'
	return ((low - LowBits*0x21) | (slash - LowBits)) &^ w & HighBits
}

// MarkQuotesAndControls marks the bytes that are quotation marks or control characters. The first mark is right; marks
// after it may be wrong.
func MarkQuotesAndControls(w uint64) uint64 {
	low := w ^ LowBits*('"'^' ')
	return (low - LowBits*0x21) &^ w & HighBits
}

// MarkDigits marks the bytes that are decimal digits. The additions cannot carry, because they are made to seven bits.
func MarkDigits(w uint64) uint64 {
	c := w &^ HighBits
	return (c + LowBits*(0x80-'0')) &^ (c + LowBits*(0x80-'9'-1)) &^ w & HighBits
}

// MarkAlphanumerics marks the bytes that are decimal digits or letters of either case up to last, a small letter.
func MarkAlphanumerics(w, last uint64) uint64 {
	letter := w&^HighBits | LowBits*0x20
	letters := (letter + LowBits*(0x80-'a')) &^ (letter + LowBits*(0x80-last-1))
	return MarkDigits(w) | letters&^w&HighBits
}

// BeforeFirstMark returns a mask of the bits below the first mark, and of all bits if there is no mark.
func BeforeFirstMark(marks uint64) uint64 { return marks&-marks - 1 }

// SkipDigits returns the position of the first byte at or after b[i] that is not a decimal digit.
func SkipDigits(b []byte, i int) int {
	for {
		if others := ^MarkDigits(Load8(b, i)) & HighBits; others != 0 {
			return i + bits.TrailingZeros64(others)/8
		}
		i += 8
	}
}

// SkipPlainText returns the position of the first byte at or after b[i] that ends or interrupts a JSON string: a
// quotation mark, a backslash or a control character. If all bytes before it are ASCII, nonASCII may still be set
// because of bytes after it; if it is not set, they are ASCII.
func SkipPlainText(b []byte, i int) (end int, nonASCII bool) {
	var all uint64
	for {
		k := (*[16]byte)(b[i : i+16])
		w, next := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
		all |= w | next
		marks, more := MarkStringSpecials(w), MarkStringSpecials(next)
		if marks|more != 0 {
			if marks == 0 {
				marks, i = more, i+8
			}
			return i + bits.TrailingZeros64(marks)/8, all&HighBits != 0
		}
		i += 16
	}
}

// SkipToQuote returns the position of the first byte at or after b[i] that is a quotation mark or a control character.
func SkipToQuote(b []byte, i int) int {
	for {
		k := (*[16]byte)(b[i : i+16])
		w, next := binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
		marks, more := MarkQuotesAndControls(w), MarkQuotesAndControls(next)
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
		if more != 0 {
			return i + 8 + bits.TrailingZeros64(more)/8
		}
		i += 16
	}
}
