package match

import "sluice/shared/screening/names"

// filter is a fast test of whether the name of a post may reach the threshold.
type filter struct {
	n int
	// words are the tested words of the query, in the falling order of their losses.
	words [names.MaxWords]uint8
	// losses are the reductions of a name's margin if a word of the query has no match, rests the sums of the losses of
	// that word and all later ones.
	losses, rests [names.MaxWords]int64
	// sets are, in the same order, the words that each can match, filled on demand by the bits of filled: most names
	// lack the first word, so that the other sets are seldom needed.
	sets   []printSet
	filled uint64
	// searcher and query are from the last call of set.
	searcher *Searcher
	query    *querySide
}

// set sets the filter for a query with some opened words. Words with equal losses are in the order of the number of
// their matches.
func (f *filter) set(s *Searcher, q *querySide, opened uint64) {
	b := &s.bounds
	f.searcher, f.query, f.n, f.filled = s, q, 0, 0
	var counts [names.MaxWords]int
	for i := range q.n {
		loss, w := b.best[i]-b.miss[i], s.cache.word(q.words[i])
		if loss == 0 || opened == 1<<i || w.word.IsInitial() {
			continue
		}
		count := len(w.candidates)
		if w.isResolved {
			count = len(w.reach.similar)
		}
		j := f.n
		for ; j > 0 && (f.losses[j-1] < loss || f.losses[j-1] == loss && counts[j-1] > count); j-- {
			f.words[j], f.losses[j], counts[j] = f.words[j-1], f.losses[j-1], counts[j-1]
		}
		f.words[j], f.losses[j], counts[j] = uint8(i), loss, count
		f.n++
	}
	rest := int64(0)
	for k := f.n - 1; k >= 0; k-- {
		rest += f.losses[k]
		f.rests[k] = rest
	}
}

// setOf returns set k.
func (f *filter) setOf(k int) *printSet {
	if f.filled>>k&1 == 0 {
		f.filled |= 1 << k
		f.fill(k)
	}
	return &f.sets[k]
}

// fill fills set k.
func (f *filter) fill(k int) {
	s, q := f.searcher, f.query
	b, i, set := &s.bounds, int(f.words[k]), &f.sets[k]
	set.reset()
	hasJoins := q.joined>>i&1 != 0
	others := b.sum - b.best[i]
	w := s.cache.word(q.words[i])
	if !w.isResolved {
		for _, id := range w.candidates {
			set.add(printOf(id))
		}
		hasJoins = true
	}
	similar := w.reach.similar
	for j := range similar {
		e := &similar[j]
		// A match that does not suffice beside the best matches of all others counts as none.
		if start, end := e.in(q.mode); start == end || others+b.wordMargin(q, i, e) < 0 {
			continue
		}
		set.add(printOf(e.word))
		hasJoins = hasJoins || e.joined > 0
	}
	for _, r := range [...]*reach{s.joinReach(q, i-1), s.joinReach(q, i)} {
		if r != nil {
			for j := range r.similar {
				set.add(printOf(r.similar[j].word))
			}
		}
	}
	if hasJoins {
		set.add(manyJoins)
	}
}

// mayMatchWord reports whether word i of the query may match a word of the index: any similar word or candidate.
func (f *filter) mayMatchWord(i int, word uint32) bool {
	for k := range f.n {
		if int(f.words[k]) == i {
			return f.setOf(k).bit(printOf(word))&1 != 0
		}
	}
	return true
}

// required returns a set such that a name must have one of its words if all words of the query have a margin together,
// nil if there is none. Some words are known to match.
func (f *filter) required(margin int64, known uint64) *printSet {
	for k := range f.n {
		if known>>f.words[k]&1 == 0 {
			if margin < f.losses[k] {
				return f.setOf(k)
			}
			return nil
		}
	}
	return nil
}

// passes reports whether the name of a post may reach the threshold if all words of the query have a margin together.
// It does not test some words, which are known to match.
func (f *filter) passes(p *post, margin int64, known uint64) bool {
	for k := range f.n {
		if margin >= f.rests[k] {
			return true
		}
		if known>>f.words[k]&1 == 0 && !f.setOf(k).mayMatch(p) {
			if margin -= f.losses[k]; margin < 0 {
				return false
			}
		}
	}
	return true
}

// passesName is passes for a name whose post lacks some of its words and joins.
func (f *filter) passesName(x *Index, name uint32, margin int64, known uint64) bool {
	words := x.wordsOf(&x.names[name])
	for k := range f.n {
		if margin >= f.rests[k] {
			return true
		}
		if known>>f.words[k]&1 == 0 && !f.setOf(k).mayHaveAny(words) {
			if margin -= f.losses[k]; margin < 0 {
				return false
			}
		}
	}
	return true
}
