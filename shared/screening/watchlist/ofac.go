package watchlist

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// Companions of sdn.csv.
const (
	companionAlt      = "alt"
	companionAdd      = "add"
	companionComments = "sdn_comments"
)

// ofacNull is how the files of OFAC write that there is no value.
const ofacNull = "-0-"

// readOFAC reads the list of specially designated nationals. The files have no header, the null value "-0-" and, at
// their end, a byte 0x1A.
func readOFAC(source Source) (*List, error) {
	list := &List{}
	places := map[string]int{}
	comments, err := readComments(list, source)
	if err != nil {
		return nil, err
	}
	err = eachOFACRow(list, source, "", 12, func(row []string) {
		places[row[0]] = len(list.Entries)
		list.Entries = append(list.Entries, ofacEntry(row, comments[row[0]]))
	})
	if err != nil {
		return nil, err
	}
	find := func(file string, row []string) *Entry {
		i, found := places[row[0]]
		if !found {
			list.addProblem(file, "entry "+row[0], "sdn.csv has no such entry")
			return nil
		}
		return &list.Entries[i]
	}
	err = eachOFACRow(list, source, companionAlt, 5, func(row []string) {
		if e := find(companionAlt, row); e != nil {
			e.addName(row[3], ofacKind(row[2], row[4]))
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachOFACRow(list, source, companionAdd, 6, func(row []string) {
		if e := find(companionAdd, row); e != nil && row[4] != "" {
			e.Countries = addUnique(e.Countries, Country(row[4]))
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// readComments reads the rest of remarks that are too long for sdn.csv.
func readComments(list *List, source Source) (map[string]string, error) {
	comments := map[string]string{}
	err := eachOFACRow(list, source, companionComments, 2, func(row []string) { comments[row[0]] += row[1] })
	return comments, err
}

// eachOFACRow calls f for each row of a file that has the given number of columns at least. Companions may be missing.
func eachOFACRow(list *List, source Source, companion string, columns int, f func(row []string)) error {
	file, err := source(companion)
	if errors.Is(err, fs.ErrNotExist) && companion != "" {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		isLast := err != nil
		line = bytes.Trim(line, "\r\n\x1a\x00")
		if len(bytes.TrimSpace(line)) > 0 {
			if row, reason := splitOFACRow(line, columns); reason != "" {
				list.addProblem(companion, fmt.Sprintf("line %d", n), "%s", reason)
			} else {
				f(row)
			}
		}
		if isLast {
			return nil
		}
	}
}

// splitOFACRow returns the columns of a row, null values being empty, or why it cannot be read.
func splitOFACRow(line []byte, columns int) (row []string, reason string) {
	reader := csv.NewReader(bytes.NewReader(line))
	reader.LazyQuotes = true
	row, err := reader.Read()
	if err != nil {
		return nil, err.Error()
	}
	for i, field := range row {
		if row[i] = strings.TrimSpace(field); row[i] == ofacNull {
			row[i] = ""
		}
	}
	switch {
	case len(row) < columns:
		return nil, fmt.Sprintf("it has %d columns instead of %d", len(row), columns)
	case row[0] == "" || row[1] == "":
		return nil, "it has no number or no name"
	}
	return row, ""
}

func ofacEntry(row []string, comments string) Entry {
	e := Entry{ID: row[0], Schema: Organisation}
	switch row[2] {
	case "individual":
		e.Schema = Person
	case "vessel":
		e.Schema = Vessel
	case "aircraft":
		e.Schema = Aircraft
	}
	e.addName(row[1], Primary)
	for _, program := range strings.FieldsFunc(row[3], func(r rune) bool { return r == '[' || r == ']' || r == ' ' }) {
		e.Programs = addUnique(e.Programs, program)
	}
	e.addRemarks(row[11] + comments)
	return e
}

// ofacKind returns the kind of a name: "fka" and "nka" are names of other times.
func ofacKind(kind, remarks string) NameKind {
	switch {
	case strings.Contains(strings.ToLower(remarks), "weak"):
		return Weak
	case kind == "fka":
		return Previous
	}
	return Alias
}

var (
	weakAlias  = regexp.MustCompile(`^a\.k\.a\. '(.+)'\.?$`)
	birth      = regexp.MustCompile(`^(?:alt\. )?DOB (.+)$`)
	nationals  = regexp.MustCompile(`^(?:alt\. )?(?:nationality|citizen) (.+)$`)
	genderFact = regexp.MustCompile(`^Gender (Male|Female)$`)
	identified = regexp.MustCompile(`^(?:alt\. )?(Passport|National ID No\.|Tax ID No\.|Registration ID|SSN|Cedula ` +
		`No\.|NIT #|D-U-N-S Number|SWIFT/BIC|Identification Number|Vessel Registration Identification|Commercial ` +
		`Registry Number|RFC|C\.U\.R\.P\.|C\.R\. No\.|RUC #|Driver's License No\.) #?([^ ]+)(?: [^(]*)?(?: ` +
		`?\(([^)]*)\))?`)
)

// addRemarks adds the facts of the remarks, which are separated by semicolons. Aliases in quotes are weak ones.
func (e *Entry) addRemarks(remarks string) {
	for fact := range strings.SplitSeq(remarks, ";") {
		fact = strings.TrimSuffix(strings.TrimSpace(fact), ".")
		if m := weakAlias.FindStringSubmatch(fact); m != nil {
			e.addName(m[1], Weak)
		} else if m := birth.FindStringSubmatch(fact); m != nil {
			e.addOFACBirth(m[1])
		} else if m := nationals.FindStringSubmatch(fact); m != nil {
			e.Countries = addUnique(e.Countries, Country(m[1]))
		} else if m := genderFact.FindStringSubmatch(fact); m != nil {
			e.Gender = gender(m[1])
		} else if m := identified.FindStringSubmatch(fact); m != nil {
			e.Identifiers = append(e.Identifiers, Identifier{Type: m[1], Value: strings.TrimRight(m[2], ".,"),
				Country: Country(m[3])})
		}
	}
}

// addOFACBirth adds a date of birth or a range: "1955 to 1957", "circa 1955-1957", "circa 1955".
func (e *Entry) addOFACBirth(text string) {
	text, isCirca := strings.CutPrefix(strings.TrimSpace(text), "circa ")
	from, to, isRange := strings.Cut(text, " to ")
	if !isRange {
		from, to, isRange = strings.Cut(text, "-")
	}
	first, last := parseDate(from), parseDate(to)
	switch {
	case first == "":
	case isRange && last != "":
		e.BirthDates = addYears(e.BirthDates, first[:4], last[:4])
	case isCirca:
		e.BirthDates = addCirca(e.BirthDates, first)
	default:
		e.BirthDates = addUnique(e.BirthDates, first)
	}
}
