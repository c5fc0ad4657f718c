package swar

import "unicode/utf8"

// ValidUTF8 reports whether b[from:to] is valid UTF-8. It reads eight bytes at a time and does not branch on what they
// are: names and free text change between characters of one, two and three bytes too often for a branch to be
// predicted. It leaves the doubtful texts to the standard library: those with characters of four bytes, and with the
// first bytes E0 and ED (E1 is taken for E0), after which not every continuation byte is allowed.
func ValidUTF8(b []byte, from, to int) bool {
	var doubt, carry uint64 // carry marks the continuation bytes that the preceding word still needs
	for i := from; i < to; i += 8 {
		w := Load8(b, i)
		if to-i < 8 {
			w &= 1<<(8*(to-i)) - 1 // leaves NULs, which are complete characters
		}
		high := w & HighBits
		first := high & (w << 1) // of two bytes or more
		third := first & (w << 2)
		fourth := third & (w << 3)
		following := carry | first<<8 | third<<16 | fourth<<24
		carry = first>>56 | third>>48 | fourth>>40
		doubt |= high&^first ^ following | fourth
		doubt |= MarkZero((w^LowBits*0xe0)&^(LowBits*0x21)) | MarkZero(w^LowBits*0xed)
	}
	return doubt|carry == 0 || utf8.Valid(b[from:to])
}
