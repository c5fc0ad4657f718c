package catalog

import (
	"cmp"
	"runtime"
	"slices"

	"sluice/shared/screening/match"
)

// Screener looks names up in several lists. Its result is the same as from one index of all these lists.
// It is not safe for concurrent use; several may share their lists.
type Screener struct {
	lists     []Loaded
	screeners []*match.Screener
}

// NewScreener returns a screener of lists.
func NewScreener(lists ...Loaded) *Screener {
	s := &Screener{lists: lists}
	for _, l := range lists {
		s.screeners = append(s.screeners, match.NewScreener(l.index))
	}
	return s
}

// Found is a hit and its list.
type Found struct {
	match.Hit
	// Source is the list; Hit.List is its name.
	Source *Loaded
}

// Screen returns the entries that reach the threshold, best first; of equal scores, in the order of the lists and of
// their entries.
func (s *Screener) Screen(q match.Query, threshold float64) ([]Found, error) {
	defer runtime.KeepAlive(s) // an index is unmapped when nothing refers to it any more
	var found []Found
	for i, screener := range s.screeners {
		hits, err := screener.Screen(q, threshold)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			found = append(found, Found{Hit: h, Source: &s.lists[i]})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return found, nil
}
