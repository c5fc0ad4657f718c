package repotest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var (
	slotsRow = regexp.MustCompile("(?m)^\\| (\\d+) \\| (`[^`]+`|none: the defaults are for this) \\| (\\d+) \\|$")
	reserved = regexp.MustCompile(`(?m)^    sam deploy --parameter-overrides (AuthorizerConcurrency=.*)\n    aws ` +
		`.*# (\d+): `)
	override = regexp.MustCompile(`(\w+)=(\d+)`)
)

// What the first day recommends fits into the account: slots times widths stay below its executions, and AWS keeps 100
// of them unreserved.
func TestTheFirstDayFitsIntoTheAccount(t *testing.T) {
	const unreservable = 100
	m := loadTemplate(t)
	text := string(readFile(t, "docs/first-day.md"))
	rows := slotsRow.FindAllStringSubmatch(text, -1)
	difftest.Equal(t, "rows of slots", 3, len(rows))
	largest, atOnce := 0, 0
	for _, row := range rows {
		values := overrides(t, m, row[2])
		executions, _ := strconv.Atoi(row[1])
		said, _ := strconv.Atoi(row[3])
		widest := max(values("ValidateConcurrency"), values("ReconcileConcurrency"), values("ScreenConcurrency"),
			values("SettleConcurrency"))
		// A small batch has at most eight chunks.
		small, ingested := values("SmallSlots"), values("IngestionSlots")
		if ingested == 0 {
			ingested = values("MaxIngestionSlots")
		}
		atOnce = values("ValidationSlots")*widest + small*min(8, widest) +
			(ingested+small)*values("IngestConcurrency")
		if atOnce != said || atOnce >= executions {
			t.Errorf("for %d executions, %d work at once; the document says %d", executions, atOnce, said)
		}
		largest = executions
	}
	r := reserved.FindStringSubmatch(text)
	if r == nil {
		t.Fatal("found no recommendation of reserved concurrency")
	}
	sum := 0
	overrides(t, m, r[1])
	for _, o := range override.FindAllStringSubmatch(r[1], -1) {
		n, _ := strconv.Atoi(o[2])
		sum += n
	}
	if left, _ := strconv.Atoi(r[2]); left != largest-sum || left < atOnce+unreservable {
		t.Errorf("%d of %d are left after %d are reserved; the document says %s, and the steps need %d and %d more",
			largest-sum, largest, sum, r[2], atOnce, unreservable)
	}
}

// overrides returns the values of parameters, of which a text changes some. Each of those must exist.
func overrides(t *testing.T, m template, text string) func(string) int {
	t.Helper()
	given := map[string]string{}
	for _, o := range override.FindAllStringSubmatch(text, -1) {
		if _, ok := m.Parameters[o[1]]; !ok {
			t.Errorf("the template has no parameter %s", o[1])
		}
		given[o[1]] = o[2]
	}
	return func(name string) int {
		value, ok := given[name]
		if p := m.Parameters[name]; !ok && p.Default != nil {
			value = *p.Default
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		errtest.Is(t, "the parameter "+name+" has no number", err, nil)
		return n
	}
}
