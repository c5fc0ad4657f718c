package match

import (
	"fmt"
	"strings"

	"sluice/shared/screening/names"
)

// explain says in words how two names met.
func (c *comparer) explain(q, l *form, mode names.Mode) string {
	c.compare(q, l, mode)
	var b strings.Builder
	var queryMet, listMet uint64
	for i := range q.words {
		for _, p := range c.met {
			if int(p.q) != i {
				continue
			}
			queryMet |= p.queryBits()
			listMet |= p.listBits()
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			b.WriteString(describePair(q, l, &p))
		}
	}
	missing := func(f *form, met uint64, weights *side, text string) {
		var words []string
		for i := range f.words {
			if met>>i&1 == 0 && weights.weight[i] > 0 {
				words = append(words, fmt.Sprintf("%q", f.sources[i]))
			}
		}
		if len(words) > 0 {
			fmt.Fprintf(&b, "; %s %s", text, strings.Join(words, ", "))
		}
	}
	missing(q, queryMet, &c.query, "only in the query:")
	missing(l, listMet, &c.list, "only in the list:")
	return b.String()
}

// describePair says how words of the two names met.
func describePair(q, l *form, p *pair) string {
	a := strings.Join(q.sources[p.q:p.q+p.nq], " ")
	b := strings.Join(l.sources[p.l:p.l+p.nl], " ")
	how := p.kind.String()
	if p.kind != names.Exact {
		how += fmt.Sprintf(" %d%%", p.similarity/10)
	}
	return fmt.Sprintf("%q = %q (%s)", a, b, how)
}
