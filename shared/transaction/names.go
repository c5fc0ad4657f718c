package transaction

import (
	"encoding/binary"
	"math/bits"
)

// Names of members: how the walk knows a member of the schema by its bytes. Which member comes next is the least predictable
// thing of a line, so the way from the bytes to the field has no branches but the last.

// literal is a text as nearly every writer writes it, for comparison in words of eight bytes: a member's name with quotes and
// colon, or a string that an enumeration allows, with its quotes.
type literal struct {
	words [4]uint64
	masks [4]uint64 // zero beyond the literal
	size  int
}

func newLiteral(text string) literal {
	if len(text) > 32 {
		panic("longer than a literal can be: " + text)
	}
	l := literal{size: len(text)}
	var bytes, mask [32]byte
	copy(bytes[:], text)
	for i := range text {
		mask[i] = 0xff
	}
	for i := range l.words {
		l.words[i] = binary.LittleEndian.Uint64(bytes[8*i:])
		l.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
	}
	return l
}

// at reports whether the literal stands at b[i].
func (l *literal) at(b []byte, i int) bool {
	k := b[i : i+32]
	return (binary.LittleEndian.Uint64(k)^l.words[0])&l.masks[0]|
		(binary.LittleEndian.Uint64(k[8:])^l.words[1])&l.masks[1]|
		(binary.LittleEndian.Uint64(k[16:])^l.words[2])&l.masks[2]|
		(binary.LittleEndian.Uint64(k[24:])^l.words[3])&l.masks[3] == 0
}

// keyTable finds the fields of an object, or the words of an enumeration, by a hash of their first 16 bytes, in which all
// differ. The factor is tried out so that no two meet.
type keyTable struct {
	factor uint64
	fields [256]*field
}

func newKeyTable(fields []field) *keyTable {
	factor := uint64(0x9e3779b97f4a7c15)
	for range 1 << 20 {
		if t, ok := tryKeyTable(fields, factor); ok {
			return t
		}
		factor = factor*6364136223846793005 + 1442695040888963407
	}
	panic("two names or words of the schema begin with the same 16 bytes")
}

// newWordTable makes a table of words: of each, only the name and the literal are used.
func newWordTable(words []string) *keyTable {
	rows := make([]field, len(words))
	for i, word := range words {
		rows[i] = field{name: word, literal: newLiteral(`"` + word + `"`)}
	}
	return newKeyTable(rows)
}

func tryKeyTable(fields []field, factor uint64) (*keyTable, bool) {
	t := &keyTable{factor: factor}
	for i := range fields {
		var text [padding]byte
		copy(text[:], `"`+fields[i].name+`"`)
		place := &t.fields[t.place(text[:], 0)]
		if *place != nil {
			return nil, false
		}
		*place = &fields[i]
	}
	return t, true
}

// find returns the field whose literal stands at b[i], nil when there is none.
func (t *keyTable) find(b []byte, i int) *field {
	if f := t.fields[t.place(b, i)]; f != nil && f.literal.at(b, i) {
		return f
	}
	return nil
}

// place hashes the name whose opening quote is at b[i], up to its closing quote or 16 bytes.
func (t *keyTable) place(b []byte, i int) uint8 {
	k := b[i+1 : i+17]
	first, second := binary.LittleEndian.Uint64(k), binary.LittleEndian.Uint64(k[8:])
	marks := quotes(first)
	first &= beforeFirst(marks)
	second &= beforeFirst(quotes(second)) & uint64(int64(^(marks|-marks))>>63) // zero when the first word has a quote
	return uint8((first*t.factor ^ bits.RotateLeft64(second*t.factor, 32)) * t.factor >> 56)
}

// quotes marks, by its high bit, the first quote of w; marks above it may be false.
func quotes(w uint64) uint64 {
	q := w ^ everyByte*'"'
	return (q - everyByte) &^ q & highBits
}

// beforeFirst masks what is below the first mark: everything when there is none.
func beforeFirst(marks uint64) uint64 { return marks&-marks - 1 }

// expectedOrder is the first guess of the field that follows each field: the order of the table.
func expectedOrder(o *object) []*field {
	next := make([]*field, len(o.fields)+1)
	for i := range next {
		next[i] = &o.fields[(i+1)%len(o.fields)]
	}
	next[len(o.fields)] = &o.fields[0]
	return next
}
