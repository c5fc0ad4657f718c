package match

import (
	"bytes"
	"hash/maphash"

	"sluice/shared/screening/names"
)

// knownWord is a word of queries and the words of the index that match it.
type knownWord struct {
	word names.Word
	part names.Part
	info wordInfo
	// text is a range of the cache.
	text, textEnd uint32
	// candidates are the words of the index that may be similar, known if isSifted is set.
	candidates []uint32
	// reach is known if isResolved is set.
	reach                reach
	isSifted, isResolved bool
}

func (w *knownWord) textLength() uint32 { return w.textEnd - w.text }

// Limits of the cache. It is emptied when it is full.
const (
	maxKnownWords = 1 << 16
	knownSlots    = 1 << 17
	// chunkWords, chunkSimilar and chunkCandidates are the numbers of known words, of similar words and of candidates
	// per allocation.
	chunkWords      = 1 << 9
	chunkSimilar    = 1 << 12
	chunkCandidates = 1 << 14
)

// wordCache keeps words of queries, most of which recur in other names.
type wordCache struct {
	seed maphash.Seed
	// slots have the numbers of words in their low 16 bits and bits of the hash above; 0 is none.
	slots []uint32
	// chunks have the n words. They stay in place.
	chunks   []*[chunkWords]knownWord
	n        int
	texts    []byte
	similars []similarWord
	// candidates are the candidates of all words.
	candidates []uint32
	// keys, ranges, ids and found belong to the word of the present lookup. The ids before ends[kind] were found by
	// keys of that kind or an earlier one.
	keys   names.QueryKeys
	ranges []keyRange
	ids    []uint32
	ends   [names.KeyKinds]int
	found  []similarWord
	sieve  names.Sieve
	// seen has a bit for each word of the index, set for the words in ids during the lookup.
	seen []uint64
	// touched depends on all memory about to be read, so that the processor fetches it at once.
	touched uint64
}

func (c *wordCache) init(x *Index) {
	c.seen = make([]uint64, len(x.words)/64+1)
	c.seed = maphash.MakeSeed()
	c.slots = make([]uint32, knownSlots)
	c.n = 1 // no word is number 0
}

// word returns a word by its number.
func (c *wordCache) word(n int32) *knownWord { return &c.chunks[n/chunkWords][n%chunkWords] }

// add adds a word and returns its number.
func (c *wordCache) add(text []byte) int32 {
	n := c.n
	if n/chunkWords == len(c.chunks) {
		c.chunks = append(c.chunks, new([chunkWords]knownWord))
	}
	c.n++
	w := c.word(int32(n))
	*w = knownWord{word: names.NewWord(text), text: uint32(len(c.texts)), textEnd: uint32(len(c.texts) + len(text))}
	w.part, w.info = w.word.Part(), newWordInfo(&w.word)
	c.texts = append(c.texts, text...)
	return int32(n)
}

// reserve empties the cache unless n more words fit, so that no word disappears during a search.
func (c *wordCache) reserve(n int) {
	if c.n+n < maxKnownWords {
		return
	}
	clear(c.slots)
	c.n, c.texts = 1, c.texts[:0]
}

// hash returns the hash of a folded word, and has the processor fetch the memory that lookUp reads.
func (c *wordCache) hash(text []byte) uint64 {
	hash := maphash.Bytes(c.seed, text)
	c.touched += uint64(c.slots[hash%knownSlots])
	return hash
}

// lookUp returns the number of a folded word with a hash in the cache.
func (s *Searcher) lookUp(text []byte, hash uint64) int32 {
	c := &s.cache
	tag := uint32(hash>>48) << 16
	slot := hash % knownSlots
	for ; c.slots[slot] != 0; slot = (slot + 1) % knownSlots {
		found := c.slots[slot]
		if found&^0xffff != tag {
			continue
		}
		if w := c.word(int32(found & 0xffff)); bytes.Equal(c.texts[w.text:w.textEnd], text) {
			return int32(found & 0xffff)
		}
	}
	n := c.add(text)
	c.slots[slot] = tag | uint32(n)
	return n
}

// sift finds the candidates of a word. Most names turn out to match nothing before all of their words are sifted, and
// nearly all before all are resolved.
func (s *Searcher) sift(n int32) {
	c := &s.cache
	w := c.word(n)
	w.isSifted = true
	c.keys.Set(&w.word)
	c.findCandidates(s.index, &w.word, false)
	w.candidates = c.keepCandidates()
	w.isResolved = len(w.candidates) == 0
}

// resolve compares a sifted word with its candidates.
func (s *Searcher) resolve(n int32) {
	w := s.cache.word(n)
	w.isResolved = true
	w.reach = s.cache.reachOf(s.index, &w.word, w.candidates, false)
}
