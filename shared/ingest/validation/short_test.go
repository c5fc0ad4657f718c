package validation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

// A report that passes its limit has the same lines and counts. Where it becomes short depends neither on the chunks
// nor on whether one process or many functions make it.
func TestShortReport(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		file := randomFile(rng, 1+rng.IntN(60))
		want := oracle(file, testLineBytes, true)
		for _, limit := range []int64{1, 200, 1000, int64(len(want.report)), int64(len(want.report)) + 1} {
			short, shortened := shortenReport(t, want.report, limit)
			wantCSV := shortenCSV(t, want.csv, short)
			for _, chunkBytes := range []int64{20, 150, 0} {
				what := fmt.Sprintf("seed %d, chunks of %d bytes, limit %d", seed, chunkBytes, limit)
				plan := chunk.NewPlan(int64(len(file)), chunkBytes)
				w := validateChunks(t, file, plan)
				reconcilePartitions(t, w, statesByID{})
				got := settleChunks(t, file, plan, w, limit)
				compareOutcomes(t, what, outcome{short, wantCSV, want.rejected, want.accepted, want.summary}, got)

				in := fileInput(file, plan)
				in.MaxReportBytes = limit
				var out, csv bytes.Buffer
				in.CSV = &csv
				summary, err := ValidateFile(t.Context(), in, &out)
				errtest.Fatal(t, err)
				compareReports(t, what+", whole file", short, out.String())
				compareReports(t, what+", whole file as CSV", wantCSV, csv.String())
				if summary.ReportComplete == nil || *summary.ReportComplete == shortened {
					t.Fatalf("%s: report_complete is %v, want %t", what, summary.ReportComplete, !shortened)
				}
			}
		}
	}
}

// shortenCSV returns a report as CSV as it is if the records of each line whose entry in a report is short are short.
func shortenCSV(t *testing.T, full, shortReport string) string {
	t.Helper()
	codes := map[string]string{} // of short entries, by the number of the line
	for entry := range strings.Lines(shortReport) {
		var e struct {
			Line  json.Number `json:"line"`
			Codes []string    `json:"codes"`
		}
		errtest.Fatal(t, json.Unmarshal([]byte(entry), &e))
		if len(e.Codes) > 0 {
			codes[e.Line.String()] = strings.Join(e.Codes, " ")
		}
	}
	var out strings.Builder
	previous := ""
	for record := range strings.SplitAfterSeq(full, "\r\n") {
		cells := strings.SplitN(record, ",", 4)
		if short, ok := codes[cells[0]]; !ok {
			out.WriteString(record)
		} else if cells[0] != previous {
			out.WriteString(strings.Join(cells[:3], ",") + "," + short + ",,,\r\n")
		}
		previous = cells[0]
	}
	return out.String()
}

// shortenReport returns a report as it is if every entry that begins after limit bytes is short, and whether there is
// one.
func shortenReport(t *testing.T, full string, limit int64) (short string, shortened bool) {
	t.Helper()
	var out strings.Builder
	for entry := range strings.Lines(full) {
		if int64(out.Len()) < limit {
			out.WriteString(entry)
			continue
		}
		shortened = true
		var e map[string]any
		errtest.Fatal(t, json.Unmarshal([]byte(entry), &e))
		fmt.Fprintf(&out, `{"line":%v`, e["line"])
		for _, name := range []string{"request_uuid", "transaction_external_id", "modification_external_id"} {
			if e[name] != nil {
				id, _ := json.Marshal(e[name])
				fmt.Fprintf(&out, `,%q:%s`, name, id)
			}
		}
		out.WriteString(`,"codes":[`)
		seen := ""
		for _, found := range e["errors"].([]any) {
			code := fmt.Sprintf("%q", found.(map[string]any)["type"])
			if !strings.Contains(seen, code) {
				seen += "," + code
			}
		}
		out.WriteString(strings.TrimPrefix(seen, ",") + "]}\n")
	}
	return out.String(), shortened
}

// The rejected lines and the accepted ones are the lines of the file that are not blank, but for those that are too
// long, which are counted.
func TestRejectedAndAcceptedLinesAreTheFile(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		file := randomFile(rng, rng.IntN(80))
		got := runPasses(t, file, 10+rng.Int64N(400), statesByID{})
		rejected := bytes.SplitAfter([]byte(got.rejected), []byte("\n"))
		tooLong := int64(0)
		for i, text := range bytes.Split(bytes.TrimPrefix(file, []byte("\xEF\xBB\xBF")), []byte("\n")) {
			switch {
			case len(text) > testLineBytes:
				tooLong++
			case i < len(got.accepted) && got.accepted[i], len(bytes.Trim(text, " \t\r")) == 0:
			case !bytes.Equal(append(bytes.Clone(text), '\n'), rejected[0]):
				t.Fatalf("seed %d: line %d is %q, and the next rejected one %q", seed, i+1, text, rejected[0])
			default:
				rejected = rejected[1:]
			}
		}
		if len(rejected) != 1 || len(rejected[0]) != 0 || got.summary.RejectedLeftOut != tooLong {
			t.Errorf("seed %d: %q is rejected beyond the file, %d lines are left out, want none and %d", seed, rejected,
				got.summary.RejectedLeftOut, tooLong)
		}
	}
}
