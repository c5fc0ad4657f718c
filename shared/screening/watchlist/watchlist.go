// Package watchlist reads lists of sanctioned persons and organisations in their published formats.
package watchlist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Format is the format of a list's file.
type Format string

const (
	// UNXML is the consolidated list of the United Nations Security Council.
	UNXML Format = "un-xml"
	// OFACSDNCSV is the list of specially designated nationals of the United States Treasury: sdn.csv and its
	// companions alt.csv, add.csv and sdn_comments.csv beside it.
	OFACSDNCSV Format = "ofac-sdn-csv"
	// FTMJSON has one FollowTheMoney entity a line.
	FTMJSON Format = "ftm-json"
	// TargetsSimpleCSV is targets.simple.csv of OpenSanctions.
	TargetsSimpleCSV Format = "targets-simple-csv"
)

// Formats are all formats.
var Formats = []Format{UNXML, OFACSDNCSV, FTMJSON, TargetsSimpleCSV}

// Schema is the type of an entry.
type Schema string

// The schemas of entries, by the names that they have in FollowTheMoney.
const (
	Person       Schema = "Person"
	Organisation Schema = "Organization"
	Vessel       Schema = "Vessel"
	Aircraft     Schema = "Airplane"
	// Unknown entries are persons or organisations.
	Unknown Schema = "LegalEntity"
)

// ParseSchema returns the schema with a name, in any case: one of FollowTheMoney with names to screen.
// It returns false for any other text.
func ParseSchema(text string) (Schema, bool) {
	for name, schema := range ftmSchemas {
		if strings.EqualFold(name, text) {
			return schema, true
		}
	}
	return "", false
}

// SchemaNames lists the names for ParseSchema.
func SchemaNames() string { return strings.Join(slices.Sorted(maps.Keys(ftmSchemas)), ", ") }

// NameKind is the kind of a name.
type NameKind uint8

const (
	// Primary is the main name of the entry in the list.
	Primary NameKind = iota
	// Alias is another name.
	Alias
	// Weak is an alias that is too common or too short to be looked for alone.
	Weak
	// Previous is a former name.
	Previous
)

// String names the kind.
func (k NameKind) String() string {
	return [...]string{"primary", "alias", "weak alias", "previous"}[k&3]
}

// Name is a name of an entry.
type Name struct {
	Text string
	Kind NameKind
}

// Identifier is the number of a passport, of a register, of a ship and the like.
type Identifier struct {
	Type    string `json:"type,omitempty"`
	Value   string `json:"value"`
	Country string `json:"country,omitempty"`
}

// Entry is one person, organisation or thing on a list.
type Entry struct {
	// ID is the source's own.
	ID     string `json:"id"`
	Schema Schema `json:"schema"`
	Names  []Name `json:"names"`
	// BirthDates are years, months or days: 1961, 1961-04, 1961-04-02. A range of years has one date for each.
	BirthDates []string `json:"birth_dates,omitempty"`
	// Countries of nationality, residence or registration: ISO 3166-1 alpha-2 in lower case, or the text of the source
	// for unknown ones.
	Countries []string `json:"countries,omitempty"`
	// Gender is male, female or, if the source has none, "".
	Gender      string       `json:"gender,omitempty"`
	Identifiers []Identifier `json:"identifiers,omitempty"`
	// Programs are the entry's sanctions programmes or lists in the source.
	Programs []string `json:"programs,omitempty"`
	// SourceURL is the address of the source's page about the entry; "" if it has none.
	SourceURL string `json:"source_url,omitempty"`
}

// List is the content of a list's file.
type List struct {
	// SourceDate is the date of the list in the file; zero if it has none.
	SourceDate time.Time
	Entries    []Entry
	// Problems are the rows that could not be read, at most maxProblems; ProblemCount is their number.
	Problems     []Problem
	ProblemCount int
}

// Problem is a row that could not be read.
type Problem struct {
	// File is the name of the file if the list has several.
	File string
	// Row is its line, its number or its place in the file.
	Row    string
	Reason string
}

// String returns the place of the row and the reason.
func (p Problem) String() string {
	if p.File != "" {
		return fmt.Sprintf("%s, %s: %s", p.File, p.Row, p.Reason)
	}
	return p.Row + ": " + p.Reason
}

// maxProblems bounds the memory for problems of a file that is not a list at all.
const maxProblems = 100_000

func (l *List) addProblem(file, row, format string, args ...any) {
	l.ProblemCount++
	if len(l.Problems) < maxProblems {
		l.Problems = append(l.Problems, Problem{File: file, Row: row, Reason: fmt.Sprintf(format, args...)})
	}
}

// addName adds a name unless the entry has it. If a name has two kinds, the stronger one remains.
func (e *Entry) addName(text string, kind NameKind) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return
	}
	for i := range e.Names {
		if e.Names[i].Text == text {
			if strength(kind) < strength(e.Names[i].Kind) {
				e.Names[i].Kind = kind
			}
			return
		}
	}
	e.Names = append(e.Names, Name{Text: text, Kind: kind})
	if e.Schema != Person {
		name, _ := withoutAcronym(text)
		e.addName(name, kind)
	}
}

// strength orders kinds of names, the strongest first.
func strength(k NameKind) int { return [...]int{0, 1, 3, 2}[k&3] }

// addUnique appends a text that is not empty and not there.
func addUnique(list []string, text string) []string {
	if text = strings.TrimSpace(text); text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// Source opens the files of a list. The name is "" for the file that was named itself; for a companion, it is the
// suffix that takes the place of "sdn" in that file's name. A file that does not exist is fs.ErrNotExist.
type Source func(companion string) (io.ReadCloser, error)

// FileSource returns the source of a file and of its companions beside it.
func FileSource(path string) Source {
	return func(companion string) (io.ReadCloser, error) {
		if companion == "" {
			return os.Open(path)
		}
		i := strings.LastIndex(strings.ToLower(path), "sdn")
		if i < 0 {
			return nil, fmt.Errorf("%w: the name of %s has no \"sdn\" that %q could replace", fs.ErrNotExist, path,
				companion)
		}
		for _, name := range companionNames[companion] {
			f, err := os.Open(path[:i] + name + path[i+len("sdn"):])
			if !errors.Is(err, fs.ErrNotExist) {
				return f, err
			}
		}
		return nil, fs.ErrNotExist
	}
}

// companionNames are the forms of the names of sdn.csv's companions.
var companionNames = map[string][]string{
	companionAlt:      {"alt", "ALT"},
	companionAdd:      {"add", "ADD"},
	companionComments: {"sdn_comments", "sdn-comments", "SDN_COMMENTS"},
}

// Read reads a list. It fails if the file is not of the format at all; rows that cannot be read are the list's
// problems.
func Read(format Format, source Source) (*List, error) {
	read := readers[format]
	if read == nil {
		return nil, fmt.Errorf("unknown format %q; formats are %s", format, formatNames())
	}
	list, err := read(source)
	if err == nil && len(list.Entries) == 0 {
		err = errors.New("the list has no entries")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a list as %s: %w", format, err)
	}
	return list, nil
}

var readers = map[Format]func(Source) (*List, error){
	UNXML:            readUN,
	OFACSDNCSV:       readOFAC,
	FTMJSON:          readFTM,
	TargetsSimpleCSV: readTargets,
}

func formatNames() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}
