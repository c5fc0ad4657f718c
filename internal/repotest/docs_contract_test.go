package repotest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
)

// The table of statuses in docs/contract/batch.md names every status with the statuses that may follow it.
func TestContractStatuses(t *testing.T) {
	want, got := map[string][]string{}, map[string][]string{}
	for _, from := range batch.Statuses() {
		want[string(from)] = []string{}
		for _, to := range batch.Statuses() {
			if from.CanTransitionTo(to) {
				want[string(from)] = append(want[string(from)], string(to))
			}
		}
		slices.Sort(want[string(from)])
	}
	for _, row := range tableRows(t, "docs/contract/batch.md", "Statuses") {
		next := []string{}
		if row[2] != "terminal" {
			next = strings.Split(row[2], ", ")
		}
		slices.Sort(next)
		got[row[0]] = next
	}
	difftest.Equal(t, "transitions of package batch and of docs/contract/batch.md", want, got)
}

// The table of codes in docs/contract/transaction-lines.md has every code of a finding and no other.
func TestContractCodes(t *testing.T) {
	var want, got []string
	for _, p := range modulePackages(t) {
		if strings.HasPrefix(folderOf(p), "shared/") {
			want = append(want, stringConstantsOfType(p, "Code")...)
		}
	}
	for _, row := range tableRows(t, "docs/contract/transaction-lines.md", "Codes") {
		for _, code := range codeSpan.FindAllString(row[len(row)-1], -1) {
			got = append(got, strings.Trim(code, "`"))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	difftest.Equal(t, "codes of findings and of docs/contract/transaction-lines.md", slices.Compact(want), got)
}

// The prefixes that docs/contract/platform.md leaves out of its tables. A longer one comes first.
var platformPrefixes = regexp.MustCompile(
	`^/(entitydatacommand/api/v2/entity|entitydataquery/api/v2|` +
		`documentmanagementcommand/api/v2/documentmanagement(/product|/deal)?|` +
		`documentmanagementquery/api/documentmanagement)`)

// docs/contract/platform.md names every path of the platform endpoints.
func TestContractPlatformPaths(t *testing.T) {
	page := string(readFile(t, "docs/contract/platform.md"))
	for _, function := range []string{"entity", "document"} {
		for _, r := range servedRoutes()[function] {
			short := platformPrefixes.ReplaceAllString(r.Path, "")
			if short == r.Path || short != "" && !strings.Contains(page, "`"+short+"`") {
				t.Errorf("docs/contract/platform.md does not name `%s` (%s %s)", short, r.Method, r.Path)
			}
		}
	}
}

// tableRows returns the cells of the rows of the one table below a heading of a page.
func tableRows(t *testing.T, page, heading string) [][]string {
	t.Helper()
	var rows [][]string
	isBelow := false
	for _, line := range proseLines(string(readFile(t, page))) {
		if match := markdownHeading.FindStringSubmatch(line); match != nil {
			isBelow = match[1] == heading
		}
		if !isBelow || !strings.HasPrefix(line, "| ") { // the ruler begins with "|-"
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		t.Fatalf("%s has no table below %q", page, heading)
	}
	return rows[1:] // without the names of the columns
}
