package watchlist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readTargets reads targets.simple.csv of OpenSanctions. Lists within a cell are separated by semicolons. Names come
// from its name columns; missing columns are empty.
func readTargets(source Source) (*List, error) {
	file, err := source("")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.TrimPrefix(name, "\ufeff")] = i
	}
	for _, required := range []string{"id", "schema", "name"} {
		if _, found := columns[required]; !found {
			return nil, fmt.Errorf("the header has no column %q", required)
		}
	}
	list := &List{}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		var malformed *csv.ParseError
		if errors.As(err, &malformed) {
			list.addProblem("", fmt.Sprintf("line %d", malformed.StartLine), "%v", malformed.Err)
			continue
		}
		if err != nil {
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		list.addTarget(line, func(column string) string {
			if i, found := columns[column]; found && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		})
	}
}

func (l *List) addTarget(line int, cell func(column string) string) {
	place := fmt.Sprintf("line %d", line)
	e := Entry{ID: cell("id"), Schema: Unknown}
	if schema, found := ftmSchemas[cell("schema")]; found {
		e.Schema = schema
	}
	if e.ID == "" || cell("name") == "" {
		l.addProblem("", place, "it has no id or no name")
		return
	}
	e.addName(cell("name"), Primary)
	e.addNames(splitCell(cell("aliases")), Alias)
	e.BirthDates = splitCell(cell("birth_date"))
	for _, c := range splitCell(cell("countries")) {
		e.Countries = addUnique(e.Countries, Country(c))
	}
	for _, value := range splitCell(cell("identifiers")) {
		e.Identifiers = append(e.Identifiers, Identifier{Value: value})
	}
	e.Programs = splitCell(cell("program_ids"))
	l.Entries = append(l.Entries, e)
}

// splitCell returns the values of a cell that holds a list.
func splitCell(cell string) []string {
	var values []string
	for value := range strings.SplitSeq(cell, ";") {
		values = addUnique(values, value)
	}
	return values
}
