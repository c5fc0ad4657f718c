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
	word uint32
	// similarity is that to the word as one of a name, joined that to the word as a join; 0 if they do not correspond.
	similarity, joined uint16
	// posts are where those of names of persons begin, those of organisations, and where these end.
	posts  [names.Modes + 1]uint32
	weight [names.Modes]uint8
	kind   names.Kind
}

// reach is what the index has for a word of a query, or for two of them written as one.
type reach struct {
	// similar are in the order of words.
	similar []similarWord
	// best is, by mode, what is known of the similar words together.
	best [names.Modes]bestWord
}

// greatest returns the greatest similarity to any word or join that names have in a mode.
func (r *reach) greatest(mode names.Mode) uint16 {
	if r == nil {
		return 0
	}
	return max(r.best[mode].similarity, r.best[mode].joined)
}

// bestWord bounds what any of some words can add to a score.
type bestWord struct {
	// posts is the number of occurrences of the words.
	posts int32
	// similarity is the greatest similarity to a word of a name that is not an initial, initial that to an initial, and
	// joined that to a join.
	similarity, initial, joined uint16
	// weight is the greatest weight of a word of a name, initialWeight the least of an initial.
	weight, initialWeight uint8
}

// knownWord is a word of queries with what the index has for it.
type knownWord struct {
	word names.Word
	info wordInfo
	// text is a range of the cache.
	text, textEnd uint32
	// What follows is not known before isResolved is set.
	isResolved bool
	reach      reach
}

func (w *knownWord) textLength() uint32 { return w.textEnd - w.text }

// Limits of the cache. It is emptied when it is full.
const (
	maxKnownWords = 1 << 16
	knownSlots    = 1 << 17
	// chunkWords is the number of known words that are allocated at once, chunkSimilar that of similar words.
	chunkWords   = 1 << 9
	chunkSimilar = 1 << 12
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
	w.info = newWordInfo(&w.word)
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

// keep returns the similar words of found, which are not changed any more, in the order of words.
func (c *wordCache) keep() []similarWord {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortFunc(c.found, func(a, b similarWord) int { return cmp.Compare(a.word, b.word) })
	if cap(c.similars)-len(c.similars) < len(c.found) {
		c.similars = make([]similarWord, 0, max(chunkSimilar, len(c.found)))
	}
	first := len(c.similars)
	c.similars = append(c.similars, c.found...)
	return c.similars[first:len(c.similars):len(c.similars)]
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

// resolve finds out what the index has for a word. Most names are known to match nothing before all of their words
// are resolved.
func (s *Searcher) resolve(n int32) {
	c := &s.cache
	w := c.word(n)
	w.isResolved = true
	c.keys.Set(&w.word)
	w.reach = c.reachOf(s.index, &w.word, false)
}

// reachOf finds the words of an index that are similar to one whose keys are in c.keys.
func (c *wordCache) reachOf(x *Index, w *names.Word, isJoin bool) reach {
	c.findWords(x)
	if len(c.ids) == 0 {
		return reach{}
	}
	c.sift(x, w, isJoin)
	c.found = c.found[:0]
	var r reach
	for _, id := range c.ids {
		e := x.compareWord(w, id, isJoin)
		if e.similarity == 0 && e.joined == 0 {
			continue
		}
		for mode, weight := range x.words[id].Weight {
			e.weight[mode] = uint8(weight)
		}
		c.found = append(c.found, e)
	}
	for i := range c.found { // at once, so that the processor waits for memory as seldom as possible
		e := &c.found[i]
		e.posts = [names.Modes + 1]uint32(x.postStarts[2*e.word : 2*e.word+uint32(names.Modes)+1])
	}
	for i := range c.found {
		e := &c.found[i]
		for mode := range names.Modes {
			if count := e.posts[mode+1] - e.posts[mode]; count > 0 {
				r.best[mode].add(e, count, mode)
			}
		}
	}
	r.similar = c.keep()
	return r
}

// keyRange is a range of keyWords, of which those with a check may have a key.
type keyRange struct {
	start, end uint32
	check      byte
	kind       names.KeyKind
}

// findWords finds the words of an index that may have one of the keys, which it overwrites. Each step looks at all keys
// before the next begins, so that the processor waits for memory as seldom as possible.
func (c *wordCache) findWords(x *Index) {
	keys := c.keys.Keys
	for i, key := range keys {
		keys[i] = key * x.mayHave(key) // keys are not 0
	}
	c.ranges = c.ranges[:0]
	for i, key := range keys {
		if key != 0 {
			b := key >> x.shift
			c.ranges = append(c.ranges, keyRange{x.keyStarts[b], x.keyStarts[b+1], byte(key >> 8), c.keys.Kind(i)})
		}
	}
	for _, r := range c.ranges {
		c.touched += uint64(x.keyWords[min(int(r.start), len(x.keyWords)-1)])
	}
	c.ids, c.ends = c.ids[:0], [names.KeyKinds]int{}
	for _, r := range c.ranges {
		for _, w := range x.keyWords[r.start:r.end] {
			id := w & (maxWords - 1)
			if bit := uint64(1) << (id % 64); byte(w>>24) == r.check && c.seen[id/64]&bit == 0 {
				c.seen[id/64] |= bit
				c.ids = append(c.ids, id)
			}
		}
		c.ends[r.kind] = len(c.ids)
	}
	for kind := 1; kind < len(c.ends); kind++ {
		c.ends[kind] = max(c.ends[kind], c.ends[kind-1])
	}
	for _, id := range c.ids {
		c.seen[id/64] = 0
		c.touched += uint64(x.sketches[id])
	}
}

// sift drops the words that do not sound like a word of a query, or two as one, as far as their sketches tell.
func (c *wordCache) sift(x *Index, w *names.Word, isJoin bool) {
	c.sieve.Set(w)
	first := c.ends[names.KeyOfWhole]
	n := first
	for i, id := range c.ids[first:] {
		sketch := x.sketches[id]
		passes := (isJoin || sketch&usedAsJoin != 0) && c.sieve.PassesJoin(sketch)
		if !passes && !isJoin && sketch&usedAlone != 0 {
			if first+i < c.ends[names.KeyOfConsonants] {
				passes = c.sieve.PassesWord(sketch)
			} else {
				passes = c.sieve.PassesEdited(sketch)
			}
		}
		if passes {
			c.ids[n] = id
			n++
		}
	}
	c.ids = c.ids[:n]
	for _, id := range c.ids {
		c.touched += x.words[id].Hash
	}
}

// add adds a word with some occurrences.
func (b *bestWord) add(e *similarWord, posts uint32, mode int) {
	weight := e.weight[mode]
	switch {
	case e.similarity == 0:
	case e.kind != names.Initial:
		b.similarity = max(b.similarity, e.similarity)
	case names.Mode(mode) == names.Organisation:
		return
	case b.initial == 0:
		b.initial, b.initialWeight = e.similarity, weight
	default:
		b.initialWeight = min(b.initialWeight, weight)
	}
	b.posts += int32(posts)
	if e.similarity > 0 {
		b.weight = max(b.weight, weight)
	}
	b.joined = max(b.joined, e.joined)
}

// compareWord compares a word of a query, or two as one, with a word of the index.
func (x *Index) compareWord(w *names.Word, id uint32, isJoin bool) similarWord {
	e := similarWord{word: id, kind: names.Joined}
	other, use := &x.words[id], x.sketches[id]
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
