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

	"sluice/shared/chunk"
	"sluice/shared/transaction/scanner"
	"sluice/shared/validation"
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

// TestRealLines judges real lines with the real scanner and checks that the report points to the faulty values.
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
		if err != nil {
			t.Fatal(err)
		}
		if c := sum.Counts; c.Total != 8 || c.Accepted != 2 || c.Invalid != 6 {
			t.Errorf("chunks of %d: %+v", size, c)
		}
		if diff := cmp.Diff(want, shown(t, file, &out)); diff != "" {
			t.Fatalf("chunks of %d (-want +got):\n%s", size, diff)
		}
	}
}

// shown lists errors with the value that stands at their offset.
func shown(t *testing.T, file string, out io.Reader) []string {
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

// endless is a file of any size that is nowhere: the same line again and again, each with an ID of its own.
type endless struct{ line []byte }

func (e endless) ReadAt(p []byte, at int64) (int, error) {
	size := int64(len(e.line))
	for n := 0; n < len(p); {
		number, from := at/size, at%size
		line := bytes.Replace(e.line, []byte("000000000000"), fmt.Appendf(nil, "%012d", number), 1)
		copied := copy(p[n:], line[from:])
		n, at = n+copied, at+int64(copied)
	}
	return len(p), nil
}

// TestMemory: a file all of whose lines are bad in several ways takes no more memory than its share of work files.
func TestMemory(t *testing.T) {
	const size, workMemory, bound = 96 << 20, 4 << 20, 48 << 20
	line := fmt.Sprintf(benchLine, "wrong", "gone", "x")
	line = strings.Replace(line, `"modification":{"external_id":"wrong"`, `"modification":{"external_id":"000000000000"`, 1)
	runtime.GC()
	var base runtime.MemStats
	runtime.ReadMemStats(&base)
	var mu sync.Mutex
	var most uint64
	sum, err := validation.ValidateFile(t.Context(), validation.FileInput{
		Source: chunk.NewSource(endless{[]byte(line)}), Plan: chunk.NewPlan(size, 1<<20), Workers: 2, Entities: validation.NewDirectory(),
		NewScanner: func() validation.Scanner { return scanner.New(rules) },
		WorkMemory: workMemory, TempDir: t.TempDir(),
		Progress: func(validation.Progress) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			mu.Lock()
			defer mu.Unlock()
			most = max(most, now.HeapAlloc-min(base.HeapAlloc, now.HeapAlloc))
		},
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts.Accepted != 0 || sum.Counts.Invalid < size/int64(len(line)) {
		t.Errorf("%+v", sum.Counts)
	}
	if most > bound {
		t.Errorf("%d MiB of heap for %d MiB of bad lines", most>>20, size>>20)
	}
	t.Logf("%d MiB of heap", most>>20)
}
