package wire

import (
	"encoding/json"
	"strconv"
)

// RejectLimit is how many invalid transactions a batch may have: a number of them, or their share of all transactions.
type RejectLimit struct {
	// Lines is the number, unless Share is given.
	Lines int64
	// Share is a percentage such as "0.5%"; "" if there is none.
	Share string
}

// String returns the limit as a person writes it.
func (l RejectLimit) String() string {
	if l.Share != "" {
		return l.Share
	}
	return strconv.FormatInt(l.Lines, 10)
}

// MarshalJSON returns the limit as the interface has it, a number or a string.
func (l RejectLimit) MarshalJSON() ([]byte, error) {
	if l.Share != "" {
		return json.Marshal(l.Share)
	}
	return json.Marshal(l.Lines)
}

// UnmarshalJSON reads a limit as the interface has it.
func (l *RejectLimit) UnmarshalJSON(text []byte) error {
	*l = RejectLimit{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &l.Share)
	}
	return json.Unmarshal(text, &l.Lines)
}
