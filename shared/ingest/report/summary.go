package report

import (
	"encoding/json"

	"sluice/shared/ingest/transaction"
)

// MaxExamples is the largest number of examples that a summary gives of each code.
const MaxExamples = 3

// maxPointerBytes is the length, in bytes, above which the pointer of an example is cut, because it may hold names from
// the line. Together with MaxExamples it bounds a summary, however large the file is.
const maxPointerBytes = 200

// Summary counts the lines of a batch and the errors of the report by code. It is stored beside the report as one JSON
// object, and so are the summaries of the parts of the report until they are added up. The zero value is the summary of
// no lines. A Summary must not be copied and then changed, because both copies share the map.
type Summary struct {
	// Counts are the numbers of lines.
	Counts Counts `json:"counts"`
	// Codes are the codes that occur in the report. As JSON it is an object even if there are none.
	Codes map[transaction.Code]CodeInfo `json:"codes"`
	// Fields divide the errors by code and field, in the order in which the pairs first occur; see MaxFields.
	Fields []FieldInfo `json:"fields,omitempty"`
	// ReportComplete is false if entries of the report are short, because the report has passed its limit. It is set in
	// the summary of a whole report; nil in the summary of a part.
	ReportComplete *bool `json:"report_complete,omitempty"`
	// RejectedLeftOut is the number of rejected lines that are not in the file of rejected lines, because they are too
	// long.
	RejectedLeftOut int64 `json:"rejected_left_out,omitempty"`

	// Screening is the result of the screening of names; nil if they were not screened. It is not stored.
	Screening *Screening `json:"-"`
}

// Counts are numbers of lines. Blank lines are not counted. Total is Accepted plus Invalid.
type Counts struct {
	Total    int64 `json:"total"`
	Accepted int64 `json:"accepted"`
	Invalid  int64 `json:"invalid"`
}

// CodeInfo is how often a code occurs, and where first.
type CodeInfo struct {
	// Count is the number of errors, several of which may be of one line.
	Count int64 `json:"count"`
	// Examples are the first errors, at most MaxExamples.
	Examples []Example `json:"examples"`
}

// Example is one error of one line.
type Example struct {
	// Line is the number of the line in the file, from 1.
	Line int64 `json:"line"`
	// Pointer is the place in the line by RFC 6901. It ends with "…" if it has been cut.
	Pointer string `json:"pointer"`
	// Message explains the error to people.
	Message string `json:"message"`
	// Offset is the place in the file in bytes, from 0.
	Offset int64 `json:"offset"`
}

// MarshalJSON encodes the summary, with an object for Codes even if the map is nil.
func (s Summary) MarshalJSON() ([]byte, error) {
	type withoutMethods Summary
	if s.Codes == nil {
		s.Codes = map[transaction.Code]CodeInfo{}
	}
	return json.Marshal(withoutMethods(s))
}

// Add adds the summary of the part of the file that follows. Parts must be added in their order, so that the examples
// are the first errors of the file.
func (s *Summary) Add(next Summary) {
	s.Counts.Total += next.Counts.Total
	s.Counts.Accepted += next.Counts.Accepted
	s.Counts.Invalid += next.Counts.Invalid
	s.RejectedLeftOut += next.RejectedLeftOut
	for code, n := range next.Codes {
		info := s.Codes[code]
		info.Count += n.Count
		info.Examples = append(info.Examples, n.Examples[:min(len(n.Examples), MaxExamples-len(info.Examples))]...)
		if s.Codes == nil {
			s.Codes = make(map[transaction.Code]CodeInfo)
		}
		s.Codes[code] = info
	}
	s.addFields(next.Fields)
}

// cutPointer cuts a pointer to at most maxPointerBytes bytes, at the end of a code point, and marks the cut with "…".
func cutPointer(pointer string) string { return CutText(pointer, maxPointerBytes) }

// CutText cuts a text to at most n bytes, at the end of a code point, and marks the cut with "…".
func CutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
