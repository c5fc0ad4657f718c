package platform

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"sluice/shared/fault"
)

// Codes of refused values.
const (
	NotNull   = "NotNullValidator"
	Length    = "MaximumLengthValidator"
	Format    = "GuidValidator"
	Enum      = "EnumValidator"
	Range     = "InclusiveBetweenValidator"
	Count     = "MaximumCountValidator"
	Unique    = "UniqueValidator"
	BadPaging = "PaginationTokenValidator"
)

// MaxName is the longest name, id or key of a body, in characters.
const MaxName = 255

// MaxText is the longest other text of a body, in characters.
const MaxText = 10_000

// Faults collects what is wrong with a body. The zero value is ready.
type Faults struct{ details []fault.Detail }

// Add notes a fault of a property; name is its path with dots.
func (f *Faults) Add(name, message, code string) {
	loc := make([]any, 0, 2)
	for part := range strings.SplitSeq(name, ".") {
		loc = append(loc, part)
	}
	f.details = append(f.details, fault.Detail{Loc: loc, Msg: message, Type: code})
}

// Err is the 400 with all that was noted.
func (f *Faults) Err() *fault.Error {
	return fault.New(fault.BadRequest, "invalid_request", "The request is not valid.").With(f.details...)
}

// Required notes an absent or empty text, and one longer than max characters.
func (f *Faults) Required(name, value string, max int) {
	if value == "" {
		f.Add(name, "The value is missing.", NotNull)
	}
	f.Max(name, value, max)
}

// Max notes a text longer than max characters.
func (f *Faults) Max(name, value string, max int) {
	if len(value) > max && utf8.RuneCountInString(value) > max {
		f.Add(name, fmt.Sprintf("The value has more than %d characters.", max), Length)
	}
}

// UUID notes an absent or malformed UUID.
func (f *Faults) UUID(name, value string) {
	if value == "" {
		f.Add(name, "The value is missing.", NotNull)
	} else if !IsUUID(value) {
		f.Add(name, "The value must be a UUID.", Format)
	}
}

// OptionalUUID notes a malformed UUID.
func (f *Faults) OptionalUUID(name, value string) {
	if value != "" {
		f.UUID(name, value)
	}
}

// OneOf notes an absent value, and one that is none of the allowed ones. "" is allowed only if it is among them.
func (f *Faults) OneOf(name, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	if value == "" {
		f.Add(name, "The value is missing.", NotNull)
	} else {
		f.Add(name, "The value must be one of "+strings.Join(allowed, ", ")+".", Enum)
	}
}

// Between notes an integer outside low to high.
func (f *Faults) Between(name string, value, low, high int) {
	if value < low || value > high {
		f.Add(name, fmt.Sprintf("The value must be between %d and %d.", low, high), Range)
	}
}

// Names notes a list of more than max texts, and each text that is empty or too long.
func (f *Faults) Names(name string, values []string, max int) {
	if len(values) > max {
		f.Add(name, fmt.Sprintf("The list has more than %d items.", max), Count)
		return
	}
	for i, v := range values {
		f.Required(fmt.Sprintf("%s.%d", name, i), v, MaxName)
	}
}

// IsUUID reports whether s is 8-4-4-4-12 hexadecimal digits.
func IsUUID(s string) bool {
	_, err := uuid.Parse(s)
	return err == nil && len(s) == 36
}
