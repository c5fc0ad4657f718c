package match

import (
	"math"

	"sluice/shared/screening/names"
)

// bounds bound what names can reach in one mode of a query. Of a score of at least the threshold, everything that meets
// and everything that is missing has a margin: what it adds beyond what the threshold demands for it. Names whose
// margins add up to less than 0 do not reach the threshold. That follows from ratio, of which the threshold is a bound;
// what score takes away after it only lowers the score.
type bounds struct {
	threshold int64
	mode      names.Mode
	// best is the greatest margin of each word, miss that of the word if it meets nothing.
	best, miss [names.MaxWords]int64
	// initial is the greatest margin of each word if it meets no more than an initial.
	initial [names.MaxWords]int64
	// sum is that of all best margins.
	sum int64
	// covers is the greatest weight of words of the list that any of the words can meet.
	covers int32
	// share is the least of percentFew that can apply.
	share int64
}

// impossible is a margin that nothing makes up for.
const impossible = math.MinInt64 / 2

// maxWeight is the greatest weight of a word.
const maxWeight = 100

// margin returns the margin of words of a weight that meet with a similarity.
func (b *bounds) margin(similarity uint16, weight int32) int64 {
	return int64(weight) * (names.Equal*int64(shrink(int32(similarity))) - 100*b.threshold)
}

// missMargin returns the margin of words of the query that meet nothing.
func (b *bounds) missMargin(weight int32) int64 { return -percentQuery * int64(weight) * b.threshold }

// listMargin returns the margin of words of a list's name that meet nothing while some of the query meet nothing
// either.
func (b *bounds) listMargin(missedList, missedQuery int32, share int64) int64 {
	if missedList <= 0 {
		return 0
	}
	return -b.threshold * (share*int64(missedList) + percentConflict*int64(min(missedList, missedQuery)))
}

// wordMargin returns the margin of word i of the query if it meets a word of the index.
func (b *bounds) wordMargin(q *querySide, i int, e *similarWord) int64 {
	margin := int64(impossible)
	if e.similarity > 0 && !(e.kind == names.Initial && b.mode == names.Organisation) {
		margin = b.margin(e.similarity, pairWeight(e.kind, q.weight[i], int32(e.weight[b.mode])))
	}
	if e.joined > 0 {
		margin = max(margin, b.margin(e.joined, q.weight[i]))
	}
	return margin
}

// leastShare returns the least share with which words of the list count that meet nothing if at most n words meet that
// say who is meant.
func leastShare(mode names.Mode, n int) int64 {
	share := int32(math.MaxInt32)
	for met := 1; met <= n; met++ {
		share = min(share, shareOfList(mode, met))
	}
	return int64(share)
}

// set sets the margins of the words of a query, as far as they are resolved.
func (b *bounds) set(s *Searcher, q *querySide, threshold int) {
	b.threshold, b.mode, b.sum, b.covers = int64(threshold), q.mode, 0, 0
	for i := range q.n {
		b.miss[i] = b.missMargin(q.weight[i])
		b.setBest(s, q, i)
	}
}

// setBest sets the best margin of word i.
func (b *bounds) setBest(s *Searcher, q *querySide, i int) {
	w := s.cache.word(q.words[i])
	weight := q.weight[i]
	best, covers := b.miss[i], int32(0)
	b.initial[i] = best
	if w.isResolved {
		r := &w.reach.best[q.mode]
		if r.initial > 0 {
			b.initial[i] = max(best, b.margin(r.initial, min(weight, int32(r.weight))),
				b.margin(r.initial, min(weight, int32(r.initialWeight))))
			best = b.initial[i]
			covers = int32(r.weight)
		}
		if r.similarity > 0 {
			// Margins of little similarity are negative: the less weight, the better.
			best = max(best, b.margin(r.similarity, (weight+int32(r.weight))/2), b.margin(r.similarity, weight/2))
			covers = int32(r.weight)
		}
		if r.joined > 0 {
			best, covers = max(best, b.margin(r.joined, weight)), 2*maxWeight
		}
	} else {
		best, covers = max(best, b.margin(names.Equal, max(weight, (weight+maxWeight)/2))), 2*maxWeight
	}
	if w.word.IsInitial() {
		best, covers = max(best, b.margin(names.Equal, weight)), max(covers, maxWeight)
	}
	if q.joined>>i&1 != 0 {
		similarity := max(s.joinReach(q, i-1).greatest(q.mode), s.joinReach(q, i).greatest(q.mode))
		best, covers = max(best, b.margin(similarity, weight)), 2*maxWeight
	}
	b.best[i] = best
	b.sum += best
	b.covers += covers
}

// setShare sets what follows from the margins of words that are all resolved.
func (b *bounds) setShare(q *querySide) {
	telling := 0
	for i := range q.n {
		if q.telling>>i&1 != 0 && b.best[i] > b.miss[i] {
			telling++
		}
	}
	b.share = leastShare(q.mode, telling)
}

// greatestWeight returns the greatest weight of a name whose words that meet have a margin, all others being missing.
func (b *bounds) greatestWeight(margin int64) int32 {
	return b.covers + int32(min(margin/(b.threshold*b.share), math.MaxInt16))
}

// isPossible reports whether a name may reach the threshold, as far as it can be told from which words the index has at
// all. If so, all words are resolved and the bounds are set.
func (s *Searcher) isPossible(q *querySide, threshold int) bool {
	b := &s.bounds
	b.set(s, q, threshold)
	var unresolved uint64
	telling := q.telling
	for i, n := range q.words {
		w := s.cache.word(n)
		switch {
		case !w.isResolved:
			unresolved |= 1 << i
		case b.best[i] == b.miss[i]:
			telling &^= 1 << i
		}
	}
	for b.sum >= 0 && telling != 0 && unresolved != 0 {
		i := s.longest(q, unresolved)
		unresolved &^= 1 << i
		if w := q.words[i]; !s.cache.word(w).isResolved {
			s.resolve(w)
		}
		b.sum -= b.best[i]
		b.setBest(s, q, i)
		if b.best[i] == b.miss[i] {
			telling &^= 1 << i
		}
	}
	if b.sum < 0 || telling == 0 {
		return false
	}
	b.set(s, q, threshold)
	b.setShare(q)
	return b.sum >= 0
}

// longest returns the longest of some words of a query, which is the least likely to be in an index.
func (s *Searcher) longest(q *querySide, words uint64) int {
	longest, length := -1, uint32(0)
	for i, n := range q.words {
		if l := s.cache.word(n).textLength(); words>>i&1 != 0 && (longest < 0 || l > length) {
			longest, length = i, l
		}
	}
	return longest
}
