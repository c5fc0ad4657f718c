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
	// List is the name of the list, ID the source's ID of the entry.
	List string `json:"list"`
	ID   string `json:"id"`
	// Name is the name of the entry that matched best.
	Name string `json:"name"`
	// Score is 0 to 100.
	Score float64 `json:"score"`
	// Explanation describes the matched words, their similarity, the missing words, and the version of the list.
	Explanation string `json:"explanation"`
	// Entry is the entry of the list.
	Entry *watchlist.Entry `json:"-"`
	// place is the place of the entry in its index.
	place uint32
}

// Screener searches an index and explains its hits. It is not safe for concurrent use; several may share an index.
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
	found := hitSet{screener: s, query: &q, threshold: threshold, places: map[uint32]int{},
		identified: map[uint32][]string{}}
	for _, value := range q.Identifiers {
		for _, entry := range s.index.identified(value) {
			found.identified[entry] = append(found.identified[entry], value)
			err := found.add(entry, func(e *watchlist.Entry, info *Info) Hit {
				return Hit{Name: e.Names[0].Text, Score: identifierPoints,
					Explanation: "same identifier " + value + describeList(info)}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	for _, m := range s.searcher.Find(q, threshold) {
		if err := found.addName(&m, (*Query).qualify); err != nil {
			return nil, err
		}
	}
	if q.BirthDate != "" {
		for _, m := range s.searcher.FindWeak(q, threshold) {
			if err := found.addName(&m, (*Query).qualifyWeak); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(found.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.place, b.place))
	})
	return found.hits, nil
}

// hitSet collects the hits of a query, the best of each entry.
type hitSet struct {
	screener  *Screener
	query     *Query
	threshold float64
	hits      []Hit
	// places are the places of entries in hits.
	places map[uint32]int
	// identified are the identifiers that the query shares with entries.
	identified map[uint32][]string
}

// addName adds an entry with a found name, after comparing its facts.
func (h *hitSet) addName(m *Matched, qualify func(*Query, *watchlist.Entry, float64) (float64, []string)) error {
	return h.add(m.Entry, func(e *watchlist.Entry, info *Info) Hit {
		score, notes := qualify(h.query, e, m.Score)
		if score < h.threshold {
			return Hit{}
		}
		for _, value := range h.identified[m.Entry] {
			notes = append(notes, "same identifier "+value)
		}
		// The text is copied, so that hits outlive the index.
		return Hit{Name: strings.Clone(m.Name), Score: score, Explanation: h.screener.explain(*h.query, m, info, notes)}
	})
}

// add adds an entry unless it is below the threshold, of another list, or already there with as high a score.
func (h *hitSet) add(entry uint32, hit func(e *watchlist.Entry, info *Info) Hit) error {
	index := h.screener.index
	info := index.listOf(entry)
	if len(h.query.Lists) > 0 && !slices.Contains(h.query.Lists, info.List) {
		return nil
	}
	e, err := index.Entry(entry)
	if err != nil {
		return fmt.Errorf("reading entry %d of the index: %w", entry, err)
	}
	found := hit(&e, info)
	if found.Score < h.threshold || found.Explanation == "" {
		return nil
	}
	found.List, found.ID, found.Entry, found.place = info.List, e.ID, &e, entry
	place, isThere := h.places[entry]
	switch {
	case !isThere:
		h.places[entry] = len(h.hits)
		h.hits = append(h.hits, found)
	case found.Score > h.hits[place].Score:
		h.hits[place] = found
	}
	return nil
}

// explain describes the match of the query and the name of a hit.
func (s *Screener) explain(q Query, m *Matched, info *Info, notes []string) string {
	query, list := s.analyzer.Analyze(q.Name), s.analyzer.Analyze(m.Name)
	qf, lf := query.comparableForm(m.mode), list.comparableForm(m.mode)
	var b strings.Builder
	b.WriteString(s.comparer.explain(&qf, &lf, m.mode))
	if m.mode == names.Organisation && query.forms|list.forms != 0 {
		b.WriteString("; organisation forms do not count")
	}
	b.WriteString("; " + describeKind(m.Kind))
	for _, note := range notes {
		b.WriteString("; " + note)
	}
	if query.Truncated {
		b.WriteString("; the name was too long to be read to its end")
	}
	return b.String() + describeList(info)
}

// describeKind describes the kind of an entry's name.
func describeKind(kind watchlist.NameKind) string {
	switch kind {
	case watchlist.Primary:
		return "primary name of the entry"
	case watchlist.Weak:
		return fmt.Sprintf("weak alias of the entry, which alone counts %d %%", weakPercent)
	case watchlist.Previous:
		return "previous name of the entry"
	}
	return "alias of the entry"
}

// describeList describes the version of a list.
func describeList(info *Info) string {
	text := "; list " + info.List
	if info.SourceDate != "" {
		text += " of " + info.SourceDate[:len("2006-01-02")]
	}
	return text + ", version " + info.Version[:12]
}
