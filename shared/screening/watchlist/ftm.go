package watchlist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ftmEntity is an entity of FollowTheMoney.
type ftmEntity struct {
	ID         string              `json:"id"`
	Schema     string              `json:"schema"`
	Caption    string              `json:"caption"`
	Properties map[string][]string `json:"properties"`
}

// ftmSchemas are the schemas that have names to be screened. All others, addresses for example, are left out.
var ftmSchemas = map[string]Schema{
	"Person": Person, "Organization": Organisation, "Company": Organisation, "PublicBody": Organisation,
	"Vessel":   Vessel,
	"Airplane": Aircraft, "LegalEntity": Unknown,
}

var (
	ftmCountries   = []string{"nationality", "country", "citizenship", "jurisdiction", "mainCountry", "flag"}
	ftmIdentifiers = []string{"registrationNumber", "taxNumber", "idNumber", "passportNumber", "leiCode", "innCode",
		"ogrnCode", "imoNumber", "mmsi", "swiftBic", "socialSecurityNumber", "vatCode"}
)

// readFTM reads one entity a line.
func readFTM(source Source) (*List, error) {
	file, err := source("")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list := &List{}
	lines := bufio.NewReaderSize(file, 1<<16)
	others := 0
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		isLast := err != nil
		if line = bytes.TrimSpace(line); len(line) > 0 {
			others += list.addFTM(line, n)
		}
		if isLast {
			break
		}
	}
	if len(list.Entries) == 0 && others == 0 {
		return nil, errors.New("no line of the file is an entity")
	}
	return list, nil
}

// addFTM adds the entity of a line and returns 1 if it is one without a name to be screened.
func (l *List) addFTM(line []byte, n int) int {
	var f ftmEntity
	row := fmt.Sprintf("line %d", n)
	if err := json.Unmarshal(line, &f); err != nil {
		l.addProblem("", row, "%v", err)
		return 0
	}
	schema, isNamed := ftmSchemas[f.Schema]
	switch {
	case f.ID == "" || f.Schema == "":
		l.addProblem("", row, "it has no id or no schema")
		return 0
	case !isNamed:
		return 1
	}
	e := Entry{ID: f.ID, Schema: schema}
	e.addName(f.Caption, Primary)
	for i, name := range f.Properties["name"] {
		kind := Alias
		if i == 0 && f.Caption == "" {
			kind = Primary
		}
		e.addName(name, kind)
	}
	e.addNames(f.Properties["alias"], Alias)
	e.addNames(f.Properties["weakAlias"], Weak)
	e.addNames(f.Properties["previousName"], Previous)
	if len(e.Names) == 0 {
		l.addProblem("", row, "entity %s has no name", f.ID)
		return 0
	}
	e.BirthDates = slices.Clone(f.Properties["birthDate"])
	for _, property := range ftmCountries {
		for _, c := range f.Properties[property] {
			e.Countries = addUnique(e.Countries, Country(c))
		}
	}
	for _, g := range f.Properties["gender"] {
		e.Gender = gender(g)
	}
	for _, property := range ftmIdentifiers {
		for _, value := range f.Properties[property] {
			e.Identifiers = append(e.Identifiers, Identifier{Type: property, Value: value})
		}
	}
	for _, program := range f.Properties["programId"] {
		e.Programs = addUnique(e.Programs, program)
	}
	for _, url := range f.Properties["sourceUrl"] {
		e.SourceURL = url
	}
	l.Entries = append(l.Entries, e)
	return 0
}

func (e *Entry) addNames(names []string, kind NameKind) {
	for _, name := range names {
		e.addName(name, kind)
	}
}
