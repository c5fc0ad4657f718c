package match

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"sluice/shared/screening/watchlist"
)

// Points deducted for facts that differ between query and entry. A fact of only one of them changes nothing.
const (
	pointsBirthYear   = 25
	pointsBirthDay    = 15
	pointsBirthSwap   = 3
	pointsCountry     = 20
	pointsGender      = 20
	identifierPoints  = 97
	minIdentifierSize = 5
)

// Percentages of the score of a weak alias that remain if the dates of birth are the same to the day, or as far as they
// are known.
const (
	percentSameDay  = 98
	percentSameYear = 85
)

// qualify compares the facts of the query and the entry, and returns the changed score and the findings.
func (q *Query) qualify(e *watchlist.Entry, score float64) (float64, []string) {
	var notes []string
	subtract := func(points float64, format string, args ...any) {
		score = max(score-points, 0)
		notes = append(notes, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%v points less)", points))
	}
	if q.BirthDate != "" && len(e.BirthDates) > 0 {
		if points := birthPoints(q.BirthDate, e.BirthDates); points > 0 {
			subtract(points, "the entry was born %s, not %s", strings.Join(e.BirthDates, " or "), q.BirthDate)
		} else {
			notes = append(notes, "same date of birth as far as both are known")
		}
	}
	if len(q.Countries) > 0 && len(e.Countries) > 0 {
		isShared, areKnown := q.compareCountries(e)
		if isShared {
			notes = append(notes, "a country in common")
		} else if areKnown {
			subtract(pointsCountry, "the entry's countries are %s, not %s", strings.Join(e.Countries, ", "),
				strings.Join(q.Countries, ", "))
		}
	}
	if q.Gender != "" && e.Gender != "" && !strings.EqualFold(q.Gender, e.Gender) {
		subtract(pointsGender, "the entry is %s, not %s", e.Gender, q.Gender)
	}
	return score, notes
}

// compareCountries reports whether the entry has one of the query's countries, and whether all of the query's countries
// are known: an unknown one may mean a country of the entry, so that nothing is deducted.
func (q *Query) compareCountries(e *watchlist.Entry) (isShared, areKnown bool) {
	areKnown = true
	for _, text := range q.Countries {
		code, isKnown := watchlist.ParseCountry(text)
		isShared = isShared || slices.ContainsFunc(e.Countries, func(country string) bool {
			return watchlist.Country(country) == code // stored lists may have codes of three letters
		})
		areKnown = areKnown && isKnown
	}
	return isShared, areKnown
}

// qualifyWeak is qualify for a weak alias with the score of an ordinary name: it counts only if the dates of birth are
// the same.
func (q *Query) qualifyWeak(e *watchlist.Entry, score float64) (float64, []string) {
	percent := 0
	for _, date := range e.BirthDates {
		switch {
		case date == q.BirthDate && len(date) == len("2006-01-02"):
			percent = max(percent, percentSameDay)
		case birthDifference(q.BirthDate, date) == 0:
			percent = max(percent, percentSameYear)
		}
	}
	if percent == 0 {
		return 0, nil
	}
	score, notes := q.qualify(e, points(int(score*float64(percent)+0.5)))
	return score, append(notes, fmt.Sprintf("with the date of birth it counts %d %%", percent))
}

// birthPoints returns the points deducted for the best of an entry's dates of birth. A date may be a year or a month.
func birthPoints(asked string, dates []string) float64 {
	best := float64(pointsBirthYear)
	for _, date := range dates {
		best = min(best, birthDifference(asked, date))
	}
	return best
}

func birthDifference(a, b string) float64 {
	switch {
	case strings.HasPrefix(a, b) || strings.HasPrefix(b, a):
		return 0
	case len(a) < 4 || len(b) < 4 || a[:4] != b[:4]:
		return pointsBirthYear
	case len(a) == 10 && len(b) == 10 && a[5:7] == b[8:10] && a[8:10] == b[5:7]:
		return pointsBirthSwap // day and month in the other order
	}
	return pointsBirthDay
}

// identifierPost is an identifier of an entry.
type identifierPost struct {
	hash  uint64
	entry uint32
	_     uint32
}

// identifierHash returns a hash of the letters and digits of an identifier, 0 if they are too few.
func identifierHash(value string) uint64 {
	h := fnv.New64a()
	n := 0
	for _, r := range strings.ToUpper(value) {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			h.Write([]byte{byte(r)})
			n++
		}
	}
	if n < minIdentifierSize {
		return 0
	}
	return max(h.Sum64(), 1)
}

// sortIdentifiers sorts identifiers for lookups.
func (x *Index) sortIdentifiers() {
	slices.SortFunc(x.identifiers, func(a, b identifierPost) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.entry, b.entry))
	})
}

// identified returns the entries that have an identifier.
func (x *Index) identified(value string) []uint32 {
	hash := identifierHash(value)
	if hash == 0 {
		return nil
	}
	i, _ := slices.BinarySearchFunc(x.identifiers, hash, func(p identifierPost,
		h uint64) int {
		return cmp.Compare(p.hash, h)
	})
	var entries []uint32
	for ; i < len(x.identifiers) && x.identifiers[i].hash == hash; i++ {
		entries = append(entries, x.identifiers[i].entry)
	}
	return slices.Compact(entries)
}
