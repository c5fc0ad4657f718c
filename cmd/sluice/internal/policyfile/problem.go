package policyfile

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a file.
type Problem struct {
	// Line is the number of the line, from 1; 0 if the problem has no line.
	Line int
	// Place is where in the policy it is, such as "field legalName, conditions[0].operands[1]"; "" for the file as a
	// whole.
	Place string
	// Message says what is wrong and what to do.
	Message string
}

// Error is everything that is wrong with a file, in the order of its lines.
type Error struct {
	// Name is that of the file.
	Name     string
	Problems []Problem
}

// Error returns one line for each problem: the file, the line, the place and the message.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Name
		if p.Line > 0 {
			lines[i] += fmt.Sprintf(":%d", p.Line)
		}
		if p.Place != "" {
			lines[i] += ": " + p.Place
		}
		lines[i] += ": " + p.Message
	}
	return strings.Join(lines, "\n")
}
