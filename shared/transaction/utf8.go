package transaction

import "unicode/utf8"

// validUTF8 reports whether b[from:to] is valid UTF-8, eight bytes at a time and without a branch on what they are: names and
// free text change between one, two and three bytes a character too often to be predicted. The library judges what is doubtful:
// characters of four bytes, and the first bytes that not every second byte may follow (E1 is taken for E0).
func validUTF8(b []byte, from, to int) bool {
	var doubt, carry uint64 // carry marks the continuation bytes that the word before has still to come
	for i := from; i < to; i += 8 {
		w := load8(b, i)
		if to-i < 8 {
			w &= 1<<(8*(to-i)) - 1 // NULs, which are whole characters
		}
		high := w & highBits
		first := high & (w << 1) // of two bytes or more
		third := first & (w << 2)
		fourth := third & (w << 3)
		following := carry | first<<8 | third<<16 | fourth<<24
		carry = first>>56 | third>>48 | fourth>>40
		doubt |= high&^first ^ following | fourth
		doubt |= zeroByte((w^everyByte*0xe0)&^(everyByte*0x21)) | zeroByte(w^everyByte*0xed)
	}
	return doubt|carry == 0 || utf8.Valid(b[from:to])
}

// zeroByte marks the first byte of w that is zero; marks above it may be false.
func zeroByte(w uint64) uint64 { return (w - everyByte) &^ w & highBits }
