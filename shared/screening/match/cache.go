package match

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"sluice/shared/screening/names"
)

// similarWord is a word of the index that is similar to one of a query.
type similarWord struct {
	word       uint32
	similarity uint16
	// joined is the similarity if one of the two is written as one word only here; 0 if they then do not correspond.
	joined uint16
	kind   names.Kind
}

// knownWord is a word of queries with what the index has for it.
type knownWord struct {
	word names.Word
	// text and similar are ranges of the cache.
	text, textEnd       uint32
	similar, similarEnd uint32
	// mask has the signature bits of all similar words, maskJoined of those that are similar as a join.
	mask, maskJoined uint32
	// cost is the number of names with a similar word, most the greatest weight of a word or join that is similar, by
	// mode, and the same for the word as a join.
	cost, costJoined [names.Modes]int32
	most, mostJoined [names.Modes]int32
}

// Limits of the cache. It is emptied when it is full.
const (
	maxKnownWords = 1 << 16
	knownSlots    = 1 << 18
)

// wordCache remembers words of queries: names share most of theirs.
type wordCache struct {
	seed     maphash.Seed
	slots    []int32
	words    []knownWord
	texts    []byte
	similars []similarWord
	keys     []uint64
	ids      []uint32
}

func (c *wordCache) init() {
	c.seed = maphash.MakeSeed()
	c.slots = make([]int32, knownSlots)
	c.words = append(c.words, knownWord{}) // no word is number 0
}

// reserve empties the cache unless n more words fit: while a query is searched for, none disappears.
func (c *wordCache) reserve(n int) {
	if len(c.words)+n < maxKnownWords {
		return
	}
	clear(c.slots)
	c.words, c.texts, c.similars = c.words[:1], c.texts[:0], c.similars[:0]
}

func (c *wordCache) similarOf(w *knownWord) []similarWord { return c.similars[w.similar:w.similarEnd] }

// find returns the number of a word, or the slot for it and false.
func (c *wordCache) find(text []byte) (int32, uint64, bool) {
	for slot := maphash.Bytes(c.seed, text) % knownSlots; ; slot = (slot + 1) % knownSlots {
		n := c.slots[slot]
		if n == 0 {
			return 0, slot, false
		}
		if w := &c.words[n]; bytes.Equal(c.texts[w.text:w.textEnd], text) {
			return n, slot, true
		}
	}
}

// lookUp returns the number of a folded word in the cache.
func (s *Searcher) lookUp(text []byte) int32 {
	n, slot, found := s.cache.find(text)
	if found {
		return n
	}
	c := &s.cache
	w := knownWord{word: names.NewWord(text), text: uint32(len(c.texts)), similar: uint32(len(c.similars))}
	c.texts = append(c.texts, text...)
	w.textEnd = uint32(len(c.texts))
	s.addSimilar(&w)
	c.words = append(c.words, w)
	c.slots[slot] = int32(len(c.words) - 1)
	return c.slots[slot]
}

// lookUpJoin returns the number of words i and j of the query written as one.
func (s *Searcher) lookUpJoin(i, j int) int32 {
	a, b := s.splitter.Word(i), s.splitter.Word(j)
	s.joinBuf = s.joinBuf[:0]
	if b[0] == '~' {
		if b = b[1:]; a[0] != '~' {
			s.joinBuf = append(s.joinBuf, '~')
		}
	}
	s.joinBuf = append(append(s.joinBuf, a...), b...)
	return s.lookUp(s.joinBuf)
}

// addSimilar finds the words of the index that are similar to a new word of the cache.
func (s *Searcher) addSimilar(w *knownWord) {
	x, c := s.index, &s.cache
	c.keys = w.word.AppendKeys(c.keys[:0])
	if key := w.word.InitialKey(); key != 0 {
		c.keys = append(c.keys, key)
	}
	c.ids = c.ids[:0]
	for _, key := range c.keys {
		b := x.bucket(key)
		c.ids = append(c.ids, x.keyWords[x.keyStarts[b]:x.keyStarts[b+1]]...)
	}
	slices.Sort(c.ids)
	c.ids = slices.Compact(c.ids)
	for _, id := range c.ids {
		other := &x.words[id]
		similarity, kind := names.Similarity(&w.word, other)
		if similarity == 0 {
			continue
		}
		joined, _ := names.JoinSimilarity(&w.word, other)
		e := similarWord{word: id, similarity: uint16(similarity), joined: uint16(joined), kind: kind}
		c.similars = append(c.similars, e)
		w.mask |= signatureBit(id)
		if joined > 0 {
			w.maskJoined |= signatureBit(id)
		}
		for mode := range names.Modes {
			count := int32(x.postStarts[2*id+uint32(mode)+1] - x.postStarts[2*id+uint32(mode)])
			if count == 0 {
				continue
			}
			w.cost[mode] += count
			weight := int32(other.Weight[mode])
			if joined > 0 {
				w.costJoined[mode] += count
				weight = maxJoinWeight
				w.mostJoined[mode] = maxJoinWeight
			}
			w.most[mode] = max(w.most[mode], weight)
		}
	}
	w.similarEnd = uint32(len(c.similars))
	slices.SortFunc(c.similars[w.similar:], func(a, b similarWord) int { return cmp.Compare(a.word, b.word) })
}

// maxJoinWeight is the greatest weight of two words.
const maxJoinWeight = 200
