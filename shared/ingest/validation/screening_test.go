package validation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// wantedNames finds names that contain "wanted", as often as they do, and counts how often each is asked.
type wantedNames struct {
	mu    *sync.Mutex
	asked map[string]int
}

func newWantedNames() wantedNames { return wantedNames{new(sync.Mutex), map[string]int{}} }

func wantedHits(name string) []report.Hit {
	var hits []report.Hit
	for i := range strings.Count(name, "wanted") {
		hits = append(hits, report.Hit{List: "demo", Version: "v1", EntryID: fmt.Sprintf("E%d", i),
			EntryName: "Wanted \"X\"",
			Score:     100 - float64(i)/2, Explanation: "it says so of " + name[:min(len(name), 20)]})
	}
	return hits
}

func (w wantedNames) Screen(_ context.Context, names []string, found func(int, []report.Hit)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, name := range names {
		w.asked[name]++
		if hits := wantedHits(name); len(hits) > 0 {
			found(i, hits)
		}
	}
	return nil
}

// alertLine is an alert as a client reads it.
type alertLine struct {
	Line                  int64   `json:"line"`
	TransactionExternalID *string `json:"transaction_external_id"`
	ModificationID        *string `json:"modification_external_id"`
	Role                  string  `json:"role"`
	ExternalID            *string `json:"external_id"`
	FullName              string  `json:"full_name"`
	List                  string  `json:"list"`
	ListVersion           string  `json:"list_version"`
	EntryID               string  `json:"entry_id"`
	EntryName             string  `json:"entry_name"`
	Score                 float64 `json:"score"`
	Explanation           string  `json:"explanation"`
}

func readAlerts(t *testing.T, text []byte) []alertLine {
	t.Helper()
	var alerts []alertLine
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	for d.More() {
		var a alertLine
		errtest.Fatal(t, d.Decode(&a))
		alerts = append(alerts, a)
	}
	return alerts
}

// screeningLine is a line of the tests, whose only faults are missing fields.
func screeningLine(id int, senderName, receiverName string) string {
	party := func(role, name string) string {
		return fmt.Sprintf(`,%q:{"external_entity_type":"unknown","unknown":{"external_id":"%s-%d","full_name":%q}}`,
			role, role[:1], id, name)
	}
	return fmt.Sprintf(`{"transaction_external_id":"t%d","modification":{"external_id":"m%d"}`, id, id) +
		party("sender", senderName) + party("receiver", receiverName) + "}"
}

func screenFile(t *testing.T, file string, chunkBytes, limit int64, reject bool, screener validation.Screener) (
	summary report.Summary, reportText, alerts []byte, err error) {
	t.Helper()
	var out, alertOut bytes.Buffer
	summary, err = validation.ValidateFile(t.Context(), validation.FileInput{
		Source:         chunk.NewSource(strings.NewReader(file)),
		Plan:           chunk.NewPlan(int64(len(file)), chunkBytes),
		NewScanner:     func() validation.Scanner { return scanner.New(transaction.Rules{CollectNames: true}) },
		MaxLineBytes:   12 << 10,
		Workers:        1 + int(chunkBytes%2),
		MaxReportBytes: limit,
		Screening: &validation.FileScreening{
			NewScreener: func() validation.Screener { return screener }, Reject: reject, Alerts: &alertOut,
		},
	}, &out)
	return summary, out.Bytes(), alertOut.Bytes(), err
}

// TestScreeningFindsWhatIsThere screens random files in chunks of many sizes and compares the alerts with the hits of
// each name of each line.
func TestScreeningFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	pool := []string{"wanted", " wanted\t", "un wanted wanted", "Ann", "Bob", " ", "wanted\u00a0", "Zoë wanted", "",
		strings.Repeat("long ", 1000) + "wanted"}
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 14))
		var lines []string
		var want []alertLine
		distinct := map[string]bool{}
		rejected := map[int64]bool{}
		for i := range 1 + rng.IntN(60) {
			names := []string{pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]}
			lines = append(lines, screeningLine(i, names[0], names[1]))
			for r, name := range names {
				if name = strings.TrimSpace(name); name == "" {
					continue
				}
				distinct[name[:min(len(name), 4100)]] = true
				for _, h := range wantedHits(name[:min(len(name), 4100)]) {
					role := []string{"sender", "receiver"}[r]
					id, tx, mod := fmt.Sprintf("%s-%d", role[:1], i), fmt.Sprintf("t%d", i), fmt.Sprintf("m%d", i)
					rejected[int64(i+1)] = true
					want = append(want, alertLine{int64(i + 1), &tx, &mod, role, &id, name, h.List, h.Version,
						h.EntryID, h.EntryName, h.Score, h.Explanation})
				}
			}
		}
		file := strings.Join(lines, "\n")
		for _, chunkBytes := range []int64{301, 2000, 0} {
			for _, reject := range []bool{false, true} {
				t.Run(fmt.Sprintf("seed %d, chunks of %d bytes, reject %t", seed, chunkBytes, reject),
					func(t *testing.T) {
						screener := newWantedNames()
						summary, reportText, alerts, err := screenFile(t, file, chunkBytes, 0, reject, screener)
						errtest.Fatal(t, err)
						difftest.Equal(t, "alerts", want, readAlerts(t, alerts))
						wantCounts := report.Screening{Names: int64(len(distinct)), Hits: int64(len(want)),
							Complete: true}
						difftest.Equal(t, "counts", &wantCounts, summary.Screening)
						for name, n := range screener.asked {
							if n != 1 {
								t.Errorf("%q was screened %d times, want once", name, n)
							}
						}
						checkRejected(t, reportText, reject, rejected)
					})
			}
		}
	}
}

// checkRejected fails unless the report has the code screening_hit in the lines in which it must.
func checkRejected(t *testing.T, text []byte, reject bool, rejected map[int64]bool) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	var previous int64
	found := map[int64]bool{}
	for d.More() {
		var line struct {
			Line   int64 `json:"line"`
			Errors []struct {
				Type    string `json:"type"`
				Pointer string `json:"pointer"`
				Offset  int64  `json:"offset"`
				Msg     string `json:"msg"`
			} `json:"errors"`
		}
		errtest.Fatal(t, d.Decode(&line))
		if line.Line <= previous {
			t.Errorf("line %d follows line %d in the report", line.Line, previous)
		}
		previous = line.Line
		offset := int64(-1)
		for _, e := range line.Errors {
			if e.Offset < offset {
				t.Errorf("line %d: the errors are not ordered by offset", line.Line)
			}
			offset = e.Offset
			if e.Type == string(validation.CodeScreeningHit) {
				found[line.Line] = true
				if e.Pointer != "/sender/unknown/full_name" && e.Pointer != "/receiver/unknown/full_name" ||
					!strings.Contains(e.Msg, "list demo, entry E0.") {
					t.Errorf("line %d: the error is at %s: %s", line.Line, e.Pointer, e.Msg)
				}
			}
		}
	}
	want := map[int64]bool{}
	if reject {
		want = rejected
	}
	difftest.Equal(t, "lines with screening_hit", want, found)
}

// The alerts that the limit leaves out do not depend on the chunks, and are counted.
func TestAlertsUpToALimit(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 30 {
		lines = append(lines, screeningLine(i, "wanted", "Ann"))
	}
	file := strings.Join(lines, "\n")
	_, _, all, err := screenFile(t, file, 0, 0, false, newWantedNames())
	errtest.Fatal(t, err)
	ends := []int{0}
	for i, c := range all {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	for _, limit := range []int{1, ends[1] - 1, ends[1], ends[1] + 1, ends[20], len(all) - 1, len(all), len(all) + 1} {
		for _, chunkBytes := range []int64{300, 0} {
			summary, _, got, err := screenFile(t, file, chunkBytes, int64(limit), false, newWantedNames())
			errtest.Fatal(t, err)
			end := len(all)
			if i := slices.IndexFunc(ends, func(e int) bool { return e >= limit }); i >= 0 {
				end = ends[i]
			}
			if !bytes.Equal(got, all[:end]) {
				t.Errorf("limit %d, chunks of %d: got %d bytes, want %d", limit, chunkBytes, len(got), end)
			}
			if s := summary.Screening; s.Hits != 30 || s.Complete != (end == len(all)) {
				t.Errorf("limit %d, chunks of %d: got %+v, want 30 hits, complete %t", limit, chunkBytes, s,
					end == len(all))
			}
		}
	}
}

func TestHitsOfANameAreBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{validation.MaxHitsPerName - 1, validation.MaxHitsPerName, validation.MaxHitsPerName + 1} {
		file := screeningLine(1, strings.Repeat("wanted ", n), "Ann")
		summary, _, _, err := screenFile(t, file, 0, 0, false, newWantedNames())
		errtest.Fatal(t, err)
		if want := int64(min(n, validation.MaxHitsPerName)); summary.Screening.Hits != want {
			t.Errorf("a name with %d hits: %d alerts, want %d", n, summary.Screening.Hits, want)
		}
	}
}

// hugeHits finds so much of each name that the work files would have more than their limit.
type hugeHits struct{}

func (hugeHits) Screen(_ context.Context, names []string, found func(int, []report.Hit)) error {
	for i := range names {
		found(i, []report.Hit{{Explanation: strings.Repeat("x", 9<<20)}})
	}
	return nil
}

func TestTooManyHits(t *testing.T) {
	t.Parallel()
	_, _, _, err := screenFile(t, screeningLine(1, "a", "b"), 0, 0, false, hugeHits{})
	if !errors.Is(err, validation.ErrTooManyHits) {
		t.Errorf("got %v, want ErrTooManyHits", err)
	}
}

type failingScreener struct{ err error }

func (f failingScreener) Screen(context.Context, []string, func(int, []report.Hit)) error {
	return f.err
}

func TestErrorsOfTheScreenerAreReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("no list")
	if _, _, _, err := screenFile(t, screeningLine(1, "a", "b"), 0, 0, false, failingScreener{broken}); !errors.Is(err,
		broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
