package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// weakPercent is what remains of a score that a weak alias has reached, unless a date of birth speaks for it.
const weakPercent = 78

// weakShare returns the percentage that remains of a score that a weak alias has reached. Scores are only taken from,
// so that the bounds of a search hold for any percentage.
func (s *Searcher) weakShare() int {
	if s.keepsWeak {
		return 100
	}
	return weakPercent
}

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
	// Identifiers are numbers of passports, registers and the like. An entry that has one of them is a hit, whatever
	// its name.
	Identifiers []string
	// Lists are the names of the lists that are searched; none means all.
	Lists []string
}

// candidate is a name of the list that reached the threshold.
type candidate struct {
	name  uint32
	score int
}

// Searcher searches an index. It remembers words that it has looked up; what it finds does not depend on that. It is
// not safe for concurrent use: each goroutine has one of its own.
type Searcher struct {
	index    *Index
	splitter *names.Splitter
	cache    wordCache
	words    []int32
	query    [names.Modes]querySide
	bounds   bounds
	filter   filter
	// planned are posts that are about to be opened.
	planned []plannedPosts
	// visited[name] is the search that saw a name last.
	visited []uint32
	search  uint32
	found   []candidate
	scorer  scorer
	cover   cover
	list    side
	// keepsWeak reports that weak aliases are found with the scores that they have without weakPercent.
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
	// words are those of the cache.
	words []int32
	// joins are its own or those of another mode with the same words.
	joins    *queryJoins
	ownJoins queryJoins
	// joined has a bit for each word that the index has as part of a join with its neighbour.
	joined uint64
	// search is the search that the side was filled for.
	search uint32
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
		if s.fill(&s.query[mode], forms); s.query[mode].telling == 0 {
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

// queryJoins are what the index has for neighbours of a query written as one; empty if it has none of them.
type queryJoins struct{ reaches []reach }

// findJoins finds out what the index has for neighbours of a query written as one.
func (s *Searcher) findJoins(q *querySide) {
	c, joins := &s.cache, q.joins
	joins.reaches = joins.reaches[:0]
	for i := 0; i+1 < q.n; i++ {
		a, b := c.word(q.words[i]), c.word(q.words[i+1])
		isSet := c.keys.SetJoinOf(&a.part, &b.part)
		if isSet && !s.index.has(c.keys.Keys) {
			continue // as nearly always
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

// setJoined sets what follows from the joins of the query.
func (q *querySide) setJoined() {
	q.joined = 0
	for i := range q.joins.reaches {
		if q.joins.reaches[i].best[q.mode].posts > 0 {
			q.joined |= 3 << i
		}
	}
}

// reach returns what the index has for word i of the query.
func (s *Searcher) reach(q *querySide, i int) *reach { return &s.cache.word(q.words[i]).reach }

// joinReach returns what the index has for words i and i+1 of the query as one, nil for nothing.
func (s *Searcher) joinReach(q *querySide, i int) *reach {
	if len(q.joins.reaches) == 0 || i < 0 || i+1 >= q.n || q.joins.reaches[i].best[q.mode].posts == 0 {
		return nil
	}
	return &q.joins.reaches[i]
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

// FindWeak returns the best weak alias of each entry that would reach a threshold if it were none.
func (s *Searcher) FindWeak(q Query, threshold float64) []Matched {
	s.keepsWeak = true
	defer func() { s.keepsWeak = false }()
	return slices.DeleteFunc(s.Find(q, threshold), func(m Matched) bool { return m.Kind != watchlist.Weak })
}
