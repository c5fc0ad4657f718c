package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// weakPercent is the remaining percentage of a weak alias's score unless a date of birth confirms it.
const weakPercent = 78

// weakShare returns the remaining percentage of a weak alias's score. It never raises a score, so that the bounds of a
// search hold for any percentage.
func (s *Searcher) weakShare() int {
	if s.keepsWeak {
		return 100
	}
	return weakPercent
}

// Query is the subject of a search.
type Query struct {
	Name string
	// Schema is the type of the name's bearer, if known: Person, Organisation and so on.
	Schema watchlist.Schema
	// BirthDate is a year, month or day: 1961, 1961-04, 1961-04-02. "" is unknown.
	BirthDate string
	// Countries are codes or names of countries, Gender is "male" or "female", as far as they are known.
	Countries []string
	Gender    string
	// Identifiers are numbers of passports, registers and the like. An entry with one of them is a hit under any name.
	Identifiers []string
	// Lists are the names of the lists to search; none means all.
	Lists []string
}

// candidate is a name of the list with a score of at least the threshold.
type candidate struct {
	name  uint32
	score int
}

// Searcher searches an index. It caches words, which does not change its results. It is
// not safe for concurrent use: each goroutine has one of its own.
type Searcher struct {
	index    *Index
	splitter *names.Splitter
	cache    wordCache
	words    []int32
	query    [names.Modes]querySide
	bounds   bounds
	filter   filter
	// planned are the posts to open next.
	planned []plannedPosts
	// visited[name] is the search that saw a name last.
	visited []uint32
	search  uint32
	found   []candidate
	scorer  scorer
	cover   cover
	list    side
	// keepsWeak reports that weak aliases keep their scores, without weakPercent.
	keepsWeak bool
}

// NewSearcher returns a searcher of an index.
func NewSearcher(x *Index) *Searcher {
	s := &Searcher{
		index: x, splitter: names.NewSplitter(), visited: make([]uint32, len(x.names)),
		filter: filter{sets: make([]printSet, names.MaxWords)},
	}
	s.cache.init(x)
	for mode := range s.query {
		s.query[mode].mode = names.Mode(mode)
	}
	return s
}

// querySide is the query in one mode.
type querySide struct {
	side
	mode names.Mode
	// words are numbers of words in the cache.
	words []int32
	// joins are its own or shared with another mode that has the same words.
	joins    *queryJoins
	ownJoins queryJoins
	// joined has a bit for each word whose join with a neighbour is in the index.
	joined uint64
	// search is the search of the last fill.
	search uint32
}

// find finds the names that reach a threshold, 0 to scale, in the order of the index. The result is valid until the
// next call.
func (s *Searcher) find(q Query, threshold int) []candidate {
	s.found = s.found[:0]
	s.splitter.Split(q.Name)
	n := s.splitter.Len()
	if n == 0 {
		return s.found
	}
	s.cache.reserve(names.MaxWords)
	s.words = s.words[:0]
	var hashes [names.MaxWords]uint64
	for i := range n {
		hashes[i] = s.cache.hash(s.splitter.Word(i))
	}
	for i := range n {
		s.words = append(s.words, s.lookUp(s.splitter.Word(i), hashes[i]))
	}
	forms := s.forms(n)
	if s.search++; s.search == 0 {
		clear(s.visited)
		s.search = 1
	}
	threshold = max(threshold, 1)
	modes := modesOf(q.Schema)
	for _, mode := range modes {
		if s.fill(&s.query[mode], forms); s.query[mode].distinctive == 0 {
			return s.found // see CanMatch
		}
	}
	for _, mode := range modes {
		if side := &s.query[mode]; s.isPossible(side, threshold) {
			s.findIn(side)
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
		word := &s.cache.word(w).word
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
		words[i] = s.cache.word(w).word
	}
	return names.Forms(words, func(i int) string { return string(s.splitter.Word(i)) })
}

// fill makes a side of the words of the query.
func (s *Searcher) fill(q *querySide, forms uint64) {
	q.reset(0)
	q.words, q.search = q.words[:0], s.search
	for i, w := range s.words {
		if q.mode == names.Organisation && forms>>i&1 != 0 {
			continue
		}
		known := s.cache.word(w)
		q.setWord(q.n, known.info, q.mode)
		if slices.Contains(q.words, w) {
			q.repeat(q.n)
		}
		q.words = append(q.words, w)
		q.n++
	}
	if q.mode != names.Person && forms == 0 && s.query[names.Person].search == s.search {
		q.joins = s.query[names.Person].joins // the words are the same
	} else {
		q.joins = &q.ownJoins
		s.findJoins(q)
	}
	q.setJoined()
}

// queryJoins are the words of the index similar to neighbours of a query written as one; empty if there are none.
type queryJoins struct{ reaches []reach }

// findJoins looks up neighbours of a query written as one.
func (s *Searcher) findJoins(q *querySide) {
	c, joins := &s.cache, q.joins
	joins.reaches = joins.reaches[:0]
	for i := 0; i+1 < q.n; i++ {
		a, b := c.word(q.words[i]), c.word(q.words[i+1])
		isSet := c.keys.SetJoinOf(&a.part, &b.part)
		if isSet && !s.index.has(c.keys.Keys) {
			continue // the usual case
		}
		join := names.Join(&a.word, &b.word)
		if !isSet {
			c.keys.SetJoin(&join)
		}
		c.findCandidates(s.index, &join, true)
		r := c.reachOf(s.index, &join, c.ids, true)
		if len(r.similar) == 0 {
			continue
		}
		if len(joins.reaches) == 0 {
			joins.reaches = slices.Grow(joins.reaches, names.MaxWords)[:q.n-1]
			clear(joins.reaches)
		}
		joins.reaches[i] = r
	}
}

// setJoined sets joined from the joins of the query.
func (q *querySide) setJoined() {
	q.joined = 0
	for i := range q.joins.reaches {
		if q.joins.reaches[i].best[q.mode].posts > 0 {
			q.joined |= 3 << i
		}
	}
}

// reach returns the reach of word i of the query.
func (s *Searcher) reach(q *querySide, i int) *reach { return &s.cache.word(q.words[i]).reach }

// joinReach returns the reach of words i and i+1 of the query as one, nil if there is none.
func (s *Searcher) joinReach(q *querySide, i int) *reach {
	if len(q.joins.reaches) == 0 || i < 0 || i+1 >= q.n || q.joins.reaches[i].best[q.mode].posts == 0 {
		return nil
	}
	return &q.joins.reaches[i]
}

// Matched is a name of a list and its score, 0 to 100.
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

// FindWeak returns the best weak alias of each entry that would reach a threshold as an ordinary alias.
func (s *Searcher) FindWeak(q Query, threshold float64) []Matched {
	s.keepsWeak = true
	defer func() { s.keepsWeak = false }()
	return slices.DeleteFunc(s.Find(q, threshold), func(m Matched) bool { return m.Kind != watchlist.Weak })
}
