package repotest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/ratelimit"
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

// docs/contract/limits.md has every setting with its default.
func TestContractLimitSettings(t *testing.T) {
	var want, got []string
	for _, s := range ratelimit.AllSettings() {
		want = append(want, fmt.Sprintf("`%s` %d", s, s.Default()))
	}
	for _, row := range tableRows(t, "docs/contract/limits.md", "Settings") {
		got = append(got, row[0]+" "+row[1])
	}
	difftest.Equal(t, "settings of package ratelimit and of docs/contract/limits.md", want, got)
}

// Every route has a limit and a largest body that API Gateway lets through, and docs/contract/limits.md says for every
// route which they are, and what requests to it may leave open.
func TestContractLimits(t *testing.T) {
	const page = "docs/contract/limits.md"
	rows, used := tableRows(t, page, "Requests"), map[int]bool{}
	for _, routes := range servedRoutes() {
		for _, r := range routes {
			name := r.Method + " " + r.Path
			rate := settingsCell(append(r.Limit.Settings(), r.ObjectLimit.Settings()...))
			switch r.Limit {
			case ratelimit.TokenRequests:
				rate = "`TokenRequests`"
			case ratelimit.WholeAPI:
				rate = "`ThrottlingRate`"
			}
			if rate == "" || r.BodyLimit() > gatewayBody {
				t.Errorf("%s has the limit %q and bodies of %d bytes", name, r.Limit, r.BodyLimit())
			}
			i := rowOfRoute(rows, r)
			if i < 0 {
				t.Errorf("%s does not have %s", page, name)
				continue
			}
			used[i] = true
			want := []string{rate, fmt.Sprintf("%d MiB", r.BodyLimit()>>20), cmp.Or(settingsCell(r.Opens), "nothing")}
			if got := rows[i][1:]; !slices.Equal(got, want) {
				t.Errorf("%s says of %s %q, want %q", page, name, got, want)
			}
		}
	}
	for i, row := range rows {
		if !used[i] {
			t.Errorf("%s has a row of no route: %s", page, row[0])
		}
	}
}

// gatewayBody is the largest body that API Gateway takes.
const gatewayBody = 10 << 20

func settingsCell(settings []ratelimit.Setting) string {
	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = "`" + string(s) + "`"
	}
	return strings.Join(names, ", ")
}

// rowOfRoute returns the index of the row with the longest path that matches a route; -1 if none does.
func rowOfRoute(rows [][]string, r httpapi.Route) int {
	found, length := -1, 0
	for i, row := range rows {
		methods, path, _ := strings.Cut(strings.Trim(row[0], "`"), " `")
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(path), `\.\.\.`, ".*") + "$"
		if slices.Contains(strings.Split(methods, ", "), r.Method) && len(path) > length &&
			regexp.MustCompile(pattern).MatchString(r.Path) {
			found, length = i, len(path)
		}
	}
	return found
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
