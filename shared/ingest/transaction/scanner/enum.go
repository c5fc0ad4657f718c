package scanner

import (
	"encoding/binary"
	"math/bits"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/swar"
)

// enumWord is a value that an enumeration allows: its first 16 bytes as two words, filled with zeros, and the whole
// text.
type enumWord struct {
	first, second uint64
	text          string
}

// enumTable finds the values of an enumeration by a hash of their first 16 bytes, in which all of them differ. Which
// value comes next cannot be predicted, so that only the last step has branches. The factor of the hash is chosen so
// that no two values share a slot.
type enumTable struct {
	factor uint64
	slots  [256]*enumWord
}

func newEnumTable(texts []string) *enumTable {
	factor := uint64(0x9e3779b97f4a7c15)
	for range 1 << 20 {
		if t, ok := tryEnumTable(texts, factor); ok {
			return t
		}
		factor = factor*6364136223846793005 + 1442695040888963407
	}
	panic("two values of an enumeration begin with the same 16 bytes")
}

func tryEnumTable(texts []string, factor uint64) (*enumTable, bool) {
	t := &enumTable{factor: factor}
	for _, text := range texts {
		if len(text) > transaction.Lookahead-2 {
			panic("this value of an enumeration is longer than the padding after a line: " + text)
		}
		var quoted [padding]byte
		copy(quoted[:], `"`+text+`"`)
		first, second := firstWords(quoted[:], 0)
		slot := &t.slots[t.slotOf(first, second)]
		if *slot != nil {
			return nil, false
		}
		*slot = &enumWord{first, second, text}
	}
	return t, true
}

// match returns the position after the value at b[i], in quotation marks, or declined if it is not one of the
// enumeration.
func (t *enumTable) match(b []byte, i int) int {
	first, second := firstWords(b, i)
	w := t.slots[t.slotOf(first, second)]
	if w == nil || w.first != first || w.second != second || b[i] != '"' {
		return declined
	}
	end := i + 1 + len(w.text)
	if b[end] != '"' || len(w.text) > 16 && string(b[i+17:end]) != w.text[16:] {
		return declined
	}
	return end + 1
}

func (t *enumTable) slotOf(first, second uint64) uint8 {
	return uint8((first*t.factor ^ bits.RotateLeft64(second*t.factor, 32)) * t.factor >> 56)
}

// firstWords returns the 16 bytes after the quotation mark at b[i], with zeros from the closing quotation mark on.
func firstWords(b []byte, i int) (first, second uint64) {
	k := (*[16]byte)(b[i+1 : i+17])
	first, second = binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	marks := swar.MarkQuotes(first)
	first &= swar.BeforeFirstMark(marks)
	// The second word becomes zero if the first one has a quotation mark.
	second &= swar.BeforeFirstMark(swar.MarkQuotes(second)) & uint64(int64(^(marks|-marks))>>63)
	return first, second
}
