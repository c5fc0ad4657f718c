package transaction

import (
	"encoding/binary"
	"math/bits"
)

// word is a string that an enumeration allows, with its quotes, for comparison in words of eight bytes.
type word struct {
	words [4]uint64
	masks [4]uint64 // zero beyond the text
}

func newWord(text string) *word {
	if len(text) > 32 {
		panic("longer than a word can be: " + text)
	}
	w := new(word)
	var bytes, mask [32]byte
	copy(bytes[:], text)
	for i := range text {
		mask[i] = 0xff
	}
	for i := range w.words {
		w.words[i] = binary.LittleEndian.Uint64(bytes[8*i:])
		w.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
	}
	return w
}

// at reports whether the word stands at b[i].
func (w *word) at(b []byte, i int) bool {
	k := (*[32]byte)(b[i : i+32])
	return (binary.LittleEndian.Uint64(k[0:])^w.words[0])&w.masks[0]|
		(binary.LittleEndian.Uint64(k[8:])^w.words[1])&w.masks[1]|
		(binary.LittleEndian.Uint64(k[16:])^w.words[2])&w.masks[2]|
		(binary.LittleEndian.Uint64(k[24:])^w.words[3])&w.masks[3] == 0
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
		var quoted [padding]byte
		copy(quoted[:], `"`+text+`"`)
		place := &t.words[t.place(quoted[:], 0)]
		if *place != nil {
			return nil, false
		}
		*place = newWord(`"` + text + `"`)
	}
	return t, true
}

// has reports whether one of the words stands at b[i].
func (t *wordTable) has(b []byte, i int) bool {
	w := t.words[t.place(b, i)]
	return w != nil && w.at(b, i)
}

// place hashes the word whose opening quote is at b[i], up to its closing quote or 16 bytes.
func (t *wordTable) place(b []byte, i int) uint8 {
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
