package remedy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/errtest"
)

// Every code has its remedy, in the words of docs/errors.md.
func TestRemediesAreThoseOfTheDocuments(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/errors.md")
	errtest.Fatal(t, err)
	section, _, _ := strings.Cut(string(text), "## error_message of a batch")
	row := regexp.MustCompile("(?m)^\\| (`.*?) \\| (.*) \\| (.*) \\|$")
	code := regexp.MustCompile("`([a-z_]+)`")
	seen := 0
	for _, cells := range row.FindAllStringSubmatch(section, -1) {
		for _, c := range code.FindAllStringSubmatch(cells[1], -1) {
			seen++
			got := Of(transaction.Code(c[1]))
			if want := plainSentence(cells[2]); got.Reason != want {
				t.Errorf("the reason for %s is %q, want %q", c[1], got.Reason, want)
			}
			if want := plainSentence(cells[3]); got.Hint != want {
				t.Errorf("the hint for %s is %q, want %q", c[1], got.Hint, want)
			}
		}
	}
	if seen != len(remedies) {
		t.Errorf("docs/errors.md explains %d codes, and the package %d", seen, len(remedies))
	}
}

// plainSentence turns a cell of a Markdown table into a sentence of plain text. A name keeps its first letter.
func plainSentence(cell string) string {
	plain := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(strings.ReplaceAll(cell, "`", ""), "$1")
	if cell[0] != '`' {
		plain = strings.ToUpper(plain[:1]) + plain[1:]
	}
	return plain + "."
}

// A code that is not known has no remedy.
func TestUnknownCode(t *testing.T) {
	if got := Of("new_code"); got != (Remedy{}) {
		t.Errorf("got %+v, want none", got)
	}
}
