package match

import (
	"cmp"
	"slices"

	"sluice/shared/screening/names"
)

// Threshold is the least score of a match. It is the default of every search and of pairs, and the one for measurements
// of quality.
const Threshold = 80

// scale is the number of points of a score of 100: scores are compared as whole numbers.
const scale = 10000

// Shares of the weight of unmatched words that count against a name.
const (
	// percentQuery is for words of the query.
	percentQuery = 60
	// percentList is for words of the list's name: an entry has more names than people use.
	percentList = 25
	// percentRepeated is the remaining part of the weight of a repeated word of the query.
	percentRepeated = 25
	// percentConflict is added for unmatched words in both names: another given name is another person.
	percentConflict = 80
)

// percentFew replaces percentList by the number of matched distinctive words: the fewer, the more likely is a match by
// chance.
var percentFew = [names.Modes][3]int32{names.Person: {0, 80, 60}, names.Organisation: {0, 50, 40}}

// shareOfList returns the percentage for unmatched words of the list by the number of matched distinctive words.
func shareOfList(mode names.Mode, met int) int32 {
	if met < len(percentFew[mode]) {
		return percentFew[mode][met]
	}
	return percentList
}

// side is one of the two names of a score.
type side struct {
	n      int
	weight [names.MaxWords]int32
	// distinctive has a bit for each distinctive word.
	distinctive uint64
	// short has a bit for each word of few sounds, descent for each word such as "bin", numbers for each number.
	short, descent, numbers uint64
	total                   int32
}

// set sets the side to some of the words of a name.
func (s *side) set(words []names.Word, mode names.Mode) {
	s.reset(len(words))
	for i := range words {
		s.setWord(i, newWordInfo(&words[i]), mode)
	}
}

// reset prepares the side for n words, which setWord sets.
func (s *side) reset(n int) {
	s.n, s.total = n, 0
	s.distinctive, s.short, s.descent, s.numbers = 0, 0, 0, 0
}

func (s *side) setWord(i int, w wordInfo, mode names.Mode) {
	s.weight[i] = w.weight(mode)
	s.total += s.weight[i]
	s.distinctive |= (w >> mode).bit(distinctivePerson) << i
	s.short |= w.bit(shortWord) << i
	s.descent |= w.bit(descentWord) << i
	s.numbers |= w.bit(numberWord) << i
}

// repeat lowers the weight of word i of a query, which repeats another word.
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

// pair is a possible match of words: words [q, q+nq) of the query and [l, l+nl) of the list's name, where one or both
// may be two words written as one.
type pair struct {
	q, nq, l, nl uint8
	kind         names.Kind
	// isShort reports that the word of the query is short.
	isShort    bool
	similarity int32
	// weight is the weight of the pair, gain its similar part.
	weight, gain int32
}

func (p *pair) queryBits() uint64 { return (1<<p.nq - 1) << p.q }
func (p *pair) listBits() uint64  { return (1<<p.nl - 1) << p.l }

// scorer holds the state of one comparison. It is reused.
type scorer struct {
	pairs []pair
	// met are the chosen pairs.
	met []pair
}

// weigh sets the weights of the pairs. An initial counts for no more than a letter; organisations have none.
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

// pairWeight returns the weight of a match of words with two weights.
func pairWeight(kind names.Kind, query, list int32) int32 {
	switch kind {
	case names.Joined:
		return query
	case names.Initial:
		return min(query, list)
	}
	return (query + list) / 2
}

// meetsApart reports whether either of two words of the query that a pair joins matches its counterpart alone: then the
// names do not differ in their spaces.
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

// shrink lowers similarities more than in proportion: a name with small differences in all words is another name.
func shrink(similarity int32) int32 { return names.Equal - (names.Equal-similarity)*shrinkPercent/100 }

const shrinkPercent = 135

// score chooses the matches among the pairs, best first, and returns the score, 0 to scale. Searches rely on three
// bounds (see bounds.go): no score is above the ratio of the found pairs, each with its shrunk similarity and the
// weight of pairWeight; unmatched words of the list count at least shareOfList; and all deductions after ratio only
// lower the score.
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
	distinctiveMet := onesCount(queryMet & q.distinctive)
	if distinctiveMet == 0 || listMet&l.distinctive == 0 {
		return 0
	}
	missedQuery, missedList := q.total-queryWeight, l.total-listWeight
	share := shareOfList(mode, min(distinctiveMet, onesCount(listMet&l.distinctive)))
	if distinctiveMet == 1 {
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

// Remaining percentages of a score for differences beyond single words.
const (
	// percentSwapped is for persons with swapped names of child and parent.
	percentSwapped = 80
	// percentNumber is for organisations whose numbers differ.
	percentNumber = 85
)

// isSwapped reports whether the words around a word of descent match crosswise: "Ahmad bin Hasan" and "Hasan bin
// Ahmad".
func (s *scorer) isSwapped(q, l *side) bool {
	if q.descent == 0 || l.descent == 0 {
		return false
	}
	for rest := q.descent; rest != 0; rest &= rest - 1 {
		at := trailingZeros(rest)
		child, hasChild := s.listWord(lastBit(q.distinctive & (1<<at - 1)))
		parent, hasParent := s.listWord(trailingZeros(q.distinctive &^ (2<<at - 1)))
		if hasChild && hasParent && parent < child && l.descent>>parent&(1<<(child-parent)-1) != 0 {
			return true
		}
	}
	return false
}

// listWord returns the word of the list that word i of the query matches.
func (s *scorer) listWord(i int) (word uint8, isMet bool) {
	for k := range s.met {
		if p := &s.met[k]; int(p.q) <= i && i < int(p.q+p.nq) {
			return p.l, true
		}
	}
	return 0, false
}

// orderPercent is the remaining percentage of the score for the order of the matches. "Given Family" and "Family,
// Given" differ by a rotation, which costs nothing. In names of short words, other orders are other names.
func (s *scorer) orderPercent(q *side) int {
	if len(s.met) < 3 {
		return 100
	}
	var places [names.MaxWords]uint8 // of the list's words, by the query's; 0 is none
	isShort := true
	n := 0
	for i := range s.met {
		p := &s.met[i]
		if q.distinctive>>p.q&1 != 0 {
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

// ratio is the score of names with matches of the given gain and weight and without the rest.
func ratio(gain, weight, missedQuery, missedList, shareList int32) int {
	missed := percentQuery*missedQuery + shareList*missedList + percentConflict*min(missedQuery, missedList)
	whole := int64(weight)*100 + int64(missed)
	if whole == 0 {
		return 0
	}
	return int(int64(gain) * 100 * scale / (whole * names.Equal))
}
