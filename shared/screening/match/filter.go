package match

import "sluice/shared/screening/names"

// filter is a fast test of whether the name of a post may reach the threshold.
type filter struct {
	n int
	// words are the words of the query that are tested, those first whose absence costs most.
	words [names.MaxWords]uint8
	// losses are by how much the margin of a name is less if a word of the query meets nothing, rests the sums of the
	// losses of that word and those after it.
	losses, rests [names.MaxWords]int64
	// sets are, in the same order, the words that each can meet.
	sets []printSet
}

// set makes the filter that of a query of which some words are opened.
func (f *filter) set(s *Searcher, q *querySide, opened uint64) {
	b := &s.bounds
	f.n = 0
	for i := range q.n {
		loss := b.best[i] - b.miss[i]
		if loss == 0 || opened == 1<<i || s.cache.word(q.words[i]).word.IsInitial() {
			continue
		}
		j := f.n
		for ; j > 0 && f.losses[j-1] < loss; j-- {
			f.words[j], f.losses[j] = f.words[j-1], f.losses[j-1]
		}
		f.words[j], f.losses[j] = uint8(i), loss
		f.n++
	}
	rest := int64(0)
	for k := f.n - 1; k >= 0; k-- {
		rest += f.losses[k]
		f.rests[k] = rest
		f.fill(k, s, q)
	}
}

// fill fills set k.
func (f *filter) fill(k int, s *Searcher, q *querySide) {
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
		// A word that does not suffice if all others meet their best is as good as none.
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

// required returns the set of which a name must have a word if all words of the query have a margin together, nil if
// there is none. Some words are known to meet.
func (f *filter) required(margin int64, known uint64) *printSet {
	for k := range f.n {
		if known>>f.words[k]&1 == 0 {
			if margin < f.losses[k] {
				return &f.sets[k]
			}
			return nil
		}
	}
	return nil
}

// passes reports whether the name of a post may reach the threshold if all words of the query have a margin together.
// It does not test some words, which are known to meet.
func (f *filter) passes(p *post, margin int64, known uint64) bool {
	for k := range f.n {
		if margin >= f.rests[k] {
			return true
		}
		if known>>f.words[k]&1 == 0 && !f.sets[k].mayMeet(p) {
			if margin -= f.losses[k]; margin < 0 {
				return false
			}
		}
	}
	return true
}

// passesName is passes for a name of which a post does not have all words and joins.
func (f *filter) passesName(x *Index, name uint32, margin int64, known uint64) bool {
	words := x.wordsOf(&x.names[name])
	for k := range f.n {
		if margin >= f.rests[k] {
			return true
		}
		if known>>f.words[k]&1 == 0 && !f.sets[k].mayHaveAny(words) {
			if margin -= f.losses[k]; margin < 0 {
				return false
			}
		}
	}
	return true
}
