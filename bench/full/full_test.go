package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/go-cmp/cmp"

	"sluice/internal/testcloud"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// TestCases requires that the lines of each case are what it says, and that its file of full size may be uploaded and
// ingested.
func TestCases(t *testing.T) {
	const sample, maxUploadBytes, maxTransactions = 5000, 2_147_483_647, 20_000_000
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := errtest.Must(c.open(sample))(t)
			scan := scanner.New(transaction.Rules{ReceivedAt: time.Now(), MaxFuture: time.Hour})
			written, valid, long := 0, 0, 0
			var line []byte
			for range sample {
				line = s.next(line[:0])
				if len(line) <= longLineBytes { // the few larger ones are as many in a large file
					written += len(line) + 1
				}
				if res := scan.Line(line); len(res.Findings) == 0 && !res.Blank {
					valid++
				}
				if len(line) == longLineBytes && c.name == "long-lines" {
					long++
				}
			}
			if size := int64(written) * c.lines / sample; size > maxUploadBytes || size < maxUploadBytes*3/10 ||
				c.lines > maxTransactions {
				t.Errorf("%d lines have %d bytes, want %d at most", c.lines, size, maxUploadBytes)
			}
			switch c.name {
			case "all-invalid":
				// Of bad lines, those have no finding that are so only beside others: duplicates and unknown entities.
				if valid > sample/5 {
					t.Errorf("%d of %d lines have no finding, want few", valid, sample)
				}
			case "invalid-20m":
				if valid != 0 {
					t.Errorf("%d of %d lines are valid, want none", valid, sample)
				}
			default:
				if valid != sample {
					t.Errorf("%d of %d lines are valid, want all", valid, sample)
				}
			}
			difftest.Equal(t, "lines are long", map[string]int{"long-lines": sample / longLineEvery}[c.name], long)
		})
	}
}

// TestShortestLine requires that no member of the line can be left out and no string be shorter.
func TestShortestLine(t *testing.T) {
	scan := scanner.New(transaction.Rules{ReceivedAt: time.Now(), MaxFuture: time.Hour})
	line := shortestLine(nil, 1)
	for _, part := range []string{`"payment_external_id":"p",`, `"sender":{"by_external_id":"e"},`, `,"amount":1`,
		`,"currency":"EUR"`, `,"type":"refund"`, `:00"`} {
		shorter := bytes.Replace(line, []byte(part), nil, 1)
		if len(shorter) == len(line) || len(scan.Line(shorter).Findings) == 0 {
			t.Errorf("without %s the line is valid, or does not have it", part)
		}
	}
}

func TestMeasureStages(t *testing.T) {
	start := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	event := func(kind, name string, at time.Duration) types.HistoryEvent {
		e := types.HistoryEvent{Timestamp: aws.Time(start.Add(at))}
		if kind == "entered" {
			e.StateEnteredEventDetails = &types.StateEnteredEventDetails{Name: &name}
		} else {
			e.StateExitedEventDetails = &types.StateExitedEventDetails{Name: &name}
		}
		return e
	}
	got := measureStages([]types.HistoryEvent{
		{Timestamp: aws.Time(start)}, event("entered", "Plan", time.Second), event("exited", "Plan", 3*time.Second),
		event("entered", "Validate", 3*time.Second), event("entered", "ValidateChunk", 4*time.Second),
		event("entered", "ValidateChunk", 4*time.Second), event("exited", "ValidateChunk", 6*time.Second),
		event("exited", "ValidateChunk", 7*time.Second), event("exited", "Validate", 8*time.Second),
	})
	want := []stage{{"Plan", start.Add(time.Second), 2 * time.Second},
		{"Validate", start.Add(3 * time.Second), 5 * time.Second}}
	difftest.Equal(t, "stages", want, got, cmp.AllowUnexported(stage{}))
}

func TestIngestion(t *testing.T) {
	start := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	r := result{stored: 1000, stages: []stage{{"Ingest", start, 20 * time.Second}}, progress: []progress{
		{start.Add(-time.Second), 0}, {start.Add(2 * time.Second), 200}, {start.Add(4 * time.Second), 300}}}
	for lines, want := range map[int64]float64{100: 100, 200: 100, 201: 75, 301: 50, 1000: 50} {
		difftest.Equal(t, fmt.Sprintf("the first %d lines were ingested at: a second", lines), want, r.ingestion(lines))
	}
	difftest.Equal(t, "without ingestion: lines a second", float64(0), (&result{}).ingestion(1))
}

func TestFunctionOf(t *testing.T) {
	c := &cloud{Cloud: &testcloud.Cloud{Data: "/data", Bin: "/project/bin"}}
	c.Prefix = "sluice"
	for program, want := range map[string]string{
		"/project/bin/functions/validate": "validate", "/data/versions/sluice-validate/12": "validate",
		"/project/bin/sluice-local": "", "/data/other/sluice-validate/12": "", "": "",
	} {
		difftest.Equal(t, program+" is the function", want, c.functionOf(program))
	}
	for program, want := range map[string]string{
		"/project/bin/functions/validate": "validate", "/project/bin/sluice-local": "sluice-local",
		"/project/bin/tools/dynoxide/bin/dynoxide": "dynoxide", "/bin/cat": "",
	} {
		difftest.Equal(t, program+" is the program", want, c.programOf(program))
	}
}

func TestProcessorTimes(t *testing.T) {
	difftest.Equal(t, "times", processorTime{12340 * time.Millisecond, 50 * time.Millisecond},
		timeOf("17 (a (b) c) S 1 17 17 0 -1 4194304 90 0 0 0 1234 5 0 0 20 0 9 0 33"), allowTimes)
	difftest.Equal(t, "times of nothing", processorTime{}, timeOf(""), allowTimes)
	start := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	w := &processWatch{}
	for i := range 4 {
		used := time.Duration(i * i)
		w.samples = append(w.samples, processorSample{start.Add(time.Duration(i) * time.Second),
			map[string]processorTime{"validate": {used, 2 * used}}})
	}
	for at, want := range map[time.Duration]time.Duration{999: 3, 1000: 3, 1001: 0, 5000: -5} {
		got := w.between(start.Add(at*time.Millisecond), start.Add(2*time.Second))["validate"]
		difftest.Equal(t, fmt.Sprintf("time from %d ms on", at), processorTime{want, 2 * want}, got, allowTimes)
	}
}

var allowTimes = cmp.AllowUnexported(processorTime{})

func TestPeakMemory(t *testing.T) {
	if got := peakMemory("Name:\tx\nVmPeak:\t   900 kB\nVmHWM:\t   12345 kB\n"); got != 12345<<10 {
		t.Errorf("the peak is %d bytes, want %d", got, 12345<<10)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("this system has no /proc")
	}
	if got := peakMemory(string(status)); got < 1<<20 {
		t.Errorf("this process has a peak of %d bytes, want more than a megabyte", got)
	}
}
