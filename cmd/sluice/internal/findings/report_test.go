package findings

import (
	"fmt"
	"strings"
	"testing"

	"sluice/client"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestSummarizeReport(t *testing.T) {
	report := `{"line":1,"errors":[{"type":"missing","loc":["a"]},{"type":"enum","loc":["b",0]}]}
{"line":7,"errors":[{"type":"missing","loc":["c"]}]}
`
	firstLine, whole := int64(strings.Index(report, "\n")), int64(len(report))-1
	for limit, want := range map[int64]map[string]int64{
		firstLine - 1: {},
		firstLine:     {"missing": 1, "enum": 1},
		whole - 1:     {"missing": 1, "enum": 1},
		whole:         {"missing": 2, "enum": 1},
	} {
		t.Run(fmt.Sprint(limit, " bytes"), func(t *testing.T) {
			summary := errtest.Must(summarizeReport(strings.NewReader(report), limit))(t)
			difftest.Equal(t, "truncated", limit < whole, summary.truncated)
			difftest.Equal(t, "counts", want, summary.counts)
			if len(summary.first) != len(want) {
				t.Errorf("first errors = %+v, want one of each of %d kinds", summary.first, len(want))
			}
		})
	}
	for _, broken := range []string{"{\n", "{\"line\":\n", "[]\n"} {
		errtest.Fails(t, fmt.Sprintf("the broken report %q was read without an error", broken),
			errtest.Of(summarizeReport(strings.NewReader(broken), 1000)))
	}
}

// The last entries of a large report have codes only. They are counted like all others.
func TestShortEntriesAreCounted(t *testing.T) {
	report := `{"line":1,"errors":[{"type":"missing","msg":"It is missing.","offset":0}]}
{"line":7,"errors":[],"codes":["missing","enum"]}
`
	summary := errtest.Must(summarizeReport(strings.NewReader(report), 1000))(t)
	var out strings.Builder
	summary.print(terminal.New(&out), strings.NewReader("{}\n"))
	const want = "\nline 1  missing\n  It is missing.\n    {}\n    ^\n  What to do: Add it.\n" +
		"\nline 7  enum\n  What to do: Check spelling and case; the message lists the words.\n" +
		"\nErrors: 2 missing, 1 enum\n"
	difftest.Equal(t, "output", want, out.String())
}

// What to do is said once for each code, and nothing of a code that this program does not know.
func TestRemediesArePrinted(t *testing.T) {
	report := `{"line":1,"errors":[{"type":"number_type","msg":"Not a number."},{"type":"new_code","msg":"New."}]}
{"line":7,"errors":[{"type":"number_type","msg":"Not a number."},{"type":"enum","msg":"Wrong."}]}
{"line":8,"errors":[{"type":"missing","msg":"Missing."},{"type":"enum","msg":"Wrong."},{"type":"enum","msg":"Wrong."}]}
`
	summary := errtest.Must(summarizeReport(strings.NewReader(report), 1000))(t)
	var out strings.Builder
	summary.print(terminal.New(&out), nil)
	const want = `
line 1  number_type
  Not a number.
  What to do: "12.50" is a string, 12.50 a number; an integer has no fraction
  and no exponent; a line is one object. null counts as absent as the value of
  a key, and has the wrong type inside an array.

line 1  new_code
  New.

line 7  enum
  The line also has number_type.
  Wrong.
  What to do: Check spelling and case; the message lists the words.

line 8  missing
  The line also has enum.
  Missing.
  What to do: Add it.

Errors: 3 enum, 2 number_type, 1 missing, 1 new_code
`
	difftest.Equal(t, "output", want, out.String())
}

// A report without an error prints no list of none.
func TestEmptyReportPrintsNothing(t *testing.T) {
	var out strings.Builder
	reportSummary{}.print(terminal.New(&out), nil)
	if out.Len() > 0 {
		t.Errorf("printed %q, want nothing", out.String())
	}
}

func TestFormatOtherLines(t *testing.T) {
	for want, e := range map[string]client.ReportError{
		"line 2":                         {OtherLines: []int64{2}, OtherLinesTotal: 1},
		"lines 1, 2, 3, 4, 5":            {OtherLines: []int64{1, 2, 3, 4, 5}, OtherLinesTotal: 5},
		"lines 1, 2, 3, 4, 5 and 1 more": {OtherLines: []int64{1, 2, 3, 4, 5, 6}, OtherLinesTotal: 6},
		"lines 1,000 and 1,999 more":     {OtherLines: []int64{1000}, OtherLinesTotal: 2000},
	} {
		difftest.Equal(t, fmt.Sprintf("formatOtherLines(%+v)", e), want, formatOtherLines(e))
	}
}
