// Package match finds the entries of watchlists whose names are like a given one, scores how like they are, and
// explains why.
package match

import (
	"encoding/json"
	"math/bits"
	"unsafe"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// Index finds the entries of lists by their names. It consists of arrays without pointers, which a file has in the same
// form: see Open. It is safe for concurrent use.
type Index struct {
	// Lists describe the lists, in the order of their entries.
	Lists []Info

	// words are the distinct words of all names and of two neighbours written as one.
	words []names.Word
	// infos are the properties of each word for the score, sketches the first test of its similarity, with a wordUse.
	infos    []wordInfo
	sketches []names.Sketch
	// A key finds words: those whose keys fall into bucket b are keyWords[keyStarts[b]:keyStarts[b+1]], 24 bits of the
	// word and 8 of the key. keyBits has a bit set for each key, so that most keys of no word are rejected at once.
	keyStarts []uint32
	keyWords  []uint32
	keyBits   []uint64
	// postStarts has postRanges ranges of posts for each word: for names of persons without initials, names of persons
	// with initials, and names of organisations.
	postStarts []uint32
	posts      []post
	names      []nameRecord
	// nameWords are the words of each name, then its joins: see nameRecord.
	nameWords []uint32
	// texts are the texts of all names.
	texts []byte
	// entries are the places of the entries' facts in facts, one more than there are entries.
	entries []uint32
	facts   []byte
	// identifiers are sorted by their hashes.
	identifiers []identifierPost

	// shift makes a bucket of a key.
	shift uint8
	// unmap ends the mapping of a file; nil if there is none.
	unmap func() error
}

// Info describes a list of an index.
type Info struct {
	// List is the name of the list.
	List string `json:"list"`
	// Version is the digest of the list's date and entries, in hex.
	Version string `json:"version"`
	// SourceDate is the date of the list in its file, in the format of RFC 3339; "" if it has none.
	SourceDate string `json:"source_date,omitempty"`
	Format     string `json:"format"`
	Entries    int    `json:"entries"`
	// Names counts the names that can match, Unmatchable the names that cannot.
	Names       int `json:"names"`
	Unmatchable int `json:"unmatchable"`
}

// wordInfo is the properties of a word for the score: 8 bits of its weight in each mode, and the bits below.
type wordInfo uint32

// Properties of a word, as bits of a wordInfo.
const (
	distinctivePerson       wordInfo = 1 << 16
	distinctiveOrganisation wordInfo = 1 << 17
	shortWord               wordInfo = 1 << 18
	descentWord             wordInfo = 1 << 19
	numberWord              wordInfo = 1 << 20
)

func newWordInfo(w *names.Word) wordInfo {
	info := wordInfo(w.Weight[names.Person]) | wordInfo(w.Weight[names.Organisation])<<8
	if w.IsDistinctive(names.Person) {
		info |= distinctivePerson
	}
	if w.IsDistinctive(names.Organisation) {
		info |= distinctiveOrganisation
	}
	if w.IsShort() {
		info |= shortWord
	}
	if w.IsDescent() {
		info |= descentWord
	}
	if w.IsNumber() {
		info |= numberWord
	}
	return info
}

func (i wordInfo) weight(mode names.Mode) int32 { return int32(i >> (8 * mode) & 0xff) }

// bit returns 1 if the info has one of the bits above, otherwise 0.
func (i wordInfo) bit(b wordInfo) uint64 { return uint64(i / b & 1) }

// nameRecord is one name of an entry. Its words are nameWords[words:words+n], its joins the n-1 that follow.
type nameRecord struct {
	entry  uint32
	words  uint32
	text   uint32
	length uint16
	n      uint8
	mode   names.Mode
	kind   watchlist.NameKind
	_      [3]uint8
}

// wordsOf returns the words of a name, then its joins.
func (x *Index) wordsOf(r *nameRecord) []uint32 {
	return x.nameWords[r.words : int(r.words)+2*int(r.n)-1]
}

// Limits of an index, which follow from its keys.
const (
	maxWords = 1 << 24
	maxNames = 1 << 24
)

// wordUse is the kind of a word's occurrences. It is part of the word's sketch.
type wordUse = names.Sketch

const (
	// usedAlone words are words of a name.
	usedAlone wordUse = 1 << (names.SketchFree + iota)
	// usedAsJoin words are two neighbours written as one.
	usedAsJoin
)

// keyBitsPerBucket is the logarithm of the number of bits in keyBits for each bucket.
const keyBitsPerBucket = 3

// mayHave returns 1 if any word may have a key; otherwise 0.
func (x *Index) mayHave(key uint64) uint64 {
	bit := key >> (x.shift - keyBitsPerBucket)
	return x.keyBits[bit/64] >> (bit % 64) & 1
}

// has reports whether a word has one of at most 64 keys, as far as 8 more bits of them tell.
func (x *Index) has(keys []uint64) bool {
	var likely uint64 // all lookups come before the tests, so that the processor waits once
	for i, key := range keys {
		likely |= x.mayHave(key) << i
	}
	for ; likely != 0; likely &= likely - 1 {
		key := keys[bits.TrailingZeros64(likely)]
		b := key >> x.shift
		for _, w := range x.keyWords[x.keyStarts[b]:x.keyStarts[b+1]] {
			if byte(w>>24) == byte(key>>8) {
				return true
			}
		}
	}
	return false
}

// listOf returns the list of an entry.
func (x *Index) listOf(entry uint32) *Info {
	i, rest := 0, int(entry)
	for rest >= x.Lists[i].Entries {
		rest -= x.Lists[i].Entries
		i++
	}
	return &x.Lists[i]
}

// Entry returns an entry.
func (x *Index) Entry(i uint32) (watchlist.Entry, error) {
	var e watchlist.Entry
	err := json.Unmarshal(x.facts[x.entries[i]:x.entries[i+1]], &e)
	return e, err
}

// text returns the text of a name.
func (x *Index) text(name uint32) string {
	r := &x.names[name]
	return unsafe.String(unsafe.SliceData(x.texts[r.text:]), int(r.length))
}
