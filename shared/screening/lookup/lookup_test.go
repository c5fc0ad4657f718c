package lookup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/lookup"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

func TestQuestions(t *testing.T) {
	t.Parallel()
	questions := lookup.Questions(screening.SearchCriteria{Type: screening.Individual, FirstName: "Ivan",
		LastName:    "Petrov",
		DateOfBirth: "17/03/1968", Gender: "M", Nationality: "Russia", CitizenshipISO2: "RU",
		CountryOfResidence: "Latvia",
		Citizenship:        "Russia", PassportNumber: "AB 12345", IDNumber: " ",
		UniqueID: "not a number of a document"},
		[]screening.Alias{{ID: "a", FullName: "Vanya"}, {ID: "blank", FullName: " "},
			{ID: "b", FirstName: "I.", LastName: "Petroff"}})
	facts := match.Query{Schema: watchlist.Person, BirthDate: "1968-03-17", Gender: "male",
		Countries: []string{"Russia", "RU", "Latvia"}}
	want := []lookup.Question{{AliasID: screening.PrimaryName, Query: facts}, {AliasID: "a", Query: facts},
		{AliasID: "b", Query: facts}}
	for i, name := range []string{"Ivan Petrov", "Vanya", "I. Petroff"} {
		want[i].Query.Name = name
	}
	want[0].Query.Identifiers = []string{"AB 12345"}
	difftest.Equal(t, "the result", want, questions)
	company := lookup.Facts(screening.SearchCriteria{Type: screening.Company, DateOfBirth: "31/02/1968",
		Gender: "other"})
	difftest.Equal(t, "a company", match.Query{Schema: watchlist.Organisation}, company)
}

// scripted are lists with given hits by the name of the query.
type scripted map[string][]catalog.Found

func (s scripted) Screen(q match.Query, _ float64) ([]catalog.Found, error) { return s[q.Name], nil }

func hit(list, id string, score float64) catalog.Found {
	return catalog.Found{Hit: match.Hit{List: list, ID: id, Score: score, Name: fmt.Sprint(id, " at ", score)}}
}

// An entry that several names reach is one match, with the best score and all names that reached it.
func TestFindMergesNames(t *testing.T) {
	t.Parallel()
	lists := scripted{"A": {hit("un", "1", 90), hit("eu", "1", 85)}, "B": {hit("un", "1", 95), hit("un", "2", 99)}}
	matches, err := lookup.Find(lists, []lookup.Question{{AliasID: "PrimaryName", Query: match.Query{Name: "A"}},
		{AliasID: "b", Query: match.Query{Name: "B"}}, {AliasID: "c", Query: match.Query{Name: "C"}}}, 80)
	var got []string
	for _, m := range matches {
		got = append(got, fmt.Sprint(lookup.UniqueID(m.Found), " ", m.Found.Score, " ", m.AliasIDs))
	}
	want := []string{"un:2 99 [b]", "un:1 95 [PrimaryName b]", "eu:1 85 [PrimaryName]"}
	errtest.Fatal(t, err)
	difftest.Equal(t, "result", want, got)
}

// find imports an entry and returns the hits of a name.
func find(t *testing.T, e watchlist.Entry, name string) catalog.Found {
	t.Helper()
	lists := catalogtest.NewMemory()
	lists.Import(t, catalog.Shared, "un", e)
	loaded := errtest.Must(lists.Loader().Current(t.Context(), "tenant", nil))(t)
	found := errtest.Must(catalog.NewScreener(loaded...).Screen(match.Query{Name: name}, match.Threshold))(t)
	difftest.Equal(t, "hits", 1, len(found))
	return found[0]
}

func TestDataOf(t *testing.T) {
	t.Parallel()
	e := catalogtest.Person("6908555", "Ivan Petrov", "Vanya Petroff")
	e.BirthDates, e.Countries, e.Gender = []string{"1968", "1969-01-02"}, []string{"ru", "lv"}, "male"
	e.Identifiers = []watchlist.Identifier{{Type: "passport", Value: "AB12345", Country: "ru"}}
	e.Programs, e.SourceURL = []string{"TALIBAN"}, "https://example.com/6908555"
	f := find(t, e, "Petrov Ivan")
	d := lookup.DataOf(f, catalogtest.Now.AddDate(0, 0, 4))
	info := map[string]string{}
	for _, i := range d.AdditionalInfo {
		info[i.Label] = i.Value
	}
	if !strings.Contains(info["Explanation"], `"Ivan" = "Ivan"`) {
		t.Errorf("the explanation is %q", info["Explanation"])
	}
	delete(info, "Explanation")
	want := map[string]string{"Matched name": "Ivan Petrov", "List": "un", "List version": f.Source.Version.Version,
		"List date": catalogtest.Now.AddDate(0, 0,
			-1).Format(time.DateOnly), "List age": "5 days", "Programs": "TALIBAN",
		"List imported": catalogtest.Now.Format(time.RFC3339), "Countries": "RU, LV"}
	difftest.Equal(t, "additionalInfo", want, info)
	d.AdditionalInfo = nil
	text := func(s string) *string { return &s }
	score := f.Score
	wantData := screening.MatchData{ProviderID: "sluice", ProviderSourceName: "un", Name: "Ivan Petrov",
		ExternalIDs: []screening.ExternalID{{Source: "un", Name: "id",
			Value: "6908555"}}, Aliases: []string{"Vanya Petroff"},
		Gender: text("Male"), BirthDates: []string{"1968",
			"1969-01-02"}, Country: text("RU"), EntityType: text("Individual"),
		Score: &score, ProviderSourceURL: text("https://example.com/6908555"),
		ProviderSourceURLs: []screening.SourceURL{{URL: "https://example.com/6908555", Label: text("un")}},
		IDs:                []screening.Identifier{{Type: "passport", Value: "AB12345", Country: text("RU")}},
		Categories:         []string{"Sanctions"}, Sources: []string{"un"}}
	difftest.Equal(t, "the result", wantData, d)
}

// Lists are made by others: only web addresses are shown as such.
func TestDataOfLeavesOutScripts(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"javascript:alert(1)", "/6908555",
		"https://example.com/" + strings.Repeat("x", screening.MaxURL)} {
		e := catalogtest.Person("1", "Ivan Petrov")
		e.SourceURL = url
		d := lookup.DataOf(find(t, e, "Ivan Petrov"), catalogtest.Now)
		if d.ProviderSourceURL != nil || len(d.ProviderSourceURLs) != 0 {
			t.Errorf("%.40s: got %v and %+v, want no URL", url, *d.ProviderSourceURL, d.ProviderSourceURLs)
		}
	}
}

// An entry of any size is a match that can be stored, with a note on the parts left out.
func TestDataOfLargeEntriesFits(t *testing.T) {
	t.Parallel()
	e := catalogtest.Person("1", "Ivan Petrov", strings.Repeat("Ж", 40_000))
	for i := range 400 {
		e.Names = append(e.Names, watchlist.Name{Text: fmt.Sprintf("Ivan Petrov %d %s", i, strings.Repeat("<é", 80)),
			Kind: watchlist.Alias})
		e.Identifiers = append(e.Identifiers, watchlist.Identifier{Value: strings.Repeat("\u2028", 400)})
	}
	d := lookup.DataOf(find(t, e, "Ivan Petrov"), catalogtest.Now)
	text, err := json.Marshal(d.WithLists())
	if err != nil || len(text) > screening.MaxMatchBytes {
		t.Errorf("got %d bytes, %v, want at most %d", len(text), err, screening.MaxMatchBytes)
	}
	if last := d.AdditionalInfo[len(d.AdditionalInfo)-1]; last.Label != "Left out" ||
		!strings.Contains(last.Value, " of the 801 names") {
		t.Errorf("got %+v, want a note on the parts left out", last)
	}
	if !json.Valid(text) || strings.Contains(string(text), "\uFFFD") {
		t.Error("a text was cut inside a character")
	}
}
