package main

import (
	"fmt"
	"slices"
	"unicode"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// outcome is what a threshold gives.
type outcome struct {
	// recall is the share of positives that hit anything, right of those that hit the right entry.
	recall, right float64
	// falseRate is the share of negatives that hit anything.
	falseRate float64
	f1        float64
	// half1 are those of the pairs with even and odd numbers.
	half1 [2]float64
}

// scores are the scores from which the outcome at any threshold follows.
type scores struct {
	best, right, negatives []float64
	pairs                  []float64
}

// lowestThreshold is the least threshold of which the curve is shown.
const lowestThreshold = 60

func scoresOf(d *data, x *match.Index) scores {
	var s scores
	searcher := match.NewSearcher(x)
	for _, p := range d.positives {
		best, right := 0.0, 0.0
		for _, m := range searcher.Find(match.Query{Name: p.name}, lowestThreshold) {
			best = max(best, m.Score)
			if e, err := x.Entry(m.Entry); err == nil && slices.Contains(p.ids, e.ID) {
				right = max(right, m.Score)
			}
		}
		s.best, s.right = append(s.best, best), append(s.right, right)
	}
	for _, name := range d.negatives {
		best := 0.0
		for _, m := range searcher.Find(match.Query{Name: name}, lowestThreshold) {
			best = max(best, m.Score)
		}
		s.negatives = append(s.negatives, best)
	}
	for _, p := range d.pairs {
		s.pairs = append(s.pairs, match.Pair(p.name1, p.name2, watchlist.Schema(p.schema)))
	}
	return s
}

// at returns the outcome at a threshold.
func (s *scores) at(d *data, threshold float64) outcome {
	return outcome{
		recall: share(s.best, threshold), right: share(s.right, threshold), falseRate: share(s.negatives, threshold),
		f1: f1(d, s, threshold, func(int) bool { return true }),
		half1: [2]float64{f1(d, s, threshold, func(i int) bool { return i%2 == 0 }),
			f1(d, s, threshold, func(i int) bool { return i%2 == 1 })},
	}
}

// share returns the share of scores that reach a threshold.
func share(scores []float64, threshold float64) float64 {
	n := 0
	for _, s := range scores {
		if s >= threshold {
			n++
		}
	}
	return float64(n) / float64(len(scores))
}

// f1 returns the harmonic mean of precision and recall of the chosen pairs.
func f1(d *data, s *scores, threshold float64, isChosen func(i int) bool) float64 {
	var hits, wrong, missed float64
	for i, p := range d.pairs {
		switch isHit := s.pairs[i] >= threshold; {
		case !isChosen(i):
		case isHit && p.isMatch:
			hits++
		case isHit:
			wrong++
		case p.isMatch:
			missed++
		}
	}
	return 2 * hits / (2*hits + wrong + missed)
}

func printQuality(d *data, x *match.Index) {
	s := scoresOf(d, x)
	o := s.at(d, match.Threshold)
	fmt.Printf("\nQuality at threshold %d\n", match.Threshold)
	fmt.Printf("  positives (%d): any hit %.3f, the right entry %.3f\n", len(d.positives), o.recall, o.right)
	fmt.Printf("  negatives (%d): false hits %.3f %%\n", len(d.negatives), 100*o.falseRate)
	fmt.Printf("  pairs (%d): F1 %.3f; even rows %.3f, odd rows %.3f\n", len(d.pairs), o.f1, o.half1[0], o.half1[1])
	for _, p := range []struct {
		what     string
		scores   []float64
		rowsEach int
	}{{"positives that hit the right entry", s.right, 2}, {"negatives that hit anything", s.negatives, 1}} {
		even, odd := half(p.scores, p.rowsEach, 0), half(p.scores, p.rowsEach, 1)
		fmt.Printf("  %s, even rows: %d of %d, odd rows: %d of %d\n", p.what, count(even), len(even), count(odd),
			len(odd))
	}
	for _, kind := range []string{"persons", "organisations"} {
		for _, script := range []struct {
			name  string
			table *unicode.RangeTable
		}{{"Arabic", unicode.Arabic}, {"Cyrillic", unicode.Cyrillic}} {
			found := scriptScores(d, script.table, kind == "persons")
			others := len(found) - len(slices.DeleteFunc(slices.Clone(found), func(s float64) bool { return s == 0 }))
			fmt.Printf("  %s names of %s of the lists against their primary names: %d of %d reach the threshold; %d "+
				"have no word in common\n",
				script.name, kind, count(found), len(found), others)
		}
	}
}

// half returns the scores of the rows with even or odd numbers, each of which has so many scores.
func half(scores []float64, rowsEach, remainder int) []float64 {
	var half []float64
	for i, s := range scores {
		if i/rowsEach%2 == remainder {
			half = append(half, s)
		}
	}
	return half
}

// count returns the number of scores that reach the threshold.
func count(scores []float64) int {
	n := 0
	for _, s := range scores {
		if s >= match.Threshold {
			n++
		}
	}
	return n
}

// scriptScores compares the names of persons or of organisations in a script with their primary names.
func scriptScores(d *data, script *unicode.RangeTable, isPerson bool) []float64 {
	var scores []float64
	for _, source := range d.sources {
		for _, e := range source.List.Entries {
			for _, n := range e.Names[1:] {
				if (e.Schema == watchlist.Person) == isPerson &&
					slices.ContainsFunc([]rune(n.Text), func(r rune) bool { return unicode.Is(script, r) }) {
					scores = append(scores, match.Pair(n.Text, e.Names[0].Text, e.Schema))
				}
			}
		}
	}
	return scores
}

// printCurve shows what each threshold buys.
func printCurve(d *data, x *match.Index) {
	s := scoresOf(d, x)
	fmt.Printf("\nWhat a threshold buys\n  threshold  missed of 1,000 positives  false hits of 100,000 negatives  F1 " +
		"of pairs\n")
	for threshold := float64(lowestThreshold); threshold <= 95; threshold += 5 {
		o := s.at(d, threshold)
		fmt.Printf("  %9.0f  %25.1f  %30.0f  %11.3f\n", threshold, 1000*(1-o.right), 100_000*o.falseRate, o.f1)
	}
}
