package transaction

import (
	"encoding/binary"
	"math/bits"
)

// word is a string that an enumeration allows: its first 16 bytes as two words, zero beyond its end, and all of it.
type word struct {
	first, second uint64
	text          string
}

// wordTable finds the words of an enumeration by a hash of their first 16 bytes, in which all differ: which one comes is not
// to be predicted, so the way to it has no branches but the last. The factor is tried out so that no two meet.
type wordTable struct {
	factor uint64
	words  [256]*word
}

func newWordTable(texts []string) *wordTable {
	factor := uint64(0x9e3779b97f4a7c15)
	for range 1 << 20 {
		if t, ok := tryWordTable(texts, factor); ok {
			return t
		}
		factor = nextFactor(factor)
	}
	panic("two words of an enumeration begin with the same 16 bytes")
}

func nextFactor(factor uint64) uint64 { return factor*6364136223846793005 + 1442695040888963407 }

func tryWordTable(texts []string, factor uint64) (*wordTable, bool) {
	t := &wordTable{factor: factor}
	for _, text := range texts {
		if len(text) > BytesBehind-2 {
			panic("longer than what may be looked at behind a line: " + text)
		}
		var quoted [padding]byte
		copy(quoted[:], `"`+text+`"`)
		first, second := wordsBefore(quoted[:], 0)
		place := &t.words[t.place(first, second)]
		if *place != nil {
			return nil, false
		}
		*place = &word{first, second, text}
	}
	return t, true
}

// read returns the position after the word at b[i], in quotes, or 0 when none of them stands there.
func (t *wordTable) read(b []byte, i int) int {
	first, second := wordsBefore(b, i)
	w := t.words[t.place(first, second)]
	if w == nil || w.first != first || w.second != second || b[i] != '"' {
		return 0
	}
	end := i + 1 + len(w.text)
	if b[end] != '"' || len(w.text) > 16 && string(b[i+17:end]) != w.text[16:] {
		return 0
	}
	return end + 1
}

func (t *wordTable) place(first, second uint64) uint8 {
	return uint8((first*t.factor ^ bits.RotateLeft64(second*t.factor, 32)) * t.factor >> 56)
}

// wordsBefore returns the 16 bytes after the quote at b[i], zero from the closing quote on.
func wordsBefore(b []byte, i int) (first, second uint64) {
	k := (*[16]byte)(b[i+1 : i+17])
	first, second = binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])
	marks := quotes(first)
	first &= beforeFirst(marks)
	second &= beforeFirst(quotes(second)) & uint64(int64(^(marks|-marks))>>63) // zero when the first word has a quote
	return first, second
}

// quotes marks, by its high bit, the first quote of w; marks above it may be false.
func quotes(w uint64) uint64 {
	q := w ^ everyByte*'"'
	return (q - everyByte) &^ q & highBits
}

// beforeFirst masks what is below the first mark: everything when there is none.
func beforeFirst(marks uint64) uint64 { return marks&-marks - 1 }
