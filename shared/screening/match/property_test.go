package match

import (
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/watchlist"
)

// Names without distinctive words match nothing, not even themselves.
func TestNothingMatchesNothing(t *testing.T) {
	nothing := []string{
		"", " ", "...", "---", "\u200b\u200d", "Ltd", "LLC", "OOO", "S.A.", "GmbH", "Open Joint Stock Company", "ООО",
		"АО", "Общество с " +
			"ограниченной ответственностью", "Dr", "Sheikh", "Mr. Dr.", "bin", "al", "de la", "the", "of the", "A",
		"J. B.", "'", "ـ",
		"ءء", "و", "الشيخ", "بن", "في", "ООО", "АО", "и", "\u202e\u202d", "A. B.", "\u0301", "s/o", "Charity Fund",
		"Благотворительный фонд",
	}
	list := &watchlist.List{}
	for _, name := range nothing {
		for _, schema := range []watchlist.Schema{watchlist.Person, watchlist.Organisation, watchlist.Unknown} {
			for _, other := range append(nothing, "Anatoly Velkanov", "Harborline Shipping Ltd") {
				if score := Pair(name, other, schema); score > 0 && !isOtherwiseName(name, schema) {
					t.Errorf("Pair(%q, %q, %s) = %v, want 0", name, other, schema, score)
				}
			}
		}
		list.Entries = append(list.Entries, watchlist.Entry{
			ID: name, Schema: watchlist.Organisation, Names: []watchlist.Name{{Text: name}},
		})
	}
	s := NewScreener(Build(Source{Name: "nothing", List: list}))
	for _, name := range nothing {
		difftest.Len(t, fmt.Sprintf("%q hits", name), 0, errtest.Must(s.Screen(Query{Name: name}, 1))(t))
	}
}

// isOtherwiseName reports whether an indistinctive name may be one of an explicit schema: "Ltd" a person's, "Dr" an
// organisation's.
func isOtherwiseName(name string, schema watchlist.Schema) bool {
	switch name {
	case "Dr", "Sheikh", "Mr. Dr.", "bin", "الشيخ", "بن", "s/o":
		return schema == watchlist.Organisation
	case "Ltd", "LLC", "OOO", "GmbH", "Open Joint Stock Company", "ООО", "АО",
		"Общество с ограниченной ответственностью", "Charity Fund", "Благотворительный фонд":
		return schema == watchlist.Person
	}
	return false
}

// An Arabic name is a hit for itself, and not for a name without anything in common.
func TestArabicNames(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		isHit bool
	}{
		{"قصي صدام", "Ivan Petrov", false},
		{"ءء", "Ali Hassan", false},
		{"محمد علي", "Mohammad Ali", true},
		{"محمد علي", "Mahdi Saleh", false},
		{"عبد الرحمن المزروقي", "Abdulrahman al-Mazruqi", true},
	} {
		if score := Pair(test.a, test.b, watchlist.Person); score >= Threshold != test.isHit {
			t.Errorf("Pair(%q, %q) = %v, want a hit: %v", test.a, test.b, score, test.isHit)
		}
	}
}

// Facts of only the entry or only the query do not change the score.
func TestFactsOfOneSideAlone(t *testing.T) {
	bare := watchlist.Entry{ID: "1", Schema: watchlist.Person, Names: []watchlist.Name{{Text: "Anatoly Velkanov"}}}
	full := bare
	full.BirthDates, full.Countries, full.Gender = []string{"1958-03-14"}, []string{"ru"}, "male"
	full.Identifiers = []watchlist.Identifier{{Value: "AB1234567"}}
	scoreOf := func(e watchlist.Entry, q Query) float64 {
		s := NewScreener(Build(Source{Name: "one", List: &watchlist.List{Entries: []watchlist.Entry{e}}}))
		hits, err := s.Screen(q, 1)
		if err != nil || len(hits) != 1 {
			t.Fatalf("Screen: %v, %v", hits, err)
		}
		return hits[0].Score
	}
	name := Query{Name: "Anatoli Velkanov"}
	facts := Query{Name: name.Name, BirthDate: "1999", Countries: []string{"us"}, Gender: "female"}
	want := scoreOf(bare, name)
	difftest.Equal(t, "the score with facts of the entry alone", want, scoreOf(full, name))
	difftest.Equal(t, "the score with facts of the query alone", want, scoreOf(bare, facts))
	if got := scoreOf(full, facts); got >= want {
		t.Errorf("the score is %v with facts that differ, want less than %v", got, want)
	}
	// An unknown country may be the entry's own, and a code of three letters is known.
	for _, countries := range [][]string{{"Narnia"}, {"us", "Narnia"}, {"RUS"}, {"us", "rus"}} {
		if got := scoreOf(full, Query{Name: name.Name, Countries: countries}); got != want {
			t.Errorf("the score is %v with the countries %v, want %v", got, countries, want)
		}
	}
	difftest.Equal(t, "the score with other countries", want-pointsCountry,
		scoreOf(full, Query{Name: name.Name, Countries: []string{"USA", "Latvia"}}))
	full.Countries = []string{"rus"} // as lists have it that were imported when such codes were not recognised
	for _, country := range []string{"Russia", "RU", "RUS"} {
		if got := scoreOf(full, Query{Name: name.Name, Countries: []string{country}}); got != want {
			t.Errorf("the score is %v with %s and an entry that has rus, want %v", got, country, want)
		}
	}
	difftest.Equal(t, "the score with the same identifier", float64(identifierPoints),
		scoreOf(full, Query{Name: "Someone Else", Identifiers: []string{"ab 1234567"}}))
}

// The entries of a list do not change the scores of names of another list.
func TestListsDoNotChangeScores(t *testing.T) {
	sample := sampleIndex(t)
	other := &watchlist.List{Entries: []watchlist.Entry{
		{ID: "x", Schema: watchlist.Person, Names: []watchlist.Name{{Text: "Anatoly Anatolyevich"},
			{Text: "Velkanov Velkanov"}}},
	}}
	list, err := watchlist.Read(watchlist.TargetsSimpleCSV, watchlist.FileSource("../../../sampledata/watchlist.csv"))
	errtest.Fatal(t, err)
	both := NewScreener(Build(Source{Name: "other", List: other}, Source{Name: "sample", List: list}))
	alone := NewScreener(sample)
	for name := range sampleQueries {
		got := errtest.Must(both.Screen(Query{Name: name, Lists: []string{"sample"}}, 50))(t)
		want := errtest.Must(alone.Screen(Query{Name: name}, 50))(t)
		if len(got) != len(want) {
			t.Errorf("%q has %d hits in two lists, %d in one", name, len(got), len(want))
			continue
		}
		for i := range got {
			if got[i].ID != want[i].ID || got[i].Score != want[i].Score {
				t.Errorf("hit %d of %q is %+v in two lists, %+v in one", i, name, got[i], want[i])
			}
		}
	}
}

// A weak alias is a hit only together with the same date of birth or a shared identifier.
func TestWeakAliases(t *testing.T) {
	entry := watchlist.Entry{
		ID: "1", Schema: watchlist.Person, BirthDates: []string{"1958-03-14"},
		Identifiers: []watchlist.Identifier{{Value: "AB1234567"}},
		Names:       []watchlist.Name{{Text: "Anatoly Velkanov"}, {Text: "Boris Weakling", Kind: watchlist.Weak}},
	}
	s := NewScreener(Build(Source{Name: "one", List: &watchlist.List{Entries: []watchlist.Entry{entry}}}))
	for name, test := range map[string]struct {
		query Query
		want  float64
	}{
		"alone":      {Query{Name: "Boris Weakling"}, 78},
		"same day":   {Query{Name: "Boris Weakling", BirthDate: "1958-03-14"}, 98},
		"same year":  {Query{Name: "Boris Weakling", BirthDate: "1958"}, 85},
		"other day":  {Query{Name: "Boris Weakling", BirthDate: "1958-03-15"}, 78 - pointsBirthDay},
		"other year": {Query{Name: "Boris Weakling", BirthDate: "1959"}, 78 - pointsBirthYear},
		"same day, other country": {Query{Name: "Boris Weakling", BirthDate: "1958-03-14",
			Countries: []string{"us"}}, 98},
		"same identifier": {Query{Name: "Boris Weakling", Identifiers: []string{"AB-1234567"}},
			identifierPoints},
		"identifier and date": {Query{Name: "Boris Weakling", BirthDate: "1958-03-14",
			Identifiers: []string{"AB1234567"}}, 98},
		"another name, same day":     {Query{Name: "Someone Else", BirthDate: "1958-03-14"}, 0},
		"strong name, other year":    {Query{Name: "Anatoly Velkanov", BirthDate: "1999"}, 100 - pointsBirthYear},
		"strong name, same day":      {Query{Name: "Anatoly Velkanov", BirthDate: "1958-03-14"}, 100},
		"strong name and identifier": {Query{Name: "Anatoly Velkanov", Identifiers: []string{"AB1234567"}}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			hits := errtest.Must(s.Screen(test.query, 1))(t)
			got := 0.0
			if len(hits) > 0 {
				got = hits[0].Score
			}
			if len(hits) > 1 || got != test.want {
				t.Errorf("the hits are %+v, want one of %v", hits, test.want)
			}
		})
	}
}

// A query and an entry have the same score the other way round if all of their words match.
func TestScoresOfWholeNamesAreSymmetric(t *testing.T) {
	for _, pair := range [][2]string{
		{"Anatoly Velkanov", "Анатолий Велканов"}, {"Abdulrahman Yusuf", "عبد الرحمن يوسف"},
		{"Velkan Trading", "Торговля Велкан"},
		{"Kim Jong-uun", "Kim Jong-un"}, {"Sergei Welkanow", "Siarhei Velkanau"}, {"Baid Velkanov", "Abid Velkanov"},
	} {
		for _, schema := range []watchlist.Schema{watchlist.Person, watchlist.Organisation, watchlist.Unknown} {
			if a, b := Pair(pair[0], pair[1], schema), Pair(pair[1], pair[0], schema); a != b {
				t.Errorf("Pair(%q, %q, %s) is %v, and %v the other way round", pair[0], pair[1], schema, a, b)
			}
		}
	}
}
