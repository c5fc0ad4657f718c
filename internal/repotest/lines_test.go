package repotest

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how many columns a line of Go has at most, as .editorconfig and CONTRIBUTING.md say, and tabColumns how
// many of them a tab counts for.
const (
	maxColumns = 120
	tabColumns = 4
)

var (
	// generatedMark marks a file as generated, as go generate defines it.
	generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	// urlComment is a comment of nothing but an address, which cannot be broken.
	urlComment = regexp.MustCompile(`^\s*// *https?://\S+$`)
)

// No line of Go is too long for a screen. Generated files and comments of one address are exempt; raw strings are not.
func TestGoLinesFitOnAScreen(t *testing.T) {
	files := filesNamed(t, "*.go")
	if len(files) < 1000 {
		t.Errorf("found %d Go files, want at least 1000", len(files))
	}
	for _, file := range files {
		source := string(readFile(t, file))
		if generatedMark.MatchString(source) {
			continue
		}
		number := 0
		for line := range strings.Lines(source) {
			number++
			columns := utf8.RuneCountInString(strings.TrimRight(line, "\n")) + (tabColumns-1)*strings.Count(line, "\t")
			if columns > maxColumns && !urlComment.MatchString(line) {
				t.Errorf("%s:%d: %d columns, want at most %d (a tab counts as %d)", file, number, columns, maxColumns,
					tabColumns)
			}
		}
	}
}
