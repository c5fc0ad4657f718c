package report

import (
	"encoding/json"

	"sluice/shared/transaction"
)

// Bounds of a summary: it stays small whatever the file.
const (
	MaxExamples     = 3   // of each code
	maxPointerBytes = 200 // of an example's pointer, which may hold keys of the line
)

// Summary is what a report says in short: one JSON object beside it. The zero value is the summary of no lines.
type Summary struct {
	Counts Counts                        `json:"counts"`
	Codes  map[transaction.Code]CodeInfo `json:"codes"`
}

// Counts are numbers of lines. Blank lines are in none of them. Total is Accepted + Invalid.
type Counts struct {
	Total    int64 `json:"total"`
	Accepted int64 `json:"accepted"`
	Invalid  int64 `json:"invalid"`
}

// CodeInfo says how often a code was found, and where first.
type CodeInfo struct {
	Count    int64     `json:"count"` // errors, of which one line may have several
	Examples []Example `json:"examples"`
}

// Example is one error of one line.
type Example struct {
	Line    int64  `json:"line"`    // absolute, from 1
	Pointer string `json:"pointer"` // RFC 6901, cut if very long
	Message string `json:"message"`
	Offset  int64  `json:"offset"` // byte in the file, from 0
}

// MarshalJSON writes an object for the codes even when there are none.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	if s.Codes == nil {
		s.Codes = map[transaction.Code]CodeInfo{}
	}
	return json.Marshal(plain(s))
}

// Add counts in the summary of the part of the file that follows.
func (s *Summary) Add(next Summary) {
	s.Counts.Total += next.Counts.Total
	s.Counts.Accepted += next.Counts.Accepted
	s.Counts.Invalid += next.Counts.Invalid
	for code, n := range next.Codes {
		info := s.Codes[code]
		info.Count += n.Count
		info.Examples = append(info.Examples, n.Examples[:min(len(n.Examples), MaxExamples-len(info.Examples))]...)
		s.set(code, info)
	}
}

// Count counts one error in. Lines must come in order.
func (s *Summary) Count(line int64, e *Error) {
	info := s.Codes[e.Code]
	info.Count++
	if len(info.Examples) < MaxExamples {
		info.Examples = append(info.Examples, Example{line, cut(e.Pointer), e.Message, e.Offset})
	}
	s.set(e.Code, info)
}

func (s *Summary) set(code transaction.Code, info CodeInfo) {
	if s.Codes == nil {
		s.Codes = make(map[transaction.Code]CodeInfo)
	}
	s.Codes[code] = info
}

// cut shortens a pointer at the end of a code point.
func cut(pointer string) string {
	if len(pointer) <= maxPointerBytes {
		return pointer
	}
	n := maxPointerBytes
	for n > 0 && pointer[n]&0xC0 == 0x80 {
		n--
	}
	return pointer[:n] + "…"
}
