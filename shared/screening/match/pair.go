package match

import (
	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// Pair compares two names of the given schema, as a query and an entry, and returns a score of 0 to 100.
func Pair(query, entry string, schema watchlist.Schema) float64 {
	analyzer := NewAnalyzer()
	q, l := analyzer.Analyze(query), analyzer.Analyze(entry)
	if !q.CanMatch(schema) || !l.CanMatch(schema) {
		return 0
	}
	best := 0
	var c comparer
	for _, mode := range modesOf(schema) {
		qf, lf := q.comparableForm(mode), l.comparableForm(mode)
		best = max(best, c.compare(&qf, &lf, mode))
	}
	return points(best)
}

// modesOf returns the modes of comparison for names of a schema: both if the bearer may be a person.
func modesOf(schema watchlist.Schema) []names.Mode {
	switch schema {
	case watchlist.Person:
		return []names.Mode{names.Person}
	case watchlist.Unknown, "":
		return []names.Mode{names.Person, names.Organisation}
	}
	return []names.Mode{names.Organisation}
}

// points returns a score for people, 0 to 100 with one decimal, cut so that none reaches a threshold by rounding.
func points(score int) float64 { return float64(score/10) / 10 }
