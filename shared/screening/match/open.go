package match

import (
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// findIn adds the names of the index that reach the threshold of the bounds.
func (s *Searcher) findIn(q *querySide) {
	opened := s.choose(q)
	if opened.cost == 0 {
		return
	}
	s.filter.set(s, q, opened.words|opened.parts)
	for i := range q.n {
		if (opened.words|opened.parts)>>i&1 != 0 {
			s.open(q, i, s.reach(q, i), opened)
		}
		if r := s.joinReach(q, i); r != nil {
			s.openJoin(q, i, r, opened)
		}
	}
}

// open compares the query with the names that have a word that is similar to word i of the query.
func (s *Searcher) open(q *querySide, i int, r *reach, opened opening) {
	b := &s.bounds
	others := b.sum - b.best[i]
	for k := range r.similar {
		e := &r.similar[k]
		if e.isInitial() && opened.initials>>i&1 == 0 {
			continue
		}
		if margin := others + b.wordMargin(q, i, e); margin >= 0 {
			s.planWord(q, e, margin, opened.words>>i&1 == 0)
		}
	}
	s.openPlanned(q, 1<<i)
}

// openJoin compares the query with the names that have a word that is similar to words i and i+1 of the query as one.
func (s *Searcher) openJoin(q *querySide, i int, r *reach, opened opening) {
	if (opened.words|opened.parts)>>i&3 == 0 {
		return
	}
	for k := range r.similar {
		s.planWord(q, &r.similar[k], s.bounds.sum, opened.words>>i&3 == 0)
	}
	s.openPlanned(q, 3<<i)
}

// plannedPosts are posts to open, with the margin for openPosts.
type plannedPosts struct {
	start, end uint32
	margin     int64
}

// planWord plans to open the names with a word, or only those that also have an initial.
func (s *Searcher) planWord(q *querySide, e *similarWord, margin int64, isPart bool) {
	start, end := e.in(q.mode)
	if q.mode == names.Person {
		middle := e.posts[withInitials]
		if !isPart {
			s.planPosts(start, middle, margin)
		}
		start = middle
	}
	s.planPosts(start, end, margin)
}

// planPosts plans to open posts, and has the processor fetch the first of them.
func (s *Searcher) planPosts(start, end uint32, margin int64) {
	if start < end {
		s.planned = append(s.planned, plannedPosts{start, end, margin})
		s.cache.touched += uint64(s.index.posts[start].name)
	}
}

// openPlanned opens the planned posts: see openPosts.
func (s *Searcher) openPlanned(q *querySide, skip uint64) {
	for _, p := range s.planned {
		s.openPosts(q, s.index.posts[p.start:p.end], p.margin, skip)
	}
	s.planned = s.planned[:0]
}

// openPosts compares the query with the names of posts that may reach the threshold, if the matches in their word give
// all words of the query a margin together. The filter skips some words of the query.
func (s *Searcher) openPosts(q *querySide, posts []post, margin int64, skip uint64) {
	greatest := s.bounds.greatestWeight(margin)
	required := s.filter.required(margin, skip)
	for i := range posts {
		p := &posts[i]
		if int32(p.weight) > greatest {
			return
		}
		if required != nil && !required.mayMatch(p) || !s.filter.passes(p, margin, skip) ||
			s.visited[p.name] == s.search {
			continue
		}
		if !p.isWhole() && !s.filter.passesName(s.index, p.name, margin, skip) {
			continue
		}
		s.visited[p.name] = s.search
		if score := s.compare(q, p.name, int32(p.weight)); score >= int(s.bounds.threshold) {
			s.found = append(s.found, candidate{p.name, score})
		}
	}
}

// compare returns the score of the query and a name of the index that has a weight, or 0 if that is below the
// threshold.
func (s *Searcher) compare(q *querySide, name uint32, weight int32) int {
	x, b := s.index, &s.bounds
	r := &x.names[name]
	words := x.wordsOf(r)
	s.scorer.pairs = s.scorer.pairs[:0]
	c := &s.cover
	for i := range q.n {
		c.margins[i], c.weights[i] = b.miss[i], 0
	}
	c.met = 0
	for i := range q.n {
		s.addInitials(q, i, words[:r.n])
		if s.cache.word(q.words[i]).isResolved {
			s.addPairs(q, i, words, int(r.n))
		} else {
			s.addCandidatePairs(q, i, words, int(r.n))
		}
		if reach := s.joinReach(q, i); reach != nil {
			s.addJoinPairs(q, i, words, int(r.n), reach)
		}
	}
	if !b.canReach(q, c, weight) {
		return 0
	}
	l := &s.list
	l.reset(int(r.n))
	for j, w := range words[:r.n] {
		l.setWord(j, x.infos[w], r.mode)
	}
	s.scorer.weigh(&q.side, l, q.mode)
	score := s.scorer.score(&q.side, l, q.mode)
	if r.kind == watchlist.Weak {
		score = score * s.weakShare() / 100
	}
	return score
}

// cover is the possible matches of a query's words in one name.
type cover struct {
	// margins are the best margins, weights the greatest weights of matching words of the name, by word of the query.
	margins [names.MaxWords]int64
	weights [names.MaxWords]int32
	// met has a bit for each word of the query with a match.
	met uint64
}

// add adds a possible match of word i with words of the name of a weight.
func (c *cover) add(i int, margin int64, weight int32) {
	c.met |= 1 << i
	c.margins[i] = max(c.margins[i], margin)
	c.weights[i] = max(c.weights[i], weight)
}

// canReach reports whether a name of a weight with these matches can reach the threshold.
func (b *bounds) canReach(q *querySide, c *cover, weight int32) bool {
	distinctive := onesCount(c.met & q.distinctive)
	if distinctive == 0 {
		return false
	}
	var sum int64
	var missedQuery int32
	for i := range q.n {
		sum += c.margins[i]
		weight -= c.weights[i]
		if c.met>>i&1 == 0 {
			missedQuery += q.weight[i]
		}
	}
	return sum+b.listMargin(weight, missedQuery, leastShare(q.mode, distinctive)) >= 0
}

// addPairs adds the pairs of word i of the query and the n words of a name and their joins.
func (s *Searcher) addPairs(q *querySide, i int, words []uint32, n int) {
	similar := s.reach(q, i).similar
	for k, w := range words {
		if e := findWord(similar, w); e != nil {
			s.addWordPair(q, i, k, n, e)
		}
	}
}

// addCandidatePairs is addPairs for an unresolved word: it is compared with the words that are its candidates.
func (s *Searcher) addCandidatePairs(q *querySide, i int, words []uint32, n int) {
	known := s.cache.word(q.words[i])
	for k, w := range words {
		if s.filter.mayMatchWord(i, w) && slices.Contains(known.candidates, w) {
			e := s.index.compareWord(&known.word, w, false)
			e.weight[q.mode] = uint8(s.index.infos[w].weight(q.mode))
			s.addWordPair(q, i, k, n, &e)
		}
	}
}

// addWordPair adds the pair of word i of the query and a word at place k of a name of n words and their joins.
func (s *Searcher) addWordPair(q *querySide, i, k, n int, e *similarWord) {
	switch {
	case k < n && e.similarity > 0:
		s.addPair(pair{q: uint8(i), nq: 1, l: uint8(k), nl: 1, similarity: int32(e.similarity), kind: e.kind})
		weight := int32(e.weight[q.mode])
		s.cover.add(i, s.bounds.margin(e.similarity, pairWeight(e.kind, q.weight[i], weight)), weight)
	case k >= n && e.joined > 0:
		s.addPair(pair{q: uint8(i), nq: 1, l: uint8(k - n), nl: 2, similarity: int32(e.joined), kind: names.Joined})
		s.cover.add(i, s.bounds.margin(e.joined, q.weight[i]), 2*maxWeight)
	}
}

// addJoinPairs adds the pairs of words i and i+1 of the query as one and the n words of a name and their joins.
func (s *Searcher) addJoinPairs(q *querySide, i int, words []uint32, n int, r *reach) {
	for k, w := range words {
		e := findWord(r.similar, w)
		if e == nil {
			continue
		}
		p := pair{q: uint8(i), nq: 2, l: uint8(k), nl: 1, similarity: int32(e.similarity), kind: e.kind}
		if k >= n {
			p.l, p.nl, p.similarity, p.kind = uint8(k-n), 2, int32(e.joined), names.Joined
			if s.cache.word(q.words[i]).word.IsSame(&s.index.words[words[k-n]]) {
				continue // the words match by themselves
			}
		}
		if p.similarity > 0 {
			s.addPair(p)
			s.cover.add(i, s.bounds.margin(uint16(p.similarity), q.weight[i]), 2*maxWeight)
			s.cover.add(i+1, s.bounds.margin(uint16(p.similarity), q.weight[i+1]), 0)
		}
	}
}

func (s *Searcher) addPair(p pair) { s.scorer.pairs = append(s.scorer.pairs, p) }

// findWord returns the element of a word, nil if there is none. The elements are in the order of words.
func findWord(similar []similarWord, word uint32) *similarWord {
	low, high := 0, len(similar)
	for low < high {
		if middle := (low + high) / 2; similar[middle].word < word {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(similar) && similar[low].word == word {
		return &similar[low]
	}
	return nil
}

// addInitials adds the pairs of a word of one letter. The index does not list all words with that initial as similar.
func (s *Searcher) addInitials(q *querySide, i int, words []uint32) {
	w := &s.cache.word(q.words[i]).word
	if !w.IsInitial() || q.mode == names.Organisation {
		return
	}
	for j, id := range words {
		if similarity, kind := names.Similarity(w, &s.index.words[id]); kind == names.Initial {
			s.addPair(pair{q: uint8(i), nq: 1, l: uint8(j), nl: 1, similarity: int32(similarity), kind: kind})
			weight := s.index.infos[id].weight(q.mode)
			s.cover.add(i, s.bounds.margin(uint16(similarity), pairWeight(kind, q.weight[i], weight)), weight)
		}
	}
}
