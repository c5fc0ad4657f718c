// Package lookup searches watchlists for the entities of screening batches and returns its findings in the form of
// matches. It is the built-in provider, without its execution.
package lookup

import (
	"cmp"
	"slices"
	"strings"
	"time"

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
