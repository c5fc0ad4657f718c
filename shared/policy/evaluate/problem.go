package evaluate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxProblems is the largest number of problems that Compile reports; further ones are left out.
const maxProblems = 100

// Problem is a reason why a version cannot be evaluated.
type Problem struct {
	// FieldID and DataKey identify the field. They are "" if the problem is in a jurisdiction or in the version as a
	// whole.
	FieldID, DataKey string
	// DataGroupID is the ID of the field's data group; "" for a field of the policy itself.
	DataGroupID string
	// JurisdictionID is "" unless the problem is in the conditions of a jurisdiction.
	JurisdictionID string
	// Path leads from the field or jurisdiction to the wrong member by the names on the wire, for example
	// conditions[0].operands[2].value.
	Path string
	// Message explains the problem and the remedy to people.
	Message string
}

// maxMessageBytes is the largest size of a message in bytes.
const maxMessageBytes = 500

// shortened returns a message, or the beginning of a long one.
func shortened(message string) string {
	const ellipsis = "..."
	if len(message) <= maxMessageBytes {
		return message
	}
	end := maxMessageBytes - len(ellipsis)
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + ellipsis
}

// String returns the place and the message of the problem.
func (p Problem) String() string {
	var where []string
	if p.JurisdictionID != "" {
		where = append(where, "jurisdiction "+p.JurisdictionID)
	}
	if p.DataGroupID != "" {
		where = append(where, "data group "+p.DataGroupID)
	}
	if p.FieldID != "" || p.DataKey != "" {
		where = append(where, fmt.Sprintf("field %q (%s)", p.DataKey, p.FieldID))
	}
	if p.Path != "" {
		where = append(where, p.Path)
	}
	if len(where) == 0 {
		return p.Message
	}
	return strings.Join(where, ", ") + ": " + p.Message
}

// Problems is the error of Compile: all reasons why a version cannot be evaluated, at least one and at most 100. It is
// matched with errors.As.
type Problems []Problem

// Error returns the first problem, and how many there are.
func (p Problems) Error() string {
	if len(p) == 1 {
		return "evaluate: " + p[0].String()
	}
	return fmt.Sprintf("evaluate: %d problems, the first in %s", len(p), p[0])
}
