package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
)

// similarWord is a word of the index similar to a word of a query.
type similarWord struct {
	word uint32
	// similarity is the similarity to the word in a name, joined to the word as a join; 0 if they do not correspond.
	similarity, joined uint16
	// posts are the starts of the ranges of the word's posts, and the end of the last one.
	posts  [postRanges + 1]uint32
	weight [names.Modes]uint8
	kind   names.Kind
}

// isInitial reports whether the word is the initial of the query's word.
func (e *similarWord) isInitial() bool { return e.kind == names.Initial }

// in returns the range of the posts of names in a mode.
func (e *similarWord) in(mode names.Mode) (start, end uint32) {
	if mode == names.Person {
		return e.posts[0], e.posts[organisations]
	}
	return e.posts[organisations], e.posts[postRanges]
}

// reach is the words of the index similar to a word of a query, or to two of them written as one.
type reach struct {
	// similar are in the order of words.
	similar []similarWord
	// best bounds, by mode, the similar words together.
	best [names.Modes]bestWord
}

// greatest returns the greatest similarity to any word or join that names have in a mode.
func (r *reach) greatest(mode names.Mode) uint16 {
	if r == nil {
		return 0
	}
	return max(r.best[mode].similarity, r.best[mode].joined)
}

// bestWord bounds the contribution of any of some words to a score.
type bestWord struct {
	// posts counts the occurrences of words that are not initials, partPosts their occurrences in names with initials,
	// and initialPosts the occurrences of initials.
	posts, partPosts, initialPosts int32
	// similarity is the greatest similarity to a word of a name that is not an initial, initial to an initial, and
	// joined to a join.
	similarity, initial, joined uint16
	// weight is the greatest weight of a word of a name, initialWeight the least of an initial.
	weight, initialWeight uint8
}

// findCandidates finds the words of an index that may be similar to one whose keys are in c.keys.
func (c *wordCache) findCandidates(x *Index, w *names.Word, isJoin bool) {
	c.findWords(x)
	if len(c.ids) > 0 {
		c.sift(x, w, isJoin)
	}
}

// reachOf compares a word with its candidates.
func (c *wordCache) reachOf(x *Index, w *names.Word, candidates []uint32, isJoin bool) reach {
	c.found = c.found[:0]
	var r reach
	for _, id := range candidates {
		c.touched += x.words[id].Hash
	}
	for _, id := range candidates {
		e := x.compareWord(w, id, isJoin)
		if e.similarity == 0 && e.joined == 0 {
			continue
		}
		for mode, weight := range x.words[id].Weight {
			e.weight[mode] = uint8(weight)
		}
		c.found = append(c.found, e)
	}
	for i := range c.found { // together, so that the processor waits for memory as seldom as possible
		e := &c.found[i]
		e.posts = [postRanges + 1]uint32(x.postStarts[postRanges*e.word:])
	}
	for i := range c.found {
		e := &c.found[i]
		for mode := range names.Modes {
			r.best[mode].add(e, names.Mode(mode))
		}
	}
	r.similar = c.keep()
	return r
}

// keyRange is a range of keyWords; its words with the check may have a key.
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

// sift drops the words whose sketches exclude that they sound like a word of a query, or two as one.
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
}

// add adds a word.
func (b *bestWord) add(e *similarWord, mode names.Mode) {
	start, end := e.in(mode)
	if start == end {
		return
	}
	weight := e.weight[mode]
	switch {
	case e.similarity == 0:
	case !e.isInitial():
		b.similarity = max(b.similarity, e.similarity)
	case mode == names.Organisation:
		return
	case b.initial == 0:
		b.initial, b.initialWeight = e.similarity, weight
	default:
		b.initialWeight = min(b.initialWeight, weight)
	}
	if e.isInitial() {
		b.initialPosts += int32(end - start)
	} else {
		b.posts += int32(end - start)
		b.partPosts += int32(end - max(start, e.posts[withInitials]))
	}
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

// keepCandidates returns a lasting copy of the words that may be similar.
func (c *wordCache) keepCandidates() []uint32 {
	if cap(c.candidates)-len(c.candidates) < len(c.ids) {
		c.candidates = make([]uint32, 0, max(chunkCandidates, len(c.ids)))
	}
	first := len(c.candidates)
	c.candidates = append(c.candidates, c.ids...)
	return c.candidates[first:len(c.candidates):len(c.candidates)]
}

// keep returns a lasting copy of the similar words of found, in the order of words.
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
