package match

import (
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"sluice/shared/screening/watchlist"
)

// The index finds what comparing with every name finds, on real lists and queries, which are not part of the
// repository: SLUICE_SCREENING_LIST names a list as FORMAT:FILE, SLUICE_SCREENING_QUERIES a CSV file whose first column
// has names.
func TestIndexFindsWhatComparingFindsOnRealLists(t *testing.T) {
	format, path, found := cutList(os.Getenv("SLUICE_SCREENING_LIST"))
	if !found {
		t.Skip("SLUICE_SCREENING_LIST and SLUICE_SCREENING_QUERIES name no list and queries")
	}
	list, err := watchlist.Read(format, watchlist.FileSource(path))
	if err != nil {
		t.Fatal(err)
	}
	x := Build(Source{Name: "real", Format: format, List: list})
	file, err := os.Open(os.Getenv("SLUICE_SCREENING_QUERIES"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := newBruteForce(x)
	s := NewSearcher(x)
	hits := 0
	for _, row := range rows[1:] {
		q := Query{Name: row[0]}
		for _, threshold := range []int{6000, Threshold * 100} {
			got, want := s.find(q, threshold), all.find(q, threshold)
			if len(got)+len(want) > 0 && !slices.Equal(got, want) {
				t.Errorf("find(%q, %d) = %v, want %v", row[0], threshold, got, want)
			}
			hits += len(want)
		}
	}
	t.Logf("%d queries, %d hits", len(rows)-1, hits)
}
