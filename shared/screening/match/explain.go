package match

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sluice/shared/screening/names"
)

// explain describes the match of two names in words.
func (c *comparer) explain(q, l *form, mode names.Mode) string {
	c.compare(q, l, mode)
	slices.SortFunc(c.met, func(a, b pair) int { return int(a.q) - int(b.q) })
	var parts []string
	var queryMet, listMet uint64
	for i := range c.met {
		p := &c.met[i]
		queryMet |= p.queryBits()
		listMet |= p.listBits()
		// Two words that are one word in both names are one part of the explanation.
		if i > 0 && q.sources[p.q] == q.sources[c.met[i-1].q] && l.sources[p.l] == l.sources[c.met[i-1].l] {
			continue
		}
		parts = append(parts, describePair(q, l, p))
	}
	text := strings.Join(parts, ", ")
	if words := q.missing(queryMet, &c.query); words != "" {
		text += "; only in the query: " + words
	}
	if words := l.missing(listMet, &c.list); words != "" {
		text += "; only in the list: " + words
	}
	if mode == names.Person && c.isSwapped(&c.query, &c.list) {
		text += "; parent and child are the other way round"
	}
	return text
}

// missing returns the unmatched words that count.
func (f *form) missing(met uint64, weights *side) string {
	var words []string
	for i := range f.words {
		if met>>i&1 == 0 && weights.weight[i] > 0 {
			words = append(words, fmt.Sprintf("%q", f.sources[i]))
		}
	}
	return strings.Join(words, ", ")
}

// describePair describes a match of words of the two names.
func describePair(q, l *form, p *pair) string {
	a, b := joinSources(q.sources[p.q:p.q+p.nq]), joinSources(l.sources[p.l:p.l+p.nl])
	how := p.kind.String()
	switch {
	case p.kind == names.Exact && isLatin(a) != isLatin(b):
		how = "romanized"
	case p.kind == names.Meaning && !q.words[p.q].IsOfOrganisations():
		how = "forms of one name"
	case p.kind != names.Exact && p.similarity == names.Equal:
	case p.kind != names.Exact:
		how += fmt.Sprintf(" %d%%", p.similarity/10)
	}
	return fmt.Sprintf("%q = %q (%s)", a, b, how)
}

// joinSources joins the sources of two words, which may be the same.
func joinSources(sources []string) string {
	return strings.Join(slices.Compact(slices.Clone(sources)), " ")
}

// isLatin reports whether the first letter of a text is Latin.
func isLatin(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.Is(unicode.Latin, r)
		}
	}
	return true
}

// opening is a choice of names to compare, with a bit for each word of a query.
type opening struct {
	// words are opened for names with a similar word other than an initial, or with a join.
	words uint64
	// parts are opened only for such names that also have an initial.
	parts uint64
	// initials are the opened words that are also opened for names with their initial.
	initials uint64
	// cost is the number of these names, isComplete reports that no other name can reach the threshold.
	cost       int32
	isComplete bool
}

// choose returns the words to open: names without any of them cannot reach the threshold. It prefers words with few
// names, first for names without initials, then for names with some. Very many names may have the initials of a query,
// so that it is mostly better to open their other words.
func (s *Searcher) choose(q *querySide) opening {
	b := &s.bounds
	var costs [names.MaxWords]int32
	copy(costs[:q.n], b.posts[:q.n])
	var opened opening
	without, with := b.sum, b.sum // the margins of names without any opened word
	for without >= 0 {
		i, cost := cheapest(costs[:q.n])
		if cost == notOpened {
			break
		}
		opened.words |= 1 << i
		opened.cost += cost
		without -= b.best[i] - b.miss[i]
		with -= b.best[i] - b.initial[i]
		costs[i] = notOpened
	}
	if with < 0 {
		opened.isComplete = true
		return opened
	}
	for i := range q.n {
		switch {
		case opened.words>>i&1 == 0:
			costs[i] = b.partPosts[i]
		case b.initial[i] > b.miss[i]:
			costs[i] = s.reach(q, i).best[q.mode].initialPosts
		}
	}
	for with >= 0 {
		i, cost := cheapest(costs[:q.n])
		if cost == notOpened {
			break
		}
		opened.cost += cost
		if costs[i] = notOpened; (opened.words|opened.parts)>>i&1 != 0 {
			opened.initials |= 1 << i
			with -= b.initial[i] - b.miss[i]
			continue
		}
		opened.parts |= 1 << i
		with -= b.best[i] - b.initial[i]
		if b.initial[i] > b.miss[i] {
			costs[i] = s.reach(q, i).best[q.mode].initialPosts
		}
	}
	opened.isComplete = without < 0 && with < 0
	return opened
}

// cheapest returns the index and the value of the first least cost.
func cheapest(costs []int32) (i int, cost int32) {
	cost = costs[0]
	for k, c := range costs {
		if c < cost {
			i, cost = k, c
		}
	}
	return i, cost
}
