package match

import (
	"fmt"
	"slices"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/names"
	"sluice/shared/screening/watchlist"
)

// sampleIndex is the index of the repository's own list, whose entries are invented.
func sampleIndex(t testing.TB) *Index {
	t.Helper()
	list, err := watchlist.Read(watchlist.TargetsSimpleCSV, watchlist.FileSource("../../../sampledata/watchlist.csv"))
	errtest.Fatal(t, err)
	if list.ProblemCount > 0 {
		t.Fatalf("the list has problems: %v", list.Problems)
	}
	return Build(Source{Name: "sample", Format: watchlist.TargetsSimpleCSV, List: list})
}

// sampleQueries are queried names with their entries, "" for none.
var sampleQueries = map[string]string{
	"Anatoly Velkanov":                     "sl-1",
	"Anatolij Borissowitsch Welkanow":      "sl-1",
	"Велканов Анатолий":                    "sl-1",
	"Anatoly Velkanvo":                     "sl-1",
	"Abdul Rahman Yusuf Al Mazruqi":        "sl-2",
	"عبدالرحمن يوسف المزروقي":              "sl-2",
	"Pak Myongjun":                         "sl-3",
	"Vektor Steel Factory OOO":             "sl-4",
	"Harborline Shipping & Trading":        "sl-5",
	"Ignacio Quintero M.":                  "sl-6",
	"Ignacio Quintero":                     "",
	"Tatiana Hrybovskaya":                  "sl-7",
	"Sergei Kostyushko":                    "sl-13",
	"Nurettin Ozguclu":                     "sl-10",
	"MUKANDOLI Jean-Baptiste":              "sl-11",
	"Hosein Farokhnejad":                   "sl-14",
	"Sociedad Inventada de Minerales":      "sl-15",
	"Anatoly Petrov":                       "",
	"Boris Velkanov":                       "",
	"Ltd":                                  "",
	"OOO":                                  "",
	"Dr. bin":                              "",
	"":                                     "",
	"!!!":                                  "",
	"Maria Ignacia Gomez":                  "",
	"محمد":                                 "",
	"Open Joint Stock Company":             "",
	"Trading Co. Ltd.":                     "",
	"J. B. M.":                             "",
	"The":                                  "",
	"Jean Mukandoli Baptiste":              "sl-11",
	"Abd al-Rahman bin Yusuf al-Mazruqi x": "sl-2",
}

func TestFind(t *testing.T) {
	s := NewScreener(sampleIndex(t))
	for name, want := range sampleQueries {
		t.Run(name, func(t *testing.T) {
			hits := errtest.Must(s.Screen(Query{Name: name}, Threshold))(t)
			got := ""
			if len(hits) > 0 {
				got = hits[0].ID
			}
			difftest.Equal(t, fmt.Sprintf("the best hit; hits: %+v", hits), want, got)
		})
	}
}

// The index finds the same names as a comparison with every name, at any threshold.
func TestIndexFindsWhatComparingFinds(t *testing.T) {
	x := sampleIndex(t)
	var queries []string
	for name := range sampleQueries {
		queries = append(queries, name)
	}
	for i := range x.names {
		queries = append(queries, x.text(uint32(i)))
	}
	slices.Sort(queries)
	s, all := NewSearcher(x), newBruteForce(x)
	for _, threshold := range []int{1, 5000, 7000, Threshold * 100, 9500, scale} {
		for _, name := range queries {
			got := slices.Clone(s.find(Query{Name: name}, threshold))
			want := all.find(Query{Name: name}, threshold)
			if !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("find(%q, %d) = %v, want %v", name, threshold, got, want)
			}
		}
	}
}

// bruteForce compares with every name of an index.
type bruteForce struct {
	x        *Index
	analyzer *Analyzer
	forms    []form
	comparer comparer
}

func newBruteForce(x *Index) *bruteForce {
	b := &bruteForce{x: x, analyzer: NewAnalyzer()}
	for i := range x.names {
		b.forms = append(b.forms, b.analyzer.Analyze(x.text(uint32(i))).comparableForm(x.names[i].mode))
	}
	return b
}

// find is Searcher.find without an index.
func (b *bruteForce) find(q Query, threshold int) []candidate {
	var found []candidate
	query := b.analyzer.Analyze(q.Name)
	if !query.CanMatch(q.Schema) {
		return nil
	}
	forms := [names.Modes]form{}
	for mode := range forms {
		forms[mode] = query.comparableForm(names.Mode(mode))
	}
	for i := range b.x.names {
		r := &b.x.names[i]
		if !slices.Contains(modesOf(q.Schema), r.mode) {
			continue
		}
		score := b.comparer.compare(&forms[r.mode], &b.forms[i], r.mode)
		if r.kind == watchlist.Weak {
			score = score * weakPercent / 100
		}
		if score >= max(threshold, 1) {
			found = append(found, candidate{uint32(i), score})
		}
	}
	return found
}
