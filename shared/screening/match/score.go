package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
)

// Threshold is the score from which on two names are taken for names of the same. It is the default of every search
// and of pairs, and the one at which quality is measured.
const Threshold = 80

// scale is the number of points of a score of 100: scores are compared as whole numbers.
const scale = 10000

// Shares with which the weight of words that did not meet counts against a name.
const (
	// percentQuery is that of words of the query.
	percentQuery = 60
	// percentList is that of words of the list's name: an entry has more names than people use.
	percentList = 25
	// percentRepeated is what remains of the weight of a word of the query that occurs in it before.
	percentRepeated = 25
	// percentConflict is added for words of both that did not meet: another given name is another person.
	percentConflict = 80
)

// percentFew takes the place of percentList by the number of words that met and say who is meant: the fewer, the more
// likely it is that they met by chance.
var percentFew = [names.Modes][3]int32{names.Person: {0, 80, 60}, names.Organisation: {0, 50, 40}}

// shareOfList returns the percentage with which words of the list count that did not meet, if so many did that say who
// is meant.
func shareOfList(mode names.Mode, met int) int32 {
	if met < len(percentFew[mode]) {
		return percentFew[mode][met]
	}
	return percentList
}

// side is one of the two names as the score sees it.
type side struct {
	n      int
	weight [names.MaxWords]int32
	// telling has a bit for each word that says who is meant.
	telling uint64
	// short has a bit for each word of few sounds, descent for each that joins a name with that of a parent, numbers
	// for each number.
	short, descent, numbers uint64
	total                   int32
}

// set makes the side that of some of the words of a name.
func (s *side) set(words []names.Word, mode names.Mode) {
	s.reset(len(words))
	for i := range words {
		s.setWord(i, newWordInfo(&words[i]), mode)
	}
}

// reset makes the side one of n words that setWord sets.
func (s *side) reset(n int) {
	s.n, s.total = n, 0
	s.telling, s.short, s.descent, s.numbers = 0, 0, 0, 0
}

func (s *side) setWord(i int, w wordInfo, mode names.Mode) {
	s.weight[i] = w.weight(mode)
	s.total += s.weight[i]
	s.telling |= (w >> mode).bit(tellingPerson) << i
	s.short |= w.bit(shortWord) << i
	s.descent |= w.bit(descentWord) << i
	s.numbers |= w.bit(numberWord) << i
}

// repeat makes word i of a query count for less because it repeats another: a word says the same only once.
func (s *side) repeat(i int) {
	rest := s.weight[i] * percentRepeated / 100
	s.total -= s.weight[i] - rest
	s.weight[i] = rest
}

// span returns the weight of n words from i on.
func (s *side) span(i, n uint8) int32 {
	weight := s.weight[i]
	if n == 2 {
		weight += s.weight[i+1]
	}
	return weight
}

// pair is a place where two names could meet: words [q, q+nq) of the query and [l, l+nl) of the list's name, where one
// or both may be two words written as one.
type pair struct {
	q, nq, l, nl uint8
	kind         names.Kind
	// isShort reports that the word of the query is short.
	isShort    bool
	similarity int32
	// weight is what the pair counts for, gain its part that is similar.
	weight, gain int32
}

func (p *pair) queryBits() uint64 { return (1<<p.nq - 1) << p.q }
func (p *pair) listBits() uint64  { return (1<<p.nl - 1) << p.l }

// scorer holds what one comparison needs. It is reused.
type scorer struct {
	pairs []pair
	// met are the pairs that were chosen.
	met []pair
}

// weigh sets what the pairs count for. An initial counts for no more than a letter; organisations have none.
func (s *scorer) weigh(q, l *side, mode names.Mode) {
	kept := s.pairs[:0]
	for i, p := range s.pairs {
		if p.nq == 2 && p.nl == 2 && s.meetsApart(i) {
			continue
		}
		wq, wl := q.span(p.q, p.nq), l.span(p.l, p.nl)
		if p.kind == names.Initial && mode == names.Organisation {
			continue
		}
		p.weight = pairWeight(p.kind, wq, wl)
		p.isShort = q.short>>p.q&1 != 0
		p.gain = shrink(p.similarity) * p.weight
		kept = append(kept, p)
	}
	s.pairs = kept
}

// pairWeight returns what words of two weights count for that meet.
func pairWeight(kind names.Kind, query, list int32) int32 {
	switch kind {
	case names.Joined:
		return query
	case names.Initial:
		return min(query, list)
	}
	return (query + list) / 2
}

// meetsApart reports whether either of two words of the query that a pair joins meets its counterpart alone: then the
// spaces of the two names are not elsewhere.
func (s *scorer) meetsApart(pair int) bool {
	joined := s.pairs[pair]
	for i := range s.pairs {
		p := &s.pairs[i]
		if p.nq == 1 && p.nl == 1 && p.q-joined.q == p.l-joined.l && p.q-joined.q < 2 && p.kind != names.Initial {
			return true
		}
	}
	return false
}

// shrink makes differences count more than in proportion: a name whose words are all a little different is another
// name.
func shrink(similarity int32) int32 { return names.Equal - (names.Equal-similarity)*shrinkPercent/100 }

const shrinkPercent = 135

// score chooses among the pairs those in which the names meet, best first, and returns the score, 0 to scale. Searches
// rely on three bounds (see bounds.go): no score is above what ratio gives for the pairs that were found, each with its
// shrunk similarity and the weight of pairWeight; words of the list that met nothing count at least shareOfList; and
// what is taken away after ratio only lowers the score.
func (s *scorer) score(q, l *side, mode names.Mode) int {
	if len(s.pairs) > 1 {
		slices.SortFunc(s.pairs, comparePairs)
	}
	s.met = s.met[:0]
	var queryMet, listMet uint64
	var weight, gain, queryWeight, listWeight int32
	for i := range s.pairs {
		p := &s.pairs[i]
		if queryMet&p.queryBits() != 0 || listMet&p.listBits() != 0 {
			continue
		}
		queryMet |= p.queryBits()
		listMet |= p.listBits()
		wq, wl := q.span(p.q, p.nq), l.span(p.l, p.nl)
		queryWeight, listWeight = queryWeight+wq, listWeight+wl
		weight += p.weight
		gain += p.gain
		s.met = append(s.met, *p)
	}
	tellingMet := onesCount(queryMet & q.telling)
	if tellingMet == 0 || listMet&l.telling == 0 {
		return 0
	}
	missedQuery, missedList := q.total-queryWeight, l.total-listWeight
	share := shareOfList(mode, min(tellingMet, onesCount(listMet&l.telling)))
	if tellingMet == 1 {
		gain = 0
		for i := range s.met {
			gain += int32(names.Equal-2*(names.Equal-s.met[i].similarity)) * s.met[i].weight
		}
	}
	score := ratio(max(gain, 0), weight, missedQuery, missedList, share)
	score = score * s.orderPercent(q) / 100
	switch {
	case mode == names.Person && s.isSwapped(q, l):
		return score * percentSwapped / 100
	case mode == names.Organisation && q.numbers&^queryMet != 0 && l.numbers&^listMet != 0:
		return score * percentNumber / 100
	}
	return score
}

// What remains of a score for differences that words alone do not show.
const (
	// percentSwapped is for a person who is named as another's parent and the reverse.
	percentSwapped = 80
	// percentNumber is for organisations whose numbers differ.
	percentNumber = 85
)

// isSwapped reports whether the words around one of descent have met crosswise: "Ahmad bin Hasan" and "Hasan bin
// Ahmad".
func (s *scorer) isSwapped(q, l *side) bool {
	if q.descent == 0 || l.descent == 0 {
		return false
	}
	for rest := q.descent; rest != 0; rest &= rest - 1 {
		at := trailingZeros(rest)
		child, hasChild := s.listWord(lastBit(q.telling & (1<<at - 1)))
		parent, hasParent := s.listWord(trailingZeros(q.telling &^ (2<<at - 1)))
		if hasChild && hasParent && parent < child && l.descent>>parent&(1<<(child-parent)-1) != 0 {
			return true
		}
	}
	return false
}

// listWord returns the word of the list that word i of the query has met.
func (s *scorer) listWord(i int) (word uint8, isMet bool) {
	for k := range s.met {
		if p := &s.met[k]; int(p.q) <= i && i < int(p.q+p.nq) {
			return p.l, true
		}
	}
	return 0, false
}

// orderPercent is what remains of the score for the order in which the words met. "Given Family" and "Family, Given"
// differ by a rotation, which costs nothing. In names of short words, other orders are other names.
func (s *scorer) orderPercent(q *side) int {
	if len(s.met) < 3 {
		return 100
	}
	var places [names.MaxWords]uint8 // of the list's words, by the query's; 0 is none
	isShort := true
	n := 0
	for i := range s.met {
		p := &s.met[i]
		if q.telling>>p.q&1 != 0 {
			places[p.q] = p.l + 1
			n++
			isShort = isShort && p.isShort
		}
	}
	if n < 3 {
		return 100
	}
	descents := 0
	first, last := uint8(0), uint8(0)
	for _, l := range places[:q.n] {
		if l == 0 {
			continue
		}
		if first == 0 {
			first = l
		} else if l < last {
			descents++
		}
		last = l
	}
	if first < last {
		descents++
	}
	switch {
	case descents <= 1:
		return 100
	case isShort:
		return 75
	}
	return 95
}

// comparePairs orders pairs, the best first. No two are equal.
func comparePairs(a, b pair) int {
	if a.gain != b.gain {
		return cmp.Compare(b.gain, a.gain)
	}
	return cmp.Or(cmp.Compare(a.q, b.q), cmp.Compare(a.l, b.l), cmp.Compare(a.nq, b.nq), cmp.Compare(a.nl, b.nl))
}

// ratio is the score of names that met with the given gain and weight and missed the rest.
func ratio(gain, weight, missedQuery, missedList, shareList int32) int {
	missed := percentQuery*missedQuery + shareList*missedList + percentConflict*min(missedQuery, missedList)
	whole := int64(weight)*100 + int64(missed)
	if whole == 0 {
		return 0
	}
	return int(int64(gain) * 100 * scale / (whole * names.Equal))
}
