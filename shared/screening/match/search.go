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
	// BirthDate is a year, month or day: 1961, 1961-04, 1961-04-02. "" is unknown.
	BirthDate string
	// Countries are codes or names of countries, Gender is "male" or "female", as far as they are known.
	Countries []string
	Gender    string
	// Identifiers are numbers of passports, registers and the like. An entry that has one of them is a hit, whatever its
	// name.
	Identifiers []string
	// Lists are the names of the lists that are searched; none means all.
	Lists []string
}

// candidate is a name of the list that reached the threshold.
type candidate struct {
	name  uint32
	score int
}

// Searcher searches an index. It remembers words that it has looked up; what it finds does not depend on that. It is not
// safe for concurrent use: each goroutine has one of its own.
type Searcher struct {
	index    *Index
	splitter *names.Splitter
	cache    wordCache
	words    []int32
	query    [names.Modes]querySide
	filter   filter
	// visited[name] is the search that saw a name last.
	visited []uint32
	search  uint32
	found   []candidate
	scorer  scorer
	list    side
}

// NewSearcher returns a searcher of an index.
func NewSearcher(x *Index) *Searcher {
	s := &Searcher{index: x, splitter: names.NewSplitter(), visited: make([]uint32, len(x.names))}
	s.cache.init()
	for mode := range s.query {
		s.query[mode].mode = names.Mode(mode)
	}
	return s
}

// querySide is the query in one mode.
type querySide struct {
	side
	mode names.Mode
	// words are those of the cache.
	words []int32
	// joins[i] is what the index has for words i and i+1 as one. It is empty if there is nothing for any.
	joins []reach
	// joined has a bit for each word that an index has as part of a join with its neighbour.
	joined uint64
}

// find finds the names that reach a threshold, 0 to scale, in the order of the index. It is valid until the next call.
func (s *Searcher) find(q Query, threshold int) []candidate {
	s.found = s.found[:0]
	s.splitter.Split(q.Name)
	n := s.splitter.Len()
	if n == 0 {
		return s.found
	}
	s.cache.reserve(names.MaxWords)
	s.words = s.words[:0]
	for i := range n {
		s.words = append(s.words, s.lookUp(s.splitter.Word(i)))
	}
	forms := s.forms(n)
	if s.search++; s.search == 0 {
		clear(s.visited)
		s.search = 1
	}
	threshold = max(threshold, 1)
	for _, mode := range modesOf(q.Schema) {
		side := &s.query[mode]
		s.fill(side, forms)
		if side.telling != 0 && s.isPossible(side, threshold) {
			s.findIn(side, threshold)
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
func (s *Searcher) fill(q *querySide, forms uint64) {
	q.n, q.telling, q.short, q.total, q.joined = 0, 0, 0, 0, 0
	q.words, q.joins = q.words[:0], q.joins[:0]
	for i, w := range s.words {
		if q.mode == names.Organisation && forms>>i&1 != 0 {
			continue
		}
		known := &s.cache.words[w]
		q.setWord(q.n, known.info, q.mode)
		if slices.Contains(q.words, w) {
			q.repeat(q.n)
		}
		q.words = append(q.words, w)
		q.n++
	}
	for i := 0; i+1 < q.n; i++ {
		s.addJoin(q, i)
	}
}

// addJoin looks up words i and i+1 of the query written as one.
func (s *Searcher) addJoin(q *querySide, i int) {
	join := names.Join(&s.cache.words[q.words[i]].word, &s.cache.words[q.words[i+1]].word)
	s.cache.keys = join.AppendJoinQueryKeys(s.cache.keys[:0])
	isKnown := false
	for _, key := range s.cache.keys {
		isKnown = isKnown || s.index.mayHave(key)
	}
	if !isKnown {
		return
	}
	r := s.cache.reachOf(s.index, &join, true)
	if len(r.similar) == 0 {
		return
	}
	if len(q.joins) == 0 {
		q.joins = slices.Grow(q.joins, names.MaxWords)[:q.n-1]
		clear(q.joins)
	}
	q.joins[i] = r
	q.joined |= 3 << i
}

// reach returns what the index has for word i of the query.
func (s *Searcher) reach(q *querySide, i int) *reach { return &s.cache.words[q.words[i]].reach }

// joinReach returns what the index has for words i and i+1 of the query as one, nil for nothing.
func (s *Searcher) joinReach(q *querySide, i int) *reach {
	if len(q.joins) == 0 || i < 0 || i+1 >= q.n || len(q.joins[i].similar) == 0 {
		return nil
	}
	return &q.joins[i]
}

// isPossible reports whether a name may reach the threshold, as far as it can be told from which words the
// index has at all. If so, all words are resolved.
func (s *Searcher) isPossible(q *querySide, threshold int) bool {
	var met, missed int64 // met is twice the weight
	telling := q.telling
	miss := func(i int) bool {
		met -= 2 * maxWeight
		missed += int64(q.weight[i])
		telling &^= 1 << i
		return telling != 0 && canReach(met, missed, threshold)
	}
	met = int64(2 * maxWeight * q.n)
	var unresolved uint64
	for i, n := range q.words {
		w := &s.cache.words[n]
		switch {
		case q.joined>>i&1 != 0 || w.word.IsInitial():
		case !w.isResolved:
			unresolved |= 1 << i
		case w.reach.cost[q.mode] == 0 && !miss(i):
			return false
		}
	}
	// The longest words are the least likely to be in an index.
	for unresolved != 0 {
		longest := -1
		for i, n := range q.words {
			if unresolved>>i&1 != 0 && (longest < 0 || s.cache.words[n].textLength() > s.cache.words[q.words[longest]].textLength()) {
				longest = i
			}
		}
		unresolved &^= 1 << longest
		w := q.words[longest]
		if !s.cache.words[w].isResolved {
			s.resolve(w)
		}
		if s.cache.words[w].reach.cost[q.mode] == 0 && !miss(longest) {
			return false
		}
	}
	for _, n := range q.words {
		if !s.cache.words[n].isResolved {
			s.resolve(n)
		}
	}
	return true
}

// maxWeight is the greatest weight of a word.
const maxWeight = 100

// canReach reports whether names can reach a threshold that meet in twice the given weight and miss the other.
func canReach(met, missed int64, threshold int) bool {
	return met*scale*100 >= int64(threshold)*(met*100+2*percentQuery*missed)
}

// findIn adds the names of the index that reach the threshold.
func (s *Searcher) findIn(q *querySide, threshold int) {
	f := &s.filter
	f.set(s, q, threshold)
	opened := s.choose(q, f)
	if opened == 0 {
		return
	}
	f.setRequired()
	for i := range q.n {
		if opened>>i&1 != 0 {
			s.open(q, s.reach(q, i), f)
		}
		if r := s.joinReach(q, i); r != nil && opened>>i&3 != 0 {
			s.open(q, r, f)
		}
	}
}

// choose returns the words whose names are to be compared: names without any of them cannot reach the threshold. It
// prefers words with few names.
func (s *Searcher) choose(q *querySide, f *filter) uint64 {
	var order [names.MaxWords]uint8
	var costs [names.MaxWords]int32
	var rest int64 // twice what the words that are not opened can gain
	for i := range q.n {
		rest += int64(q.weight[i]) + int64(f.most[i])
		costs[i] = s.costOf(q, i)
		j := i
		for ; j > 0 && costs[order[j-1]] > costs[i]; j-- {
			order[j] = order[j-1]
		}
		order[j] = uint8(i)
	}
	var opened uint64
	var missed int64
	isUseful := false
	for _, i := range order[:q.n] {
		if opened&q.telling == q.telling || !canReach(rest, missed, f.threshold) {
			break
		}
		opened |= 1 << i
		isUseful = isUseful || costs[i] > 0
		missed += int64(q.weight[i])
		rest -= int64(q.weight[i]) + int64(f.most[i])
	}
	if !isUseful {
		return 0
	}
	return opened
}

// costOf returns the number of names that are to be looked at if word i of the query is opened. Words that do not say who
// is meant come last: a name must share one that does.
func (s *Searcher) costOf(q *querySide, i int) int32 {
	if q.telling>>i&1 == 0 {
		return math.MaxInt32
	}
	cost := s.reach(q, i).cost[q.mode]
	for _, r := range [...]*reach{s.joinReach(q, i-1), s.joinReach(q, i)} {
		if r != nil {
			cost += r.cost[q.mode]
		}
	}
	return cost
}

// open compares the query with all names that have one of some words.
func (s *Searcher) open(q *querySide, r *reach, f *filter) {
	x, visited := s.index, s.visited
	for i := range r.similar {
		slot := 2*r.similar[i].word + uint32(q.mode)
		posts := x.posts[x.postStarts[slot]:x.postStarts[slot+1]]
		for j := range posts {
			if !f.passes(&posts[j]) {
				continue
			}
			name := posts[j].name
			if visited[name] == s.search {
				continue
			}
			visited[name] = s.search
			if score := s.compare(q, name, f); score >= f.threshold {
				s.found = append(s.found, candidate{name, score})
			}
		}
	}
}

// filter is a fast test of whether a name can reach the threshold.
type filter struct {
	threshold int
	n         int
	total     int32
	masks     [names.MaxWords]signature
	// prints are those of the words that each word of the query can meet, nil if only masks can tell.
	prints [names.MaxWords]*printSet
	weight [names.MaxWords]int32
	most   [names.MaxWords]int32
	// covers is the greatest weight of words of the list that a word can meet, which may count for less.
	covers [names.MaxWords]int32
	// required has the words without which no name reaches the threshold, in required[:n].
	required  [names.MaxWords]uint8
	nRequired int
}

func (f *filter) set(s *Searcher, q *querySide, threshold int) {
	f.threshold, f.n, f.total = threshold, q.n, q.total
	for i := range q.n {
		r := s.reach(q, i)
		f.masks[i], f.prints[i], f.weight[i], f.most[i] = r.mask, &r.prints, q.weight[i], r.most[q.mode]
		f.covers[i] = f.most[i]
		if r.isJoined {
			f.most[i], f.covers[i] = max(f.most[i], q.weight[i]), 2*maxWeight
		}
		if s.cache.words[q.words[i]].word.IsInitial() {
			f.prints[i] = nil
			f.masks[i], f.most[i], f.covers[i] = anyWord, max(f.most[i], q.weight[i]), max(f.covers[i], maxWeight)
		}
		for _, r := range [...]*reach{s.joinReach(q, i-1), s.joinReach(q, i)} {
			if r != nil {
				f.masks[i].add(&r.mask)
				f.prints[i] = nil
				f.most[i], f.covers[i] = max(f.most[i], q.weight[i]), 2*maxWeight
			}
		}
	}
}

// anyWord is the mask of what any name may have.
var anyWord = signature{words: [2]uint64{math.MaxUint64, math.MaxUint64}, joins: math.MaxUint32}

// setRequired finds the words without which no name reaches the threshold.
func (f *filter) setRequired() {
	var met int64
	for i := range f.n {
		met += int64(f.weight[i] + f.most[i])
	}
	f.nRequired = 0
	for i := range f.n {
		if !canReach(met-int64(f.weight[i]+f.most[i]), int64(f.weight[i]), f.threshold) {
			f.required[f.nRequired] = uint8(i)
			f.nRequired++
		}
	}
}

// passes reports whether the name of a post can reach the threshold.
func (f *filter) passes(p *post) bool {
	for _, i := range f.required[:f.nRequired] {
		if !f.masks[i].meets(&p.signature) {
			return false
		}
	}
	for _, i := range f.required[:f.nRequired] {
		if f.prints[i] != nil && f.masks[i].joins&p.joins == 0 && !f.prints[i].mayMeet(p) {
			return false
		}
	}
	var query, most, covers int32
	for i := range f.n {
		if f.masks[i].meets(&p.signature) {
			query += f.weight[i]
			most += f.most[i]
			covers += f.covers[i]
		}
	}
	met := int64(query) + int64(most) // twice the weight that can meet
	missed := int64(percentQuery * (f.total - query))
	if rest := int32(p.weight) - covers; rest > 0 {
		missed += int64(percentList) * int64(rest)
		missed += int64(percentConflict) * int64(min(rest, f.total-query))
	}
	return met*scale*100 >= int64(f.threshold)*(met*100+2*missed)
}

// compare returns the score of the query and a name of the index, or 0 if that is below the threshold.
func (s *Searcher) compare(q *querySide, name uint32, f *filter) int {
	x := s.index
	r := &x.names[name]
	n := int(r.n)
	words := x.nameWords[r.words : int(r.words)+2*n-1]
	s.scorer.pairs = s.scorer.pairs[:0]
	var met, missed int64
	for i := range q.n {
		before := len(s.scorer.pairs)
		s.addInitials(q, i, words[:n])
		s.addPairs(q, i, 1, words, n, s.reach(q, i))
		isMet := len(s.scorer.pairs) > before
		if len(q.joins) > 0 {
			if r := s.joinReach(q, i-1); r != nil {
				isMet = true // the preceding word may have met with it
			}
			if r := s.joinReach(q, i); r != nil {
				isMet = true
				s.addPairs(q, i, 2, words, n, r)
			}
		}
		if isMet {
			met += int64(q.weight[i] + f.most[i])
		} else {
			missed += int64(q.weight[i])
		}
	}
	if !canReach(met, missed, f.threshold) {
		return 0
	}
	l := &s.list
	l.n, l.telling, l.short, l.total = n, 0, 0, 0
	for j, w := range words[:n] {
		l.setWord(j, x.infos[w], r.mode)
	}
	s.scorer.weigh(&q.side, l, q.mode)
	score := s.scorer.score(&q.side, l, q.mode)
	if r.kind == watchlist.Weak {
		score = score * weakPercent / 100
	}
	return score
}

// addPairs adds the pairs of nq words of the query from i on and the n words of a name and its joins.
func (s *Searcher) addPairs(q *querySide, i, nq int, words []uint32, n int, r *reach) {
	for k, w := range words {
		if info := s.index.infos[w]; k < n && !r.mask.hasWord(info) || k >= n && !r.mask.hasJoin(info) {
			continue
		}
		e := findWord(r.similar, w)
		if e == nil {
			continue
		}
		p := pair{q: uint8(i), nq: uint8(nq), l: uint8(k), nl: 1, similarity: int32(e.similarity), kind: e.kind}
		if k >= n {
			p.l, p.nl, p.similarity, p.kind = uint8(k-n), 2, int32(e.joined), names.Joined
			if nq == 2 && s.cache.words[q.words[i]].word.IsSame(&s.index.words[words[k-n]]) {
				continue // the words themselves meet
			}
		}
		if p.similarity > 0 {
			s.scorer.pairs = append(s.scorer.pairs, p)
		}
	}
}

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

// addInitials adds the pairs of a word of one letter, which the index does not know to be similar to all words that begin
// with it.
func (s *Searcher) addInitials(q *querySide, i int, words []uint32) {
	w := &s.cache.words[q.words[i]].word
	if !w.IsInitial() {
		return
	}
	for j, id := range words {
		if similarity, kind := names.Similarity(w, &s.index.words[id]); kind == names.Initial {
			s.scorer.pairs = append(s.scorer.pairs,
				pair{q: uint8(i), nq: 1, l: uint8(j), nl: 1, similarity: int32(similarity), kind: kind})
		}
	}
}

// Matched is a name of a list and the score that it reached, 0 to 100.
type Matched struct {
	Entry uint32
	Name  string
	Kind  watchlist.NameKind
	Score float64
	mode  names.Mode
}

// Find returns the best name of each entry that reaches a threshold, best first; of equal scores, in the order of the
// entries.
func (s *Searcher) Find(q Query, threshold float64) []Matched {
	found := s.find(q, int(threshold*scale/100))
	if len(found) == 0 {
		return nil
	}
	var best []Matched
	for _, c := range found {
		r := &s.index.names[c.name]
		m := Matched{Entry: r.entry, Name: s.index.text(c.name), Kind: r.kind, mode: r.mode, Score: points(c.score)}
		if n := len(best); n == 0 || best[n-1].Entry != m.Entry {
			best = append(best, m)
		} else if m.Score > best[n-1].Score {
			best[n-1] = m
		}
	}
	slices.SortStableFunc(best, func(a, b Matched) int { return cmp.Compare(b.Score, a.Score) })
	return best
}
