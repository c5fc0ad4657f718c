package watchlist

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
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

// noteLabels are the labels of lists before a name in parentheses, and notes that are not names.
var noteLabels = regexp.MustCompile(`(?i)^(?:(?:in )?original script|(?:previously|formerly|also) (?:listed|known) ` +
	`as|listed as|a\.?k\.?a\.?|f\.?k\.?a\.?)\s*:?\s*`)

// nameTexts returns the names that one field of a list holds: lists separate several by semicolons, and write the same
// name in another script, or further ones, in parentheses after it. Other text in parentheses stays in its place.
func nameTexts(text string) []string {
	var texts []string
	add := func(part string) {
		texts = addUnique(texts, strings.Trim(part, " ,;:"))
	}
	outside, inside := cutParentheses(text)
	if inside != "" && (strings.Contains(inside, ";") || noteLabels.MatchString(inside) ||
		isLatin(inside) != isLatin(outside)) {
		text = outside
		inside = noteLabels.ReplaceAllString(inside, "")
	} else {
		inside = ""
	}
	for _, list := range []string{text, inside} {
		for part := range strings.SplitSeq(list, ";") {
			if bare, note := cutParentheses(part); list == inside && noteLabels.ReplaceAllString(note, "") == "" {
				part = bare // "(original script)" behind a name
			}
			add(part)
		}
	}
	return texts
}

// cutParentheses cuts the last part of a text that is in parentheses, which may be nested, from the rest.
func cutParentheses(text string) (outside, inside string) {
	text = strings.TrimRight(text, " ,;")
	start, depth := strings.IndexByte(text, '('), 0
	if start < 1 || !strings.HasSuffix(text, ")") {
		return text, ""
	}
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && i < len(text)-1 {
				return text, "" // something follows
			}
		}
	}
	return strings.TrimSpace(text[:start]), strings.TrimSpace(text[start+1 : len(text)-1])
}

// isLatin reports whether the first letter of a text is one of the Latin script.
func isLatin(text string) bool {
	for _, r := range text {
		if unicode.IsLetter(r) {
			return unicode.Is(unicode.Latin, r)
		}
	}
	return true
}

// withoutAcronym returns the name of an organisation without its own acronym in parentheses after it, and the acronym:
// "GLOBAL RELIEF FOUNDATION (GRF)". Both are empty if the name has no acronym.
func withoutAcronym(text string) (name, acronym string) {
	outside, inside := cutParentheses(text)
	letters := strings.ToUpper(strings.NewReplacer("-", "", ".", "", "/", "", " ", "").Replace(inside))
	if len(letters) < 2 {
		return "", ""
	}
	// The letters are the first ones of words, in their order; words may be left out.
	words := strings.FieldsFunc(strings.ToUpper(outside),
		func(r rune) bool { return r == ' ' || r == '-' || r == '/' || r == '’' || r == '\'' })
	found, i := 0, 0
	for _, word := range words {
		if i < len(letters) && word[0] == letters[i] {
			found, i = found+1, i+1
		}
	}
	if found == len(letters) {
		return outside, inside
	}
	return "", ""
}
