package watchlist

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// unEntry is an INDIVIDUAL or ENTITY of the consolidated list.
type unEntry struct {
	DataID       string     `xml:"DATAID"`
	FirstName    string     `xml:"FIRST_NAME"`
	SecondName   string     `xml:"SECOND_NAME"`
	ThirdName    string     `xml:"THIRD_NAME"`
	FourthName   string     `xml:"FOURTH_NAME"`
	Original     string     `xml:"NAME_ORIGINAL_SCRIPT"`
	ListType     string     `xml:"UN_LIST_TYPE"`
	Gender       string     `xml:"GENDER"`
	Nationality  []string   `xml:"NATIONALITY>VALUE"`
	PersonAlias  []unAlias  `xml:"INDIVIDUAL_ALIAS"`
	EntityAlias  []unAlias  `xml:"ENTITY_ALIAS"`
	PersonPlaces []unPlace  `xml:"INDIVIDUAL_ADDRESS"`
	EntityPlaces []unPlace  `xml:"ENTITY_ADDRESS"`
	Births       []unBirth  `xml:"INDIVIDUAL_DATE_OF_BIRTH"`
	Documents    []unNumber `xml:"INDIVIDUAL_DOCUMENT"`
}

type unAlias struct {
	Quality string `xml:"QUALITY"`
	Name    string `xml:"ALIAS_NAME"`
}

type unPlace struct {
	Country string `xml:"COUNTRY"`
}

type unBirth struct {
	Type string `xml:"TYPE_OF_DATE"`
	Date string `xml:"DATE"`
	Year string `xml:"YEAR"`
	From string `xml:"FROM_YEAR"`
	To   string `xml:"TO_YEAR"`
}

type unNumber struct {
	Type    string `xml:"TYPE_OF_DOCUMENT"`
	Number  string `xml:"NUMBER"`
	Country string `xml:"ISSUING_COUNTRY"`
}

// readUN reads the consolidated list of the United Nations.
func readUN(source Source) (*List, error) {
	file, err := source("")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list := &List{}
	decoder := xml.NewDecoder(file)
	isRead := false
	for n := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "CONSOLIDATED_LIST":
			isRead = true
			for _, a := range start.Attr {
				if a.Name.Local == "dateGenerated" {
					list.SourceDate, _ = time.Parse(time.RFC3339, a.Value)
				}
			}
		case "INDIVIDUAL", "ENTITY":
			n++
			var e unEntry
			if err := decoder.DecodeElement(&e, &start); err != nil {
				return nil, fmt.Errorf("%s %d: %w", start.Name.Local, n, err)
			}
			list.addUN(&e, start.Name.Local == "INDIVIDUAL", n)
		}
	}
	if !isRead {
		return nil, errors.New("the file has no element CONSOLIDATED_LIST")
	}
	return list, nil
}

func (l *List) addUN(e *unEntry, isPerson bool, n int) {
	entry := Entry{ID: strings.TrimSpace(e.DataID), Schema: Organisation, Gender: gender(e.Gender)}
	if isPerson {
		entry.Schema = Person
	}
	if entry.ID == "" {
		l.addProblem("", fmt.Sprintf("entry %d", n), "it has no DATAID")
		return
	}
	entry.addNames(nameTexts(strings.Join([]string{e.FirstName, e.SecondName, e.ThirdName, e.FourthName}, " ")),
		Primary)
	entry.addNames(nameTexts(e.Original), Alias)
	for _, a := range append(e.PersonAlias, e.EntityAlias...) {
		kind := Alias
		if strings.EqualFold(strings.TrimSpace(a.Quality), "Low") {
			kind = Weak
		}
		if strings.EqualFold(strings.TrimSpace(a.Quality), "f.k.a.") {
			kind = Previous
		}
		entry.addNames(nameTexts(a.Name), kind)
	}
	if len(entry.Names) == 0 {
		l.addProblem("", "entry "+entry.ID, "it has no name")
		return
	}
	for _, b := range e.Births {
		entry.addBirth(b)
	}
	for _, c := range e.Nationality {
		entry.Countries = addUnique(entry.Countries, Country(c))
	}
	for _, p := range append(e.PersonPlaces, e.EntityPlaces...) {
		entry.Countries = addUnique(entry.Countries, Country(p.Country))
	}
	for _, d := range e.Documents {
		if number := strings.TrimSpace(d.Number); number != "" {
			entry.Identifiers = append(entry.Identifiers,
				Identifier{Type: strings.TrimSpace(d.Type), Value: number, Country: Country(d.Country)})
		}
	}
	entry.Programs = addUnique(nil, e.ListType)
	l.Entries = append(l.Entries, entry)
}

func (e *Entry) addBirth(b unBirth) {
	date := cmp.Or(isoDate(b.Date), isoDate(b.Year))
	switch {
	case date != "" && strings.EqualFold(strings.TrimSpace(b.Type), "APPROXIMATELY"):
		e.BirthDates = addCirca(e.BirthDates, date)
	case date != "":
		e.BirthDates = addUnique(e.BirthDates, date)
	default:
		e.BirthDates = addYears(e.BirthDates, b.From, b.To)
	}
}

// gender returns "male", "female" or "" for unknown.
func gender(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "male", "m":
		return "male"
	case "female", "f":
		return "female"
	}
	return ""
}
