package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The help and docs/command-line.md list the same exit codes.
func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := func(text, pattern string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		return found
	}
	want := []string{"0", "1", "2", "3", "130"}
	if got := codes(program().Notes, `(?m)^  (\d+) `); !slices.Equal(got, want) {
		t.Errorf("the help lists the exit codes %v, want %v", got, want)
	}
	if got := codes(string(page), `(?m)^\| (\d+) \|`); !slices.Equal(got, want) {
		t.Errorf("the page lists the exit codes %v, want %v", got, want)
	}
}
