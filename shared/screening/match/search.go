package match

import (
	"cmp"
	"math"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// weakPercent is what remains of a score that a weak alias has reached.
const weakPercent = 78

// Query is what is searched for.
type Query struct {
	Name string
	// Schema is what the name belongs to, if that is known: Person, Organisation and so on.
	Schema watchlist.Schema
}

// candidate is a name of the list that reached the threshold.
type candidate struct {
	name  uint32
	score int
}

// Searcher searches one index. It remembers words that it has looked up; what it finds does not depend on that. It is
// not safe for concurrent use: each goroutine has one of its own.
type Searcher struct {
	index    *Index
	splitter *names.Splitter
	cache    wordCache
	scorer   scorer
	list     side
	mode     names.Mode
	// listHash are the hashes of the words of the name that is being compared.
	listHash [names.MaxWords]uint64
	query    [names.Modes]querySide
	words    []int32
	joinBuf  []byte
	// visited[name] is the search that saw a name last.
	visited []uint32
	search  uint32
	found   []candidate
}

// NewSearcher returns a searcher of an index.
func NewSearcher(x *Index) *Searcher {
	s := &Searcher{index: x, splitter: names.NewSplitter(), visited: make([]uint32, len(x.names))}
	s.cache.init()
	return s
}

// querySide is the query in one mode.
type querySide struct {
	side
	// words and joins are those of the cache. joins[i] is words i and i+1 as one.
	words, joins []int32
}

// find returns the names of the list that reach a threshold, 0 to scale, in the order of the list.
func (s *Searcher) find(q Query, threshold int) []candidate {
	s.found = s.found[:0]
	s.splitter.Split(q.Name)
	n := s.splitter.Len()
	if n == 0 {
		return nil
	}
	s.cache.reserve(2 * names.MaxWords)
	s.words = s.words[:0]
	for i := range n {
		s.words = append(s.words, s.lookUp(s.splitter.Word(i)))
	}
	forms := s.forms(n)
	if s.search++; s.search == 0 {
		clear(s.visited)
		s.search = 1
	}
	for _, mode := range modesOf(q.Schema) {
		side := &s.query[mode]
		s.fill(side, mode, forms)
		if side.telling != 0 {
			s.findIn(side, mode, max(threshold, 1))
		}
	}
	slices.SortFunc(s.found, func(a, b candidate) int { return cmp.Compare(a.name, b.name) })
	return s.found
}

// forms returns the words of organisation forms.
func (s *Searcher) forms(n int) uint64 {
	var forms uint64
	isStart := false
	for i, w := range s.words {
		word := &s.cache.words[w].word
		if word.IsForm() {
			forms |= 1 << i
		}
		isStart = isStart || word.IsFormStart()
	}
	if !isStart {
		return forms
	}
	words := make([]names.Word, n)
	for i, w := range s.words {
		words[i] = s.cache.words[w].word
	}
	return names.Forms(words, func(i int) string { return string(s.splitter.Word(i)) })
}

// fill makes a side of the words of the query.
func (s *Searcher) fill(q *querySide, mode names.Mode, forms uint64) {
	q.n, q.telling, q.total = 0, 0, 0
	q.words, q.joins = q.words[:0], q.joins[:0]
	previous := -1
	for i, w := range s.words {
		if mode == names.Organisation && forms>>i&1 != 0 {
			continue
		}
		if previous >= 0 {
			q.joins = append(q.joins, s.lookUpJoin(previous, i))
		}
		previous = i
		q.words = append(q.words, w)
		q.setWord(q.n, &s.cache.words[w].word, mode)
		q.n++
	}
}

// findIn adds the names of one mode that reach the threshold.
func (s *Searcher) findIn(q *querySide, mode names.Mode, threshold int) {
	opened := s.choose(q, mode, threshold)
	if opened == 0 {
		return
	}
	filter := newFilter(s, q, mode, threshold)
	for i := range q.n {
		if opened>>i&1 != 0 {
			s.open(q, mode, q.words[i], false, &filter)
		}
		if i+1 < q.n && opened>>i&3 != 0 {
			s.open(q, mode, q.joins[i], true, &filter)
		}
	}
}

// choose returns the words whose names are to be compared: names without any of them cannot reach the threshold. It
// prefers words with few names.
func (s *Searcher) choose(q *querySide, mode names.Mode, threshold int) uint64 {
	var order [names.MaxWords]uint8
	var rest int64 // twice what the words that are not opened can gain
	for i := range q.n {
		order[i] = uint8(i)
		rest += int64(q.weight[i]) + int64(s.mostOf(q, mode, i))
	}
	slices.SortFunc(order[:q.n], func(a, b uint8) int {
		return cmp.Or(cmp.Compare(s.costOf(q, mode, int(a)), s.costOf(q, mode, int(b))), cmp.Compare(a, b))
	})
	var opened, useful uint64
	var missed int64
	for _, i := range order[:q.n] {
		if opened&q.telling == q.telling || rest*scale*100 < int64(threshold)*(rest*100+2*percentQuery*missed) {
			break
		}
		opened |= 1 << i
		if s.costOf(q, mode, int(i)) > 0 {
			useful |= 1 << i
		}
		missed += int64(q.weight[i])
		rest -= int64(q.weight[i]) + int64(s.mostOf(q, mode, int(i)))
	}
	if useful == 0 {
		return 0
	}
	return opened
}

// mostOf returns the greatest weight of what word i of the query can meet, alone or with a neighbour.
func (s *Searcher) mostOf(q *querySide, mode names.Mode, i int) int32 {
	w := &s.cache.words[q.words[i]]
	most := w.most[mode]
	if w.word.IsInitial() {
		most = max(most, q.weight[i])
	}
	if i > 0 {
		most = max(most, s.cache.words[q.joins[i-1]].mostJoined[mode])
	}
	if i+1 < q.n {
		most = max(most, s.cache.words[q.joins[i]].mostJoined[mode])
	}
	return most
}

// costOf returns the number of names that are to be looked at if word i of the query is opened. Words that do not say who
// is meant come last: a name must share one that does.
func (s *Searcher) costOf(q *querySide, mode names.Mode, i int) int32 {
	if q.telling>>i&1 == 0 {
		return math.MaxInt32
	}
	cost := s.cache.words[q.words[i]].cost[mode]
	if i > 0 {
		cost += s.cache.words[q.joins[i-1]].costJoined[mode]
	}
	if i+1 < q.n {
		cost += s.cache.words[q.joins[i]].costJoined[mode]
	}
	return cost
}

// open compares the query with all names that have a word similar to the given one.
func (s *Searcher) open(q *querySide, mode names.Mode, word int32, isJoin bool, f *filter) {
	x := s.index
	w := &s.cache.words[word]
	for _, similar := range s.cache.similarOf(w) {
		if isJoin && similar.joined == 0 {
			continue
		}
		slot := 2*similar.word + uint32(mode)
		for _, p := range x.posts[x.postStarts[slot]:x.postStarts[slot+1]] {
			if !f.passes(p) {
				continue
			}
			name := p.name()
			if s.visited[name] == s.search {
				continue
			}
			s.visited[name] = s.search
			if score := s.compare(q, name); score >= f.threshold {
				s.found = append(s.found, candidate{name, score})
			}
		}
	}
}

// filter is a fast test of whether a name can reach the threshold.
type filter struct {
	threshold int
	n         int
	masks     [maxFiltered]uint32
	weight    [maxFiltered]int32
	most      [maxFiltered]int32
	total     int32
}

// maxFiltered is the number of words of a query for which names are filtered. Names of longer queries are compared.
const maxFiltered = 12

func newFilter(s *Searcher, q *querySide, mode names.Mode, threshold int) filter {
	f := filter{threshold: threshold, n: q.n, total: q.total}
	if q.n > maxFiltered {
		return f
	}
	for i := range q.n {
		if f.masks[i] = s.cache.words[q.words[i]].mask; s.cache.words[q.words[i]].word.IsInitial() {
			f.masks[i] = math.MaxUint32
		}
		f.weight[i] = q.weight[i]
		f.most[i] = s.mostOf(q, mode, i)
		if i > 0 {
			f.masks[i] |= s.cache.words[q.joins[i-1]].maskJoined
		}
		if i+1 < q.n {
			f.masks[i] |= s.cache.words[q.joins[i]].maskJoined
		}
	}
	return f
}

// passes reports whether the name of a post can reach the threshold.
func (f *filter) passes(p post) bool {
	if f.n > maxFiltered {
		return true
	}
	signature := p.signature()
	var query, list int32
	for i := range f.n {
		if f.masks[i]&signature != 0 {
			query += f.weight[i]
			list += f.most[i]
		}
	}
	met := int64(query) + int64(list) // twice the weight that can meet
	missed := int64(percentQuery * (f.total - query))
	if rest := p.weight() - list; rest > 0 && p.weight() < 255*weightUnit {
		missed += int64(percentList) * int64(rest)
		missed += int64(percentConflict) * int64(min(rest, f.total-query))
	}
	return met*scale*100 >= int64(f.threshold)*(met*100+2*missed)
}

// compare returns the score of the query and a name of the list.
func (s *Searcher) compare(q *querySide, name uint32) int {
	x := s.index
	r := &x.names[name]
	n := int(r.n)
	words := x.nameWords[r.words : int(r.words)+2*n-1]
	l := &s.list
	l.n, l.telling, l.total = n, 0, 0
	for j, w := range words[:n] {
		l.setWord(j, &x.words[w], r.mode)
		s.listHash[j] = x.words[w].Hash
	}
	s.scorer.pairs = s.scorer.pairs[:0]
	s.mode = r.mode
	for i := range q.n {
		s.addInitials(q, i, words[:n])
		s.addPairs(q, i, 1, words[:n], 1, s.cache.similarOf(&s.cache.words[q.words[i]]))
		s.addPairs(q, i, 1, words[n:], 2, s.cache.similarOf(&s.cache.words[q.words[i]]))
		if i+1 < q.n {
			similar := s.cache.similarOf(&s.cache.words[q.joins[i]])
			s.addPairs(q, i, 2, words[:n], 1, similar)
			s.addPairs(q, i, 2, words[n:], 2, similar)
		}
	}
	score := s.scorer.score(&q.side, l)
	if r.kind == watchlist.Weak {
		score = score * weakPercent / 100
	}
	return score
}

// addPairs adds the pairs of nq words of the query from i on and the words or joins of a name.
func (s *Searcher) addPairs(q *querySide, i, nq int, words []uint32, nl int, similar []similarWord) {
	if len(similar) == 0 {
		return
	}
	for j, w := range words {
		k, found := slices.BinarySearchFunc(similar, w, func(e similarWord, w uint32) int { return cmp.Compare(e.word, w) })
		if !found {
			continue
		}
		similarity, kind := similar[k].similarity, similar[k].kind
		if nq+nl > 2 {
			similarity, kind = similar[k].joined, names.Joined
		}
		if nq+nl == 4 && s.isSame(q, i, j) {
			continue
		}
		if similarity > 0 {
			s.scorer.add(&q.side, &s.list, s.mode, pair{
				q: uint8(i), nq: uint8(nq), l: uint8(j), nl: uint8(nl), similarity: int32(similarity), kind: kind,
			})
		}
	}
}

// addInitials adds the pairs of a word of one letter, which the index does not know to be similar to all words that begin
// with it.
func (s *Searcher) addInitials(q *querySide, i int, words []uint32) {
	w := &s.cache.words[q.words[i]].word
	if !w.IsInitial() {
		return
	}
	for j, id := range words {
		if similarity, kind := names.Similarity(w, &s.index.words[id]); kind == names.Initial {
			s.scorer.add(&q.side, &s.list, s.mode, pair{
				q: uint8(i), nq: 1, l: uint8(j), nl: 1, similarity: int32(similarity), kind: kind,
			})
		}
	}
}

// isSame reports whether word i of the query is word j of the name that is being compared.
func (s *Searcher) isSame(q *querySide, i, j int) bool {
	return s.cache.words[q.words[i]].word.Hash == s.listHash[j]
}

// Matched is a name of the list and the score that it reached, 0 to 100.
type Matched struct {
	Entry uint32
	Name  string
	Kind  watchlist.NameKind
	mode  names.Mode
	Score float64
}

// Find returns the best name of each entry that reaches a threshold, best first.
func (s *Searcher) Find(q Query, threshold float64) []Matched {
	var best []Matched
	for _, c := range s.find(q, int(threshold*scale/100)) {
		r := &s.index.names[c.name]
		m := Matched{Entry: r.entry, Name: s.index.text(c.name), Kind: r.kind, mode: r.mode, Score: points(c.score)}
		if n := len(best); n > 0 && best[n-1].Entry == m.Entry {
			if m.Score > best[n-1].Score {
				best[n-1] = m
			}
			continue
		}
		best = append(best, m)
	}
	slices.SortStableFunc(best, func(a, b Matched) int { return cmp.Compare(b.Score, a.Score) })
	return best
}
