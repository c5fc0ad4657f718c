package match

import (
	"cmp"
	"slices"
)

// post is one occurrence of a word in a name. The posts of a word are in the order of the weights of their names.
type post struct {
	name uint32
	// weight is that of all words of the name.
	weight uint16
	// words and joins are the numbers of prints of words and of joins, or morePrints if not all have a place. If words
	// is that, joins is as well.
	words, joins uint8
	// prints are those of all words and then of all joins of the name that can meet words of a query beside this one.
	prints [maxPrints]uint16
}

const (
	maxPrints  = 8
	morePrints = 255
)

// printOf returns by what words are told apart. Similar words are mostly neighbours in the index, and so are their
// prints.
func printOf(word uint32) uint16 { return uint16(word & (numPrints - 1)) }

// numPrints is the number of prints.
const numPrints = 1 << 14

// printSet is a set of prints of words.
type printSet struct {
	bits [numPrints / 64]uint64
	// hasJoins reports whether the set has joins beside words.
	hasJoins bool
}

func (s *printSet) add(word uint32) { s.bits[printOf(word)/64] |= 1 << (word % 64) }

// mayHaveAny reports whether the set may have any of some words.
func (s *printSet) mayHaveAny(words []uint32) bool {
	for _, w := range words {
		if s.bits[printOf(w)/64]>>(w%64)&1 != 0 {
			return true
		}
	}
	return false
}

// mayMeet reports whether the name of a post may have a word of the set beside that of the post.
func (s *printSet) mayMeet(p *post) bool {
	if p.words > maxPrints {
		return true
	}
	prints := p.prints[:p.words]
	if s.hasJoins {
		if p.joins > maxPrints {
			return true
		}
		prints = p.prints[:p.words+p.joins]
	}
	for _, print := range prints {
		if s.bits[print/64%(numPrints/64)]>>(print%64)&1 != 0 {
			return true
		}
	}
	return false
}

// addPosts adds the occurrences of all words.
func (b *builder) addPosts() {
	x := b.index
	counts := make([]uint32, 2*len(x.words)+1)
	each := func(f func(slot uint32, name, place int)) {
		for i := range x.names {
			r := &x.names[i]
			words := x.wordsOf(r)
			for j, w := range words {
				if !slices.Contains(words[:j], w) {
					f(2*w+uint32(r.mode), i, j)
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

// newPost returns the post of a name for the word or join at a place of wordsOf.
func (x *Index) newPost(name, place int) post {
	r := &x.names[name]
	words, n := x.wordsOf(r), int(r.n)
	p := post{name: uint32(name)}
	for _, w := range words[:n] {
		p.weight += x.words[w].Weight[r.mode]
	}
	for i, w := range words {
		if !slices.ContainsFunc(placesOf(words, words[place]), func(j int) bool { return areApart(i, j, n) }) {
			continue
		}
		if p.words+p.joins == maxPrints {
			if i < n {
				p.words = morePrints
			}
			p.joins = morePrints
			break
		}
		p.prints[p.words+p.joins] = printOf(w)
		if i < n {
			p.words++
		} else {
			p.joins++
		}
	}
	return p
}

// placesOf returns where words have a word.
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
