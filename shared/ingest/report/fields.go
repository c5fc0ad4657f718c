package report

import (
	"cmp"
	"slices"

	"sluice/shared/ingest/transaction"
)

// MaxFields is the largest number of pairs of a code and a field that a summary tells apart, the first ones of the
// file. Errors at further fields are counted together, by code. It bounds a summary: names of fields may come from the
// lines.
const MaxFields = 200

// FieldInfo is how often a code occurs at a field, and where first.
type FieldInfo struct {
	Code transaction.Code `json:"code"`
	// Field is the place in the line by RFC 6901, "" for the line as a whole, cut as in an Example; nil for all fields
	// together at which the code occurs and that have no FieldInfo of their own.
	Field *string `json:"field"`
	// Count is the number of errors.
	Count int64 `json:"count"`
	// Lines is the number of lines that have such an error. It is more than that only if Field is nil and a line has
	// errors at several of the fields.
	Lines int64 `json:"lines"`
	// FirstLines are the numbers of the first lines that have one, at most MaxExamples.
	FirstLines []int64 `json:"first_lines"`
}

// Entry is a FieldInfo as clients read it.
type Entry struct {
	Code  transaction.Code `json:"code"`
	Field *string          `json:"field"`
	Count int64            `json:"count"`
	// Share is the number of transactions that have such an error, divided by the number of all transactions; from 0 to
	// 1.
	Share      float64 `json:"share"`
	FirstLines []int64 `json:"first_lines"`
}

// Entries returns the fields of the summary, those that occur most often first; of equals, in the order of their codes
// and fields.
func (s Summary) Entries() []Entry {
	entries := make([]Entry, 0, len(s.Fields))
	for _, f := range s.Fields {
		e := Entry{Code: f.Code, Field: f.Field, Count: f.Count, FirstLines: f.FirstLines}
		if total := s.Counts.Total; total > 0 {
			e.Share = float64(min(f.Lines, total)) / float64(total)
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), comparePointers(a.Field, b.Field))
	})
	return entries
}

// comparePointers orders fields, the one that stands for all others last.
func comparePointers(a, b *string) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

// fieldKey is a code at a field; with other, at all fields that are not told apart.
type fieldKey struct {
	code  transaction.Code
	field string
	other bool
}

func (f FieldInfo) key() fieldKey {
	if f.Field == nil {
		return fieldKey{code: f.Code, other: true}
	}
	return fieldKey{code: f.Code, field: *f.Field}
}

// addFields adds the fields of the part of the file that follows.
func (s *Summary) addFields(next []FieldInfo) {
	if len(next) == 0 {
		return
	}
	places := make(map[fieldKey]int, len(s.Fields)+len(next))
	named := 0
	for i, f := range s.Fields {
		places[f.key()] = i
		if f.Field != nil {
			named++
		}
	}
	for _, n := range next {
		key := n.key()
		place, ok := places[key]
		if !ok && !key.other && named == MaxFields {
			key, n.Field = fieldKey{code: n.Code, other: true}, nil
			place, ok = places[key]
		}
		if !ok {
			if !key.other {
				named++
			}
			place = len(s.Fields)
			places[key] = place
			s.Fields = append(s.Fields, FieldInfo{Code: n.Code, Field: n.Field})
		}
		f := &s.Fields[place]
		f.Count += n.Count
		f.Lines += n.Lines
		f.FirstLines = mergeFirstLines(f.FirstLines, n.FirstLines)
	}
}

// mergeFirstLines returns the first of the lines of two lists, each once.
func mergeFirstLines(a, b []int64) []int64 {
	lines := slices.Concat(a, b)
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return lines[:min(len(lines), MaxExamples)]
}

// Tally counts errors one by one, for a Summary. The zero Tally has counted none.
type Tally struct {
	codes  map[transaction.Code]*CodeInfo
	places map[fieldKey]int
	fields []talliedField
	named  int
	// last is the place of the field whose error was counted last.
	last int
}

// talliedField is a field while its errors are counted.
type talliedField struct {
	FieldInfo
	// lastLine is the latest line with such an error.
	lastLine int64
	code     *CodeInfo
	// next is the place of the field whose error followed the latest one of this: lines are often wrong alike.
	next int
}

// Reset removes everything that was counted.
func (t *Tally) Reset() { *t = Tally{} }

// Add counts one error of a line. Errors must be added in the order of their lines.
func (t *Tally) Add(line int64, e *Error) {
	f := t.expectedField(e)
	if f == nil {
		place := t.field(e.Code, cutPointer(e.Pointer))
		t.fields[t.last].next = place
		f, t.last = &t.fields[place], place
	}
	f.Count++
	if f.lastLine != line {
		f.lastLine = line
		f.Lines++
		if len(f.FirstLines) < MaxExamples {
			f.FirstLines = append(f.FirstLines, line)
		}
	}
	f.code.Count++
	if len(f.code.Examples) < MaxExamples {
		f.code.Examples = append(f.code.Examples, Example{line, cutPointer(e.Pointer), e.Message, e.Offset})
	}
}

// expectedField returns the field that followed the last one before, if an error is one of its; otherwise nil.
func (t *Tally) expectedField(e *Error) *talliedField {
	if len(t.fields) == 0 {
		return nil
	}
	next := t.fields[t.last].next
	f := &t.fields[next]
	if f.Field == nil || f.Code != e.Code || *f.Field != e.Pointer {
		return nil
	}
	t.last = next
	return f
}

// field returns the place where errors of a code at a field are counted.
func (t *Tally) field(code transaction.Code, pointer string) int {
	key := fieldKey{code: code, field: pointer}
	place, ok := t.places[key]
	if !ok && t.named == MaxFields {
		key = fieldKey{code: code, other: true}
		place, ok = t.places[key]
	}
	if ok {
		return place
	}
	if t.places == nil {
		t.places, t.codes = make(map[fieldKey]int), make(map[transaction.Code]*CodeInfo)
	}
	if t.codes[code] == nil {
		t.codes[code] = new(CodeInfo)
	}
	added := talliedField{FieldInfo: FieldInfo{Code: code}, code: t.codes[code]}
	if !key.other {
		named := pointer // so that only a new field is allocated
		added.Field = &named
		t.named++
	}
	t.places[key] = len(t.fields)
	t.fields = append(t.fields, added)
	return len(t.fields) - 1
}

// AddTo sets the counts in a summary that has no errors yet.
func (t *Tally) AddTo(s *Summary) {
	if len(t.fields) == 0 {
		return
	}
	s.Codes = make(map[transaction.Code]CodeInfo, len(t.codes))
	for code, info := range t.codes {
		s.Codes[code] = *info
	}
	s.Fields = make([]FieldInfo, len(t.fields))
	for i := range t.fields {
		s.Fields[i] = t.fields[i].FieldInfo
	}
}
