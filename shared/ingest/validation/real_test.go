package validation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/errtest"
)

// reportLine is a line of the report as a client reads it.
type reportLine struct {
	Line                  int64   `json:"line"`
	RequestUUID           *string `json:"request_uuid"`
	TransactionExternalID *string `json:"transaction_external_id"`
	ModificationID        *string `json:"modification_external_id"`
	Errors                []struct {
		Loc             []any   `json:"loc"`
		Msg             string  `json:"msg"`
		Type            string  `json:"type"`
		Pointer         string  `json:"pointer"`
		Offset          int64   `json:"offset"`
		OtherLines      []int64 `json:"other_lines"`
		OtherLinesTotal int64   `json:"other_lines_total"`
	} `json:"errors"`
	ErrorsDropped int `json:"errors_dropped"`
}

// TestRealLines validates lines of the interface with the real scanner, and compares the values to which the report
// points.
func TestRealLines(t *testing.T) {
	good := strings.TrimSuffix(fmt.Sprintf(benchLine, "11111111-1111-4111-8111-111111111111", "known", "x"), "\n")
	with := func(pairs ...string) string {
		return strings.NewReplacer(append(pairs, "11111111-1111-4111-8111-111111111111", pairs[1])...).Replace(good)
	}
	id := "11111111-1111-4111-8111-11111111111"
	file := "\xEF\xBB\xBF" + strings.Join([]string{
		good,
		with(id+"1", id+"2", `"known"`, `"gone"`),
		"",
		with(id+"1", id+"3", `"known"`, `"half"`, `"payout"`, `"pay"`),
		with(id+"1", id+"4"),
		with(id+"1", id+"4", `"amount":120.55`, `"amount":"x"`) + "\r",
		`{"modification":{"external_id":"` + id + `4"},"oh":`,
		"[]",
		with(id+"1", id+"5"),
	}, "\n")
	want := []string{
		`2 entity_not_found "gone"`,
		`4 enum "pay"`,
		`4 entity_not_onboarded "half"`,
		`5 duplicate_modification_id "` + id + `4" [6 7] of 2`,
		`6 duplicate_modification_id "` + id + `4" [5 7] of 2`,
		`6 number_type "x"`,
		`7 duplicate_modification_id "` + id + `4" [5 6] of 2`,
		"7 json_invalid ",
		"8 object_type []",
	}
	entities := validation.NewDirectory()
	entities.Add("half", validation.Onboarded)
	entities.Add("known", validation.Onboarded)
	entities.Add("half", validation.NotOnboarded)
	for size := int64(97); size < 12000; size += 1 + size/2 {
		var out bytes.Buffer
		sum, err := validation.ValidateFile(t.Context(), validation.FileInput{
			Source: chunk.NewSource(strings.NewReader(file)), Plan: chunk.NewPlan(int64(len(file)), size), Workers: 2,
			Entities:   entities,
			NewScanner: func() validation.Scanner { return scanner.New(rules) },
		}, &out)
		errtest.Fatal(t, err)
		if got, want := sum.Counts, (report.Counts{Total: 8, Accepted: 2, Invalid: 6}); got != want {
			t.Errorf("chunks of %d bytes: counts are %+v, want %+v", size, got, want)
		}
		if diff := cmp.Diff(want, errorsWithValues(t, file, &out)); diff != "" {
			t.Fatalf("chunks of %d bytes: errors (-want +got):\n%s", size, diff)
		}
	}
}

// errorsWithValues returns the errors of a report, each as its line, its type, and the value at its offset in the file.
func errorsWithValues(t *testing.T, file string, out io.Reader) []string {
	t.Helper()
	var got []string
	dec := json.NewDecoder(out)
	dec.DisallowUnknownFields()
	for {
		var line reportLine
		if err := dec.Decode(&line); err == io.EOF {
			return got
		} else if err != nil {
			t.Fatal(err)
		}
		for _, e := range line.Errors {
			value, _, _ := strings.Cut(file[e.Offset:], "\n")
			value = value[:strings.IndexAny(value+",", ",}")]
			text := fmt.Sprintf("%d %s %s", line.Line, e.Type, value)
			if e.OtherLines != nil {
				text += fmt.Sprintf(" %v of %d", e.OtherLines, e.OtherLinesTotal)
			}
			got = append(got, text)
		}
	}
}

// endlessFile is a file of unlimited size that is not stored: the same line again and again, each time with its number
// in the place of twelve zeros.
type endlessFile struct{ line []byte }

func (f endlessFile) ReadAt(p []byte, offset int64) (int, error) {
	size := int64(len(f.line))
	for n := 0; n < len(p); {
		number, from := offset/size, offset%size
		line := bytes.Replace(f.line, []byte("000000000000"), fmt.Appendf(nil, "%012d", number), 1)
		copied := copy(p[n:], line[from:])
		n, offset = n+copied, offset+int64(copied)
	}
	return len(p), nil
}

// TestHeapOfInvalidLines validates a file all of whose lines have several errors, and requires that the heap stays
// within a bound that does not depend on the size of the file.
func TestHeapOfInvalidLines(t *testing.T) {
	const size, workMemory, maxHeap = 96 << 20, 4 << 20, 48 << 20
	line := fmt.Sprintf(benchLine, "wrong", "gone", "x")
	line = strings.Replace(line, `"modification":{"external_id":"wrong"`,
		`"modification":{"external_id":"000000000000"`, 1)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var mu sync.Mutex
	var heap uint64
	sum, err := validation.ValidateFile(t.Context(), validation.FileInput{
		Source:     chunk.NewSource(endlessFile{[]byte(line)}),
		Plan:       chunk.NewPlan(size, 1<<20),
		NewScanner: func() validation.Scanner { return scanner.New(rules) },
		Entities:   validation.NewDirectory(),
		Workers:    2,
		WorkMemory: workMemory,
		TempDir:    t.TempDir(),
		Progress: func(validation.Progress) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			mu.Lock()
			defer mu.Unlock()
			heap = max(heap, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		},
	}, io.Discard)
	errtest.Fatal(t, err)
	if got, wantInvalid := sum.Counts, size/int64(len(line)); got.Accepted != 0 || got.Invalid < wantInvalid {
		t.Errorf("counts are %+v, want 0 accepted and at least %d invalid", got, wantInvalid)
	}
	if heap > maxHeap {
		t.Errorf("heap grew to %d MiB for %d MiB of invalid lines, want at most %d MiB", heap>>20, size>>20,
			maxHeap>>20)
	}
	t.Logf("heap grew to %d MiB", heap>>20)
}
