package match

import (
	"bytes"
	"hash/maphash"

	"sluice/shared/screening/names"
)

// knownWord is a word of queries with what the index has for it.
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
	// chunkWords is the number of known words that are allocated at once, chunkSimilar that of similar words,
	// chunkCandidates that of words that may be similar.
	chunkWords      = 1 << 9
	chunkSimilar    = 1 << 12
	chunkCandidates = 1 << 14
)

// wordCache remembers words of queries: names share most of theirs.
type wordCache struct {
	seed maphash.Seed
	// slots have the numbers of words in their low 16 bits and bits of the hash above; 0 is none.
	slots []uint32
	// chunks have the words, of which there are n. They stay where they are.
	chunks   []*[chunkWords]knownWord
	n        int
	texts    []byte
	similars []similarWord
	// candidates are those of words.
	candidates []uint32
	// keys, ranges, ids and found are those of the word that is being looked up. Of ids, those before ends[kind] were
	// found by keys of that kind or of one before it.
	keys   names.QueryKeys
	ranges []keyRange
	ids    []uint32
	ends   [names.KeyKinds]int
	found  []similarWord
	sieve  names.Sieve
	// seen has a bit for each word of the index, which is set while it is among ids and others are sought.
	seen []uint64
	// touched depends on all that is about to be read, so that the processor fetches it at once.
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

// reserve empties the cache unless n more words fit: while a query is searched for, none disappears.
func (c *wordCache) reserve(n int) {
	if c.n+n < maxKnownWords {
		return
	}
	clear(c.slots)
	c.n, c.texts = 1, c.texts[:0]
}

// hash returns the hash of a folded word, and has the processor fetch what lookUp needs.
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

// sift finds out which words of the index may be similar to a word. Most names are known to match nothing before all of
// their words are sifted, and nearly all before all are resolved.
func (s *Searcher) sift(n int32) {
	c := &s.cache
	w := c.word(n)
	w.isSifted = true
	c.keys.Set(&w.word)
	c.findCandidates(s.index, &w.word, false)
	w.candidates = c.keepCandidates()
	w.isResolved = len(w.candidates) == 0
}

// resolve finds out what the index has for a word that is sifted.
func (s *Searcher) resolve(n int32) {
	w := s.cache.word(n)
	w.isResolved = true
	w.reach = s.cache.reachOf(s.index, &w.word, w.candidates, false)
}
