package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// Hit is an entry of a list whose name reached the threshold.
type Hit struct {
	// List is the name of the list, ID the source's own for the entry.
	List string `json:"list"`
	ID   string `json:"id"`
	// Name is the name of the entry that matched best.
	Name string `json:"name"`
	// Score is 0 to 100.
	Score float64 `json:"score"`
	// Explanation says which words met which, how, what was missing, and which version of the list it is.
	Explanation string `json:"explanation"`
	// Entry is the entry as the list has it.
	Entry *watchlist.Entry `json:"-"`
	// place is that of the entry in its index.
	place uint32
}

// Screener searches an index and explains what it finds. It is not safe for concurrent use; several may share an index.
type Screener struct {
	index    *Index
	searcher *Searcher
	analyzer *Analyzer
	comparer comparer
}

// NewScreener returns a screener of an index.
func NewScreener(x *Index) *Screener {
	return &Screener{index: x, searcher: NewSearcher(x), analyzer: NewAnalyzer()}
}

// Screen returns the entries that reach the threshold, best first; of equal scores, in the order of the lists and of
// their entries.
func (s *Screener) Screen(q Query, threshold float64) ([]Hit, error) {
	var hits []Hit
	seen := map[uint32]bool{}
	add := func(entry uint32, hit func(e *watchlist.Entry, info *Info) Hit) error {
		info := s.index.listOf(entry)
		if len(q.Lists) > 0 && !slices.Contains(q.Lists, info.List) {
			return nil
		}
		e, err := s.index.Entry(entry)
		if err != nil {
			return fmt.Errorf("reading entry %d of the index: %w", entry, err)
		}
		if h := hit(&e, info); h.Score >= threshold {
			h.List, h.ID, h.Entry, h.place = info.List, e.ID, &e, entry
			hits = append(hits, h)
		}
		return nil
	}
	for _, value := range q.Identifiers {
		for _, entry := range s.index.identified(value) {
			if seen[entry] {
				continue
			}
			seen[entry] = true
			err := add(entry, func(e *watchlist.Entry, info *Info) Hit {
				return Hit{Name: e.Names[0].Text, Score: identifierPoints, Explanation: fmt.Sprintf("same identifier %s%s", value,
					describeList(info))}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	for _, m := range s.searcher.Find(q, threshold) {
		if seen[m.Entry] {
			continue
		}
		err := add(m.Entry, func(e *watchlist.Entry, info *Info) Hit {
			score, notes := q.qualify(e, m.Score)
			// The text is copied, so that hits outlive the index.
			return Hit{Name: strings.Clone(m.Name), Score: score, Explanation: s.explain(q, &m, info, notes)}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.place, b.place))
	})
	return hits, nil
}

// explain says how the query and the name of a hit met.
func (s *Screener) explain(q Query, m *Matched, info *Info, notes []string) string {
	query, list := s.analyzer.Analyze(q.Name), s.analyzer.Analyze(m.Name)
	qf, lf := query.in(m.mode), list.in(m.mode)
	var b strings.Builder
	b.WriteString(s.comparer.explain(&qf, &lf, m.mode))
	if m.mode == names.Organisation && query.forms|list.forms != 0 {
		b.WriteString("; organisation forms do not count")
	}
	fmt.Fprintf(&b, "; %s name", m.Kind)
	for _, note := range notes {
		b.WriteString("; " + note)
	}
	if query.Truncated {
		b.WriteString("; the name was too long to be read to its end")
	}
	return b.String() + describeList(info)
}

// describeList says which version of a list it is.
func describeList(info *Info) string {
	text := "; list " + info.List
	if info.SourceDate != "" {
		text += " of " + info.SourceDate[:len("2006-01-02")]
	}
	return text + ", version " + info.Version[:12]
}
