package match

import (
	"math"

	"sluice/shared/screening/names"
)

// bounds bound the scores of names in one mode of a query. Each word, matched or missing, has a margin: its
// contribution to the score minus the part of the threshold that falls to it. Names with a negative sum of margins do
// not reach the threshold. That follows from ratio, bounded by the threshold; later deductions only lower the score.
type bounds struct {
	threshold int64
	mode      names.Mode
	// best is the greatest margin of each word, miss its margin without a match.
	best, miss [names.MaxWords]int64
	// initial is the greatest margin of each word if it matches no more than an initial.
	initial [names.MaxWords]int64
	// sum is the sum of all best margins.
	sum int64
	// covers is the greatest weight of words of the list that the words can match together.
	covers int32
	// covered are the parts of covers, by word.
	covered [names.MaxWords]int32
	// posts is the number of names to compare if a word is opened, partPosts the number of those with initials;
	// notOpened for words that must not be opened.
	posts, partPosts [names.MaxWords]int32
	// share is the least of percentFew that can apply.
	share int64
}

// impossible is a margin that no other margin outweighs.
const impossible = math.MinInt64 / 2

// maxWeight is the greatest weight of a word.
const maxWeight = 100

// margin returns the margin of words of a weight that match with a similarity.
func (b *bounds) margin(similarity uint16, weight int32) int64 {
	return int64(weight) * (names.Equal*int64(shrink(int32(similarity))) - 100*b.threshold)
}

// missMargin returns the margin of words of the query without a match.
func (b *bounds) missMargin(weight int32) int64 { return -percentQuery * int64(weight) * b.threshold }

// listMargin returns the margin of words of a list's name without a match while words of the query have none either.
func (b *bounds) listMargin(missedList, missedQuery int32, share int64) int64 {
	if missedList <= 0 {
		return 0
	}
	return -b.threshold * (share*int64(missedList) + percentConflict*int64(min(missedList, missedQuery)))
}

// wordMargin returns the margin of word i of the query if it matches a word of the index.
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

// leastShare returns the least share of unmatched words of the list if at most n distinctive words match.
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
	b.setPosts(s, q, i, w)
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
	b.best[i], b.covered[i] = best, covers
	b.sum += best
	b.covers += covers
}

// notOpened is the number of posts of words that it is useless to open.
const notOpened = math.MaxInt32

// setPosts sets the number of names to compare if word i is opened. Words that are not distinctive are not opened,
// because a name must share a distinctive one, and neither are unresolved words.
func (b *bounds) setPosts(s *Searcher, q *querySide, i int, w *knownWord) {
	if q.distinctive>>i&1 == 0 || !w.isResolved {
		b.posts[i], b.partPosts[i] = notOpened, notOpened
		return
	}
	best := &w.reach.best[q.mode]
	b.posts[i], b.partPosts[i] = best.posts, best.partPosts
	if q.joined>>i&1 == 0 {
		return
	}
	for _, r := range [...]*reach{s.joinReach(q, i-1), s.joinReach(q, i)} {
		if r != nil {
			b.posts[i] += r.best[q.mode].posts
			b.partPosts[i] += r.best[q.mode].partPosts
		}
	}
}

// setShare sets the share from the margins when all words are resolved.
func (b *bounds) setShare(q *querySide) {
	distinctive := 0
	for i := range q.n {
		if q.distinctive>>i&1 != 0 && b.best[i] > b.miss[i] {
			distinctive++
		}
	}
	b.share = leastShare(q.mode, distinctive)
}

// greatestWeight returns the greatest weight of a name whose matched words have a margin and whose other words are
// missing.
func (b *bounds) greatestWeight(margin int64) int32 {
	return b.covers + int32(min(margin/(b.threshold*b.share), math.MaxInt16))
}

// renew updates the best margin of word i after it was sifted or resolved.
func (b *bounds) renew(s *Searcher, q *querySide, i int) {
	b.sum -= b.best[i]
	b.covers -= b.covered[i]
	b.setBest(s, q, i)
}

// arePossible reports whether a name may reach the threshold if all words have their best match, one of them a
// distinctive word.
func (b *bounds) arePossible(q *querySide) bool {
	if b.sum < 0 {
		return false
	}
	for rest := q.distinctive; rest != 0; rest &= rest - 1 {
		if i := trailingZeros(rest); b.best[i] > b.miss[i] {
			return true
		}
	}
	return false
}

// isPossible reports whether a name may reach the threshold, judging by the words in the index alone. If so, the bounds
// are set, all words are sifted, and the words to open are resolved.
func (s *Searcher) isPossible(q *querySide, threshold int) bool {
	b := &s.bounds
	b.set(s, q, threshold)
	var unsifted, unresolved uint64
	for i, n := range q.words {
		if w := s.cache.word(n); !w.isSifted {
			unsifted |= 1 << i
		} else if !w.isResolved {
			unresolved |= 1 << i
		}
	}
	for unsifted != 0 && b.arePossible(q) {
		i := s.longest(q, unsifted)
		unsifted &^= 1 << i
		w := s.cache.word(q.words[i])
		if !w.isSifted {
			s.sift(q.words[i])
		}
		if w.isResolved {
			b.renew(s, q, i)
		} else {
			unresolved |= 1 << i
		}
	}
	for unresolved != 0 && b.arePossible(q) && !s.suffices(q, unresolved) {
		i := s.fewest(q, unresolved)
		unresolved &^= 1 << i
		if n := q.words[i]; !s.cache.word(n).isResolved {
			s.resolve(n)
		}
		b.renew(s, q, i)
	}
	if !b.arePossible(q) {
		return false
	}
	b.setShare(q)
	return true
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

// fewest returns the word with the fewest candidates among some words of a query.
func (s *Searcher) fewest(q *querySide, words uint64) int {
	fewest, count := -1, 0
	for i, n := range q.words {
		if c := len(s.cache.word(n).candidates); words>>i&1 != 0 && (fewest < 0 || c < count) {
			fewest, count = i, c
		}
	}
	return fewest
}

// namesPerCandidate is the number of names to open in place of comparing one more word of the index.
const namesPerCandidate = 2

// suffices reports whether opening names takes less work than resolving the unresolved words of a query.
func (s *Searcher) suffices(q *querySide, unresolved uint64) bool {
	candidates, cost := 0, int32(notOpened)
	for i, n := range q.words {
		if w := s.cache.word(n); unresolved>>i&1 == 0 {
			cost = min(cost, s.bounds.posts[i])
		} else if candidates += len(w.candidates); w.word.IsInitial() {
			return false
		}
	}
	greatest := int32(namesPerCandidate * candidates)
	if cost > greatest {
		return false
	}
	opened := s.choose(q)
	return opened.isComplete && opened.cost <= greatest
}
