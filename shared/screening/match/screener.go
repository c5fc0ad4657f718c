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

// Screen returns the entries of all lists that reach the threshold, best first; of equal scores, in the order of the
// lists and of their entries.
func (s *Screener) Screen(q Query, threshold float64) ([]Hit, error) {
	var hits []Hit
	for _, m := range s.searcher.Find(q, threshold) {
		info := s.index.listOf(m.Entry)
		entry, err := s.index.Entry(m.Entry)
		if err != nil {
			return nil, fmt.Errorf("reading entry %d of the index: %w", m.Entry, err)
		}
		hits = append(hits, Hit{
			List: info.List, ID: entry.ID, Name: m.Name, Score: m.Score, Explanation: s.explain(q, &m, info),
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
