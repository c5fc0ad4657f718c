package names

import (
	"sync"
	"unsafe"
)

// Digest returns a hash of the analysis of names: of the tables of this package, and of the stored form of all words in
// them. Words stored under another digest must not be compared with words of this program.
var Digest = sync.OnceValue(func() uint64 { return loadTables().digest() + loadFoldings().digest() })

// digest does not depend on the order of the maps.
func (t *tables) digest() uint64 {
	sum := uint64(0)
	for text, m := range t.words {
		w := NewWord([]byte(text))
		w.class, w.concepts = m.class, m.concepts
		sum += w.digest(text)
	}
	for form := range t.forms {
		w := NewWord([]byte(form))
		sum += w.digest(form)
	}
	for form := range t.wholeForms {
		w := NewWord([]byte(form))
		sum += mix(w.digest(form))
	}
	return sum
}

// digest returns a hash of the stored form of a word.
func (w *Word) digest(text string) uint64 {
	h := uint64(0)
	for i := range len(text) {
		h = h*hashBase + uint64(text[i])
	}
	for _, v := range *(*[unsafe.Sizeof(Word{}) / 8]uint64)(unsafe.Pointer(w)) {
		h = mix(h ^ v)
	}
	h = mix(h ^ uint64(w.Sketch()))
	for _, key := range w.AppendKeys(w.AppendJoinKeys(nil)) {
		h = mix(h ^ key)
	}
	return h
}

func (f *foldings) digest() uint64 {
	sum := uint64(0)
	for page, values := range f.pages {
		if values == nil {
			continue
		}
		for i, v := range values {
			sum += mix(uint64(page<<8|i)<<32 | uint64(v))
		}
	}
	for r, v := range f.lookalikes {
		sum += mix(mix(uint64(r)<<32 | uint64(v)))
	}
	return sum
}
