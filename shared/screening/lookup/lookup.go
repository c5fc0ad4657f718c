// Package lookup searches watchlists for the entities of screening batches and returns its findings in the form of
// matches. It is the built-in provider, without its execution.
package lookup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// Lists are the lists that are searched; catalog.Screener implements it.
type Lists interface {
	// Screen returns the entries that reach the threshold, best first.
	Screen(q match.Query, threshold float64) ([]catalog.Found, error)
}

// Question is a name of an entity to look up.
type Question struct {
	// AliasID is the ID of the alias whose name it is; screening.PrimaryName for the main name.
	AliasID string
	Query   match.Query
}

// Questions returns the names of an entity to look up, each with the known facts about the entity. Names
// of white space are left out. Only the first has the identifiers: they are the same for all.
func Questions(c screening.SearchCriteria, aliases []screening.Alias) []Question {
	facts := Facts(c)
	questions := []Question{{screening.PrimaryName, facts}}
	questions[0].Query.Name = c.Name()
	facts.Identifiers = nil
	for _, a := range aliases {
		if facts.Name = a.Name(); strings.TrimSpace(facts.Name) != "" {
			questions = append(questions, Question{a.ID, facts})
		}
	}
	return questions
}

// Facts returns what search criteria say beside the name.
func Facts(c screening.SearchCriteria) match.Query {
	q := match.Query{Schema: watchlist.Person, BirthDate: birthDate(c.DateOfBirth), Gender: gender(c.Gender)}
	if c.Type == screening.Company {
		q.Schema = watchlist.Organisation
	}
	for _, country := range []string{c.Nationality, c.Citizenship, c.CitizenshipISO2, c.CitizenshipISO3,
		c.CountryOfResidence,
		c.RegisteredCountry, c.RegisteredCountryISO2, c.RegisteredCountryISO3} {
		q.Countries = appendNew(q.Countries, country)
	}
	for _, id := range []string{c.IDNumber, c.PassportNumber, c.SocialSecurityNumber, c.DriversLicense,
		c.EmployerIdentificationNumber} {
		q.Identifiers = appendNew(q.Identifiers, id)
	}
	return q
}

func appendNew(list []string, text string) []string {
	if text = strings.TrimSpace(text); text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// birthDate turns DD/MM/YYYY into YYYY-MM-DD, and everything else into "".
func birthDate(text string) string {
	at, err := time.Parse("02/01/2006", strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	return at.Format(time.DateOnly)
}

// gender returns "male", "female" or "" if it is not known.
func gender(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "male", "m":
		return "male"
	case "female", "f":
		return "female"
	}
	return ""
}

// Match is an entry that a name of an entity has reached.
type Match struct {
	// AliasIDs are the names that reached it, in the order of the questions.
	AliasIDs []string
	// Found is the best of the hits.
	Found catalog.Found
}

// UniqueID returns what identifies an entry over versions of its list.
func UniqueID(f catalog.Found) string { return f.List + ":" + f.ID }

// Find looks an entity up by all of its names. It returns each entry once, best first, with the names that reached it.
func Find(lists Lists, questions []Question, threshold float64) ([]Match, error) {
	var matches []Match
	place := map[string]int{}
	for _, q := range questions {
		found, err := lists.Screen(q.Query, threshold)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			i, ok := place[UniqueID(f)]
			if !ok {
				i = len(matches)
				place[UniqueID(f)] = i
				matches = append(matches, Match{Found: f})
			}
			m := &matches[i]
			if !slices.Contains(m.AliasIDs, q.AliasID) {
				m.AliasIDs = append(m.AliasIDs, q.AliasID)
			}
			if f.Score > m.Found.Score {
				m.Found = f
			}
		}
	}
	slices.SortStableFunc(matches, func(a, b Match) int { return cmp.Compare(b.Found.Score, a.Found.Score) })
	return matches, nil
}

// Labels of the facts in additionalInfo.
const (
	labelExplanation = "Explanation"
	labelMatchedName = "Matched name"
	labelList        = "List"
	labelVersion     = "List version"
	labelSourceDate  = "List date"
	labelImported    = "List imported"
	labelAge         = "List age"
	labelPrograms    = "Programs"
	labelCountries   = "Countries"
	labelLeftOut     = "Left out"
)

// maxTextBytes is the length of the longest text that is copied from an entry.
const maxTextBytes = 1 << 10

// spareBytes is the reserve in a match for its other stored parts.
const spareBytes = 1 << 10

// DataOf returns the data of a match with an entry at a time, which determines the age of the list. Parts that would
// make it larger than a match may be are left out, with a note on that, and so is a URL that is no web address.
func DataOf(f catalog.Found, at time.Time) screening.MatchData {
	e, score := f.Entry, f.Score
	d := screening.MatchData{ProviderID: screening.BuiltIn, ProviderSourceName: f.List, Name: shorten(e.Names[0].Text),
		ExternalIDs: []screening.ExternalID{{Source: f.List, Name: "id", Value: e.ID}},
		Gender:      genderOf(e.Gender), BirthDates: e.BirthDates, EntityType: new(entityType(e.Schema)),
		Score:      &score,
		Categories: []string{"Sanctions"}, Sources: []string{f.List}}
	for _, n := range e.Names[1:] {
		d.Aliases = append(d.Aliases, shorten(n.Text))
	}
	if len(e.Countries) > 0 {
		d.Country = new(shorten(strings.ToUpper(e.Countries[0])))
	}
	if screening.IsWebAddress(e.SourceURL) {
		d.ProviderSourceURL = &e.SourceURL
		d.ProviderSourceURLs = []screening.SourceURL{{URL: e.SourceURL, Label: &f.List}}
	}
	for _, id := range e.Identifiers {
		one := screening.Identifier{Type: shorten(id.Type), Value: shorten(id.Value)}
		if id.Country != "" {
			one.Country = new(shorten(strings.ToUpper(id.Country)))
		}
		d.IDs = append(d.IDs, one)
	}
	d.AdditionalInfo = info(f, at)
	return fit(d)
}

// info returns the explanation of the match, and the version and the list of the entry.
func info(f catalog.Found, at time.Time) []screening.InfoField {
	v, e := f.Source.Version, f.Entry
	fields := []screening.InfoField{
		{Label: labelExplanation, Value: shorten(f.Explanation)},
		{Label: labelMatchedName, Value: shorten(f.Name)},
		{Label: labelList, Value: f.List},
		{Label: labelVersion, Value: v.Version},
	}
	if !v.SourceDate.IsZero() {
		fields = append(fields, screening.InfoField{Label: labelSourceDate,
			Value: v.SourceDate.UTC().Format(time.DateOnly)})
	}
	fields = append(fields,
		screening.InfoField{Label: labelImported, Value: v.ImportedAt.UTC().Format(time.RFC3339)},
		screening.InfoField{Label: labelAge, Value: days(v.Age(at))})
	if len(e.Programs) > 0 {
		fields = append(fields, screening.InfoField{Label: labelPrograms,
			Value: shorten(strings.Join(e.Programs, ", "))})
	}
	if len(e.Countries) > 1 {
		countries := strings.ToUpper(strings.Join(e.Countries, ", "))
		fields = append(fields, screening.InfoField{Label: labelCountries, Value: shorten(countries)})
	}
	return fields
}

func days(age time.Duration) string {
	if n := int(age / (24 * time.Hour)); n != 1 {
		return fmt.Sprintf("%d days", n)
	}
	return "1 day"
}

// fit halves the lists of the data until the data is small enough to be stored.
func fit(d screening.MatchData) screening.MatchData {
	total := len(d.Aliases) + len(d.IDs) + len(d.BirthDates)
	for size(d) > screening.MaxMatchBytes-spareBytes && len(d.Aliases)+len(d.IDs)+len(d.BirthDates) > 0 {
		d.Aliases = d.Aliases[:len(d.Aliases)/2]
		d.IDs = d.IDs[:len(d.IDs)/2]
		d.BirthDates = d.BirthDates[:len(d.BirthDates)/2]
	}
	if left := len(d.Aliases) + len(d.IDs) + len(d.BirthDates); left < total {
		d.AdditionalInfo = append(slices.Clip(d.AdditionalInfo), screening.InfoField{Label: labelLeftOut,
			Value: fmt.Sprintf("%d of the %d names, dates and identifiers of the entry", total-left, total)})
	}
	return d
}

func size(d screening.MatchData) int {
	text, _ := json.Marshal(d.WithLists()) // texts and a finite number
	return len(text)
}

// shorten cuts a text that is too long, between two characters.
func shorten(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	end := maxTextBytes
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func genderOf(gender string) *string {
	switch gender {
	case "male":
		return new("Male")
	case "female":
		return new("Female")
	}
	return nil
}

// entityType returns the type of an entry as matches name it.
func entityType(s watchlist.Schema) string {
	switch s {
	case watchlist.Person:
		return screening.Individual
	case watchlist.Organisation, watchlist.Unknown:
		return screening.Company
	}
	return "Other"
}
