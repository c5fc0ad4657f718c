package match

import (
	"fmt"
	"strings"

	"sluice/shared/screening/names"
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
}

// Screener searches several lists. It is not safe for concurrent use; several may share the indexes.
type Screener struct {
	indexes  []*Index
	searcher *Searcher
	analyzer *Analyzer
	comparer comparer
}

// NewScreener returns a screener of lists.
func NewScreener(indexes ...*Index) *Screener {
	return &Screener{indexes: indexes, searcher: NewSearcher(indexes...), analyzer: NewAnalyzer()}
}

// Screen returns the entries of all lists that reach the threshold, best first; of equal scores, in the order of the
// lists and of their entries.
func (s *Screener) Screen(q Query, threshold float64) ([]Hit, error) {
	var hits []Hit
	for _, m := range s.searcher.Find(q, threshold) {
		x := s.indexes[m.Index]
		entry, err := x.Entry(m.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d of list %s: %w", m.Entry, x.Info.List, err)
		}
		hits = append(hits, Hit{
			List: x.Info.List, ID: entry.ID, Name: m.Name, Score: m.Score, Explanation: s.explain(q, &m, &x.Info),
		})
	}
	return hits, nil
}

// explain says how the query and the name of a hit met.
func (s *Screener) explain(q Query, m *Matched, info *Info) string {
	query, list := s.analyzer.Analyze(q.Name), s.analyzer.Analyze(m.Name)
	qf, lf := query.in(m.mode), list.in(m.mode)
	var b strings.Builder
	b.WriteString(s.comparer.explain(&qf, &lf, m.mode))
	if m.mode == names.Organisation && query.forms|list.forms != 0 {
		b.WriteString("; organisation forms do not count")
	}
	fmt.Fprintf(&b, "; %s name", m.Kind)
	fmt.Fprintf(&b, "; list %s", info.List)
	if info.SourceDate != "" {
		fmt.Fprintf(&b, " of %s", info.SourceDate[:len("2006-01-02")])
	}
	fmt.Fprintf(&b, ", version %s", info.Version[:12])
	return b.String()
}
