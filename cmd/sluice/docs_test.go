package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/errtest"
)

// The help and docs/command-line.md list the same exit codes.
func TestExitCodesAreDocumented(t *testing.T) {
	page := errtest.Must(os.ReadFile("../../docs/command-line.md"))(t)
	codes := func(text, pattern string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		return found
	}
	want := []string{"0", "1", "2", "3", "130"}
	if got := codes(program().Annotations["notes"], `(?m)^  (\d+) `); !slices.Equal(got, want) {
		t.Errorf("the help lists the exit codes %v, want %v", got, want)
	}
	if got := codes(string(page), `(?m)^\| (\d+) \|`); !slices.Equal(got, want) {
		t.Errorf("the page lists the exit codes %v, want %v", got, want)
	}
}

// Help is not wrapped by the program, except that of flags.
func TestDescriptionsAreNarrow(t *testing.T) {
	const width = 121
	for _, c := range program().Commands() {
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(line); n > width { // with the line break
				t.Errorf("the description of %s has a line of %d columns, want at most %d: %s", c.Name(), n-1, width-1,
					line)
			}
		}
	}
}
