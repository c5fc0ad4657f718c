package main

import (
	"bytes"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"sluice/internal/cost"
)

var update = flag.Bool("update", false, "write the tables into docs/capacity.md")

func TestTheDocumentIsCurrent(t *testing.T) {
	const (
		page  = "../../docs/capacity.md"
		begin = "<!-- lab/capacity prints these tables: go test ./capacity -update -->\n"
		end   = "<!-- end of the tables -->"
	)
	var tables strings.Builder
	text, err := os.ReadFile(page)
	if err == nil {
		err = printTables(&tables)
	}
	before, rest, hasBegin := strings.Cut(string(text), begin)
	present, after, hasEnd := strings.Cut(rest, end)
	if err != nil || !hasBegin || !hasEnd {
		t.Fatalf("%s has no place for the tables, error %v", page, err)
	}
	if *update {
		err = os.WriteFile(page, []byte(before+begin+tables.String()+end+after), 0o644)
	} else if present != tables.String() {
		t.Errorf("%s is not current: make -C lab capacity prints\n%s", page, &tables)
	}
	if err != nil {
		t.Error(err)
	}
}

// simulateChanged simulates what arguments say, with one text for another in the definition of the state machine.
func simulateChanged(t *testing.T, args, old, changed string) result {
	t.Helper()
	a := newAssumptions()
	if err := a.parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	of, err := readService(a)
	if err == nil {
		of.machine, err = readMachine(bytes.ReplaceAll(of.definition, []byte(old), []byte(changed)))
	}
	if err != nil || !bytes.Contains(of.definition, []byte(old)) {
		t.Fatalf("the state machine cannot have %s for %s, error %v", changed, old, err)
	}
	return simulate(a, of, 1)
}

func simulateArgs(t *testing.T, args string) result {
	t.Helper()
	return simulateChanged(t, args, "", "")
}

// Retries, their pauses, the order of the states and the slots are those of the service: changing them changes what
// comes of batches.
func TestTheServiceDecides(t *testing.T) {
	const crowded, alone = "-preset none -executions 300 -load 5x2x2.05GB", "-preset warm -load 1x1x2.05GB"
	failed := func(r result) int { return summarise([]result{r}, "").failed }
	last := func(r result) float64 { return summarise([]result{r}, "").afterUpload }
	patient := simulateArgs(t, crowded)
	if failed(patient) > 0 || patient.throttled == 0 {
		t.Errorf("with the retries of the service %d batches failed after %d throttled invocations", failed(patient),
			patient.throttled)
	}
	impatient := simulateChanged(t, crowded, `"MaxAttempts": 90`, `"MaxAttempts": 2`)
	if failed(impatient) == 0 {
		t.Error("with 2 retries no batch failed")
	}
	hurried := simulateChanged(t, crowded, `"MaxDelaySeconds": 300`, `"MaxDelaySeconds": 1`)
	if hurried.throttled <= patient.throttled {
		t.Errorf("with short pauses %d invocations were throttled, want more than %d", hurried.throttled,
			patient.throttled)
	}
	if r := simulateArgs(t, crowded+" -set IngestionSlots=1"); failed(r) > 0 || r.throttled >= patient.throttled {
		t.Errorf("with one slot %d invocations were throttled, want fewer than %d", r.throttled, patient.throttled)
	}
	normal := simulateArgs(t, alone)
	if r := simulateArgs(t, alone+" -set IngestConcurrency=1"); last(r) < 2*last(normal) {
		t.Errorf("stored one chunk at a time, a batch ended after %.1f minutes, otherwise %.1f", last(r), last(normal))
	}
	if r := simulateChanged(t, alone, `"Next": "Settle"`, `"Next": "Verdict"`); last(r) >= last(normal) {
		t.Error("a batch that is not settled took as long")
	}
}

// A batch takes as many transitions, invocations and write units as the cost model counts, which tests hold to those of
// real batches.
func TestABatchUsesWhatItCosts(t *testing.T) {
	for _, size := range []string{"0.001GB", "0.02GB", "2.05GB"} {
		r := simulateArgs(t, "-preset warm -load 1x1x"+size)
		b := r.batches[0]
		lines := b.bytes / r.LineBytes
		want := cost.UsageOf(cost.Load{Lines: int64(lines), Bytes: int64(b.bytes), Batches: 1})
		var all use
		for _, u := range r.uses {
			all.transitions, all.units = all.transitions+u.transitions, all.units+u.units
		}
		if all.transitions != want.Transitions || float64(r.invocations) != want.MachineRuns {
			t.Errorf("%s: %.0f transitions and %d invocations, want %.0f and %.0f", size, all.transitions,
				r.invocations, want.Transitions, want.MachineRuns)
		}
		if math.Abs(all.units-lines) > 1 {
			t.Errorf("%s: %.0f write units, want %.0f", size, all.units, lines)
		}
	}
}

// A table that grows takes no more than it may in any second, and functions that are invoked again store every line.
func TestEveryLineIsStoredOnce(t *testing.T) {
	r := simulateArgs(t, "-units 1000 -max-units 4000 -warm-up 60 -set IngestSeconds=5 -load 3x4x200MB@1+1")
	units, want := 0.0, 0.0
	for second, u := range r.uses {
		if units += u.units; u.units > 4000.001 {
			t.Errorf("in second %d %.0f units were used, and the table takes 4000", second, u.units)
		}
	}
	for _, b := range r.batches {
		want += b.bytes / r.LineBytes
		if b.failed || b.ended == 0 {
			t.Errorf("batch %s did not end as PROCESSED", b.ID)
		}
	}
	if math.Abs(units-want) > want/1e6 || r.resumed == 0 || r.finalUnits != 4000 {
		t.Errorf("%.0f write units, %d resumed, %.0f units at the end; want %.0f, some and 4000", units, r.resumed,
			r.finalUnits, want)
	}
}

func TestSameFlagsGiveTheSameOutput(t *testing.T) {
	outputs := map[string]bool{}
	for _, args := range []string{"", "", "-seeds 2"} {
		var out bytes.Buffer
		if err := runOne(&out, strings.Fields(args+" -load 3x4x200MB@0+5")); err != nil {
			t.Fatal(err)
		}
		outputs[out.String()] = true
	}
	if len(outputs) != 2 {
		t.Errorf("two runs with the same flags and one with another seed gave %d outputs", len(outputs))
	}
	for _, args := range []string{"-load 4x10", "-preset other", "-set IngestionSlots=-1 -load 1x1x1MB", ""} {
		if err := runOne(&bytes.Buffer{}, strings.Fields(args)); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
