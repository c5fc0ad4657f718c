package match

import (
	"bytes"
	"hash/maphash"
	"slices"

	"sluice/shared/screening/names"
)

// similarWord is a word of an index that is similar to one of a query.
type similarWord struct {
	word uint32
	// similarity is that to the word as one of a name, joined that to the word as a join; 0 if they do not correspond.
	similarity, joined uint16
	kind               names.Kind
}

// reach is what one index has for a word of a query, or for two of them written as one.
type reach struct {
	similar []similarWord
	// mask has the signature bits of all similar words.
	mask uint64
	// cost is the number of occurrences of similar words, most the greatest weight of one, by mode.
	cost, most [names.Modes]int32
}

// knownWord is a word of queries with what the indexes have for it.
type knownWord struct {
	word names.Word
	info wordInfo
	// text is a range of the cache.
	text, textEnd uint32
	// most is the greatest weight of a similar word in any index.
	most [names.Modes]int32
}

// Limits of the cache. It is emptied when it is full.
const (
	maxKnownWords = 1 << 16
	knownSlots    = 1 << 17
)

// wordCache remembers words of queries: names share most of theirs.
type wordCache struct {
	seed  maphash.Seed
	slots []int32
	words []knownWord
	texts []byte
	// reaches has one reach for each word and index.
	reaches  []reach
	similars []similarWord
	keys     []uint64
	ids      []uint32
}

func (c *wordCache) init(indexes int) {
	c.seed = maphash.MakeSeed()
	c.slots = make([]int32, knownSlots)
	c.words = append(c.words, knownWord{}) // no word is number 0
	c.reaches = append(c.reaches, make([]reach, indexes)...)
}

// reserve empties the cache unless n more words fit: while a query is searched for, none disappears.
func (c *wordCache) reserve(n, indexes int) {
	if len(c.words)+n < maxKnownWords {
		return
	}
	clear(c.slots)
	c.words, c.texts, c.reaches = c.words[:1], c.texts[:0], c.reaches[:indexes]
	c.similars = nil // the reaches of a search that has ended may still be read
}

// lookUp returns the number of a folded word in the cache.
func (s *Searcher) lookUp(text []byte) int32 {
	c := &s.cache
	slot := maphash.Bytes(c.seed, text) % knownSlots
	for ; c.slots[slot] != 0; slot = (slot + 1) % knownSlots {
		n := c.slots[slot]
		if w := &c.words[n]; bytes.Equal(c.texts[w.text:w.textEnd], text) {
			return n
		}
	}
	w := knownWord{word: names.NewWord(text), text: uint32(len(c.texts))}
	w.info = newWordInfo(&w.word)
	c.texts = append(c.texts, text...)
	w.textEnd = uint32(len(c.texts))
	c.keys = w.word.AppendQueryKeys(c.keys[:0])
	for _, x := range s.indexes {
		r := c.reachOf(x, &w.word, false)
		c.reaches = append(c.reaches, r)
		for mode, most := range r.most {
			w.most[mode] = max(w.most[mode], most)
		}
	}
	c.words = append(c.words, w)
	c.slots[slot] = int32(len(c.words) - 1)
	return c.slots[slot]
}

// reachOf finds the words of an index that are similar to one whose keys are in c.keys.
func (c *wordCache) reachOf(x *Index, w *names.Word, isJoin bool) reach {
	c.ids = c.ids[:0]
	for _, key := range c.keys {
		if x.mayHave(key) {
			c.ids = x.appendWords(c.ids, key)
		}
	}
	if len(c.ids) == 0 {
		return reach{}
	}
	slices.Sort(c.ids)
	c.ids = slices.Compact(c.ids)
	first := len(c.similars)
	var r reach
	for _, id := range c.ids {
		e := x.compareWord(w, id, isJoin)
		if e.similarity == 0 && e.joined == 0 {
			continue
		}
		c.similars = append(c.similars, e)
		r.mask |= signatureBit(id)
		for mode := range names.Modes {
			count := int32(x.postStarts[2*id+uint32(mode)+1] - x.postStarts[2*id+uint32(mode)])
			if count == 0 {
				continue
			}
			r.cost[mode] += count
			if e.similarity > 0 {
				r.most[mode] = max(r.most[mode], x.infos[id].weight(names.Mode(mode)))
			}
			if e.joined > 0 {
				r.most[mode] = maxJoinWeight
			}
		}
	}
	r.similar = c.similars[first:len(c.similars):len(c.similars)]
	return r
}

// compareWord compares a word of a query, or two as one, with a word of the index.
func (x *Index) compareWord(w *names.Word, id uint32, isJoin bool) similarWord {
	e := similarWord{word: id, kind: names.Joined}
	other, use := &x.words[id], x.uses[id]
	if isJoin || use&usedAsJoin != 0 {
		joined, _ := names.JoinSimilarity(w, other)
		if use&usedAsJoin != 0 {
			e.joined = uint16(joined)
		}
		if isJoin && use&usedAlone != 0 {
			e.similarity = uint16(joined)
		}
	}
	if !isJoin && use&usedAlone != 0 {
		similarity, kind := names.Similarity(w, other)
		e.similarity, e.kind = uint16(similarity), kind
	}
	return e
}

// maxJoinWeight is the greatest weight of two words.
const maxJoinWeight = 200
