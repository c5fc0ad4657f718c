package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// Ranges of the posts of a word, in their order. Names with initials are apart from others, because an initial matches
// many words and so makes many more names similar to a query.
const (
	withoutInitials = iota
	withInitials
	organisations
	postRanges
)

// post is one occurrence of a word in a name. The posts of each range are in the order of the weights of their names.
type post struct {
	name uint32
	// weight is the weight of all words of the name.
	weight uint16
	// prints are fingerprints of the other words and pairs of adjacent words of the name that can match beside this
	// one. Where they do not fit, manyJoins or manyWords stands for them. The rest are noPrint.
	prints [maxPrints]uint16
}

const (
	maxPrints = 9
	// commonPrints is the number of prints that most posts do not exceed.
	commonPrints = 4
)

// printOf returns the print of a word. Similar words are mostly neighbours in the index, and so are their prints.
func printOf(word uint32) uint16 { return uint16(word % noPrint) }

// Prints that stand for no word.
const (
	noPrint = numPrints - 3 + iota
	manyWords
	manyJoins
	numPrints = 1 << 14
)

// isWhole reports whether the post has the prints of all words and joins.
func (p *post) isWhole() bool {
	for _, print := range p.prints {
		if print > noPrint {
			return false
		}
	}
	return true
}

// printSet is a set of prints of words.
type printSet [numPrints / 64]uint64

func (s *printSet) add(print uint16) { s[print/64%uint16(len(s))] |= 1 << (print % 64) }

// reset empties the set.
func (s *printSet) reset() {
	*s = printSet{}
	s.add(manyWords)
}

// mayHaveAny reports whether the set may have any of some words.
func (s *printSet) mayHaveAny(words []uint32) bool {
	for _, w := range words {
		if print := printOf(w); s.bit(print)&1 != 0 {
			return true
		}
	}
	return false
}

// mayMatch reports whether the name of a post may have a word of the set beside the post's own word.
func (s *printSet) mayMatch(p *post) bool {
	bits := s.bit(p.prints[0]) | s.bit(p.prints[1]) | s.bit(p.prints[2]) | s.bit(p.prints[3])
	if p.prints[commonPrints] != noPrint {
		for _, print := range p.prints[commonPrints:] {
			bits |= s.bit(print)
		}
	}
	return bits&1 != 0
}

// bit returns a number whose lowest bit is set if the set has a print.
func (s *printSet) bit(print uint16) uint64 { return s[print/64%uint16(len(s))] >> (print % 64) }

// addPosts adds the occurrences of all words.
func (b *builder) addPosts() {
	x := b.index
	counts := make([]uint32, postRanges*len(x.words)+1)
	each := func(f func(slot uint32, name, place int)) {
		for i := range x.names {
			r := &x.names[i]
			words, postRange := x.wordsOf(r), x.postRangeOf(r)
			for j, w := range words {
				if !slices.Contains(words[:j], w) {
					f(postRanges*w+postRange, i, j)
				}
			}
		}
	}
	each(func(slot uint32, _, _ int) { counts[slot+1]++ })
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	x.postStarts = slices.Clone(counts)
	x.posts = make([]post, counts[len(counts)-1])
	each(func(slot uint32, name, place int) {
		x.posts[counts[slot]] = x.newPost(name, place)
		counts[slot]++
	})
	for slot := range len(x.postStarts) - 1 {
		slices.SortFunc(x.posts[x.postStarts[slot]:x.postStarts[slot+1]], func(a, b post) int {
			return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.name, b.name))
		})
	}
}

// postRangeOf returns the range of the posts of a name.
func (x *Index) postRangeOf(r *nameRecord) uint32 {
	switch {
	case r.mode == names.Organisation:
		return organisations
	case slices.ContainsFunc(x.wordsOf(r)[:r.n], func(w uint32) bool { return x.words[w].IsInitial() }):
		return withInitials
	}
	return withoutInitials
}

// newPost returns the post of a name for the word or join at a place of wordsOf.
func (x *Index) newPost(name, place int) post {
	r := &x.names[name]
	words, n := x.wordsOf(r), int(r.n)
	p := post{name: uint32(name)}
	for _, w := range words[:n] {
		p.weight += x.words[w].Weight[r.mode]
	}
	var prints []uint16
	joins := 0
	for i, w := range words {
		if !slices.ContainsFunc(placesOf(words, words[place]), func(j int) bool { return areApart(i, j, n) }) {
			continue
		}
		if prints = append(prints, printOf(w)); i >= n {
			joins++
		}
	}
	switch apart := len(prints) - joins; {
	case len(prints) <= maxPrints:
	case apart < maxPrints:
		prints = append(prints[:apart], manyJoins)
	default:
		prints = []uint16{manyWords}
	}
	for len(prints) < maxPrints {
		prints = append(prints, noPrint)
	}
	p.prints = [maxPrints]uint16(prints)
	return p
}

// placesOf returns the places of a word among words.
func placesOf(words []uint32, word uint32) []int {
	var places []int
	for i, w := range words {
		if w == word {
			places = append(places, i)
		}
	}
	return places
}

// areApart reports whether two places of wordsOf a name of n words have no word in common: place n+i is the join of the
// words at i and i+1.
func areApart(i, j, n int) bool {
	first := func(place int) (int, int) {
		if place < n {
			return place, place
		}
		return place - n, place - n + 1
	}
	i1, i2 := first(i)
	j1, j2 := first(j)
	return i2 < j1 || j2 < i1
}

// Pair compares two names of the given schema, as a query and an entry, and returns a score of 0 to 100.
func Pair(query, entry string, schema watchlist.Schema) float64 {
	analyzer := NewAnalyzer()
	q, l := analyzer.Analyze(query), analyzer.Analyze(entry)
	if !q.CanMatch(schema) || !l.CanMatch(schema) {
		return 0
	}
	best := 0
	var c comparer
	for _, mode := range modesOf(schema) {
		qf, lf := q.comparableForm(mode), l.comparableForm(mode)
		best = max(best, c.compare(&qf, &lf, mode))
	}
	return points(best)
}

// modesOf returns the modes of comparison for names of a schema: both if the bearer may be a person.
func modesOf(schema watchlist.Schema) []names.Mode {
	switch schema {
	case watchlist.Person:
		return []names.Mode{names.Person}
	case watchlist.Unknown, "":
		return []names.Mode{names.Person, names.Organisation}
	}
	return []names.Mode{names.Organisation}
}

// points returns a score for people, 0 to 100 with one decimal, cut so that none reaches a threshold by rounding.
func points(score int) float64 { return float64(score/10) / 10 }
