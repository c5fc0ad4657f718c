package validation

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/errtest"
)

// compareOutcomes fails if two outcomes differ. The failure names the compared values.
func compareOutcomes(t *testing.T, what string, want, got outcome) {
	t.Helper()
	compareReports(t, what, want.report, got.report)
	compareReports(t, what+", as CSV", want.csv, got.csv)
	compareReports(t, what+", rejected lines", want.rejected, got.rejected)
	if diff := cmp.Diff(want.accepted, got.accepted); diff != "" {
		t.Fatalf("%s: accepted lines (-want +got):\n%s", what, diff)
	}
	compareSummaries(t, what, want.summary, got.summary)
}

func compareReports(t *testing.T, what, want, got string) {
	t.Helper()
	if want != got {
		t.Fatalf("%s: report (-want +got):\n%s", what, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

func compareSummaries(t *testing.T, what string, want, got report.Summary) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: summary (-want +got):\n%s", what, diff)
	}
}

// TestAgainstOracle validates random files in chunks of many sizes, by separate passes and by ValidateFile.
func TestAgainstOracle(t *testing.T) {
	for seed := range uint64(80) {
		compareWithOracle(t, seed)
	}
}

// compareWithOracle validates the random file of a seed in chunks of several sizes.
func compareWithOracle(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	file := randomFile(rng, rng.IntN(60))
	checkEntities := rng.IntN(5) > 0
	want := oracle(file, testLineBytes, checkEntities)
	for _, chunkBytes := range []int64{3 + rng.Int64N(30), 30 + rng.Int64N(200), 1000, 0} {
		what := fmt.Sprintf("seed %d, chunks of %d bytes", seed, chunkBytes)
		var entities Entities
		var directory *Directory
		lookups := &countedLookups{map[string]int{}}
		if checkEntities {
			entities, directory = lookups, directoryOf(file)
		}
		compareOutcomes(t, what, want, runPasses(t, file, chunkBytes, entities))
		lookups.requireOneEach(t, what)
		workMemory := int64(0)
		if chunkBytes > 30 && seed%8 == 0 {
			workMemory = 3 * blockBytes // Most work files are in temporary files.
		}
		compareFile(t, what, file, chunkBytes, directory, want, workMemory)
	}
}

// TestFewDuplicates validates valid lines, a few of which, far from each other, are duplicates: SettleChunk must find
// them again in chunks of many seek points.
func TestFewDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var file bytes.Buffer
	for file.Len() < 8*seekPointDistance {
		file.WriteString(randomLine(rng, 100_000, 0) + "\n")
	}
	want := oracle(file.Bytes(), testLineBytes, true)
	if n := want.summary.Codes[CodeDuplicateModificationID].Count; n < 20 {
		t.Fatalf("the file has %d duplicates, want at least 20", n)
	}
	for _, chunkBytes := range []int64{seekPointDistance - 1, 3 * seekPointDistance, 0} {
		t.Run(fmt.Sprintf("chunks of %d bytes", chunkBytes), func(t *testing.T) {
			compareOutcomes(t, "separate passes", want, runPasses(t, file.Bytes(), chunkBytes, statesByID{}))
			compareFile(t, "whole file", file.Bytes(), chunkBytes, directoryOf(file.Bytes()), want, 0)
		})
	}
}

// mappedFile is a source that is mapped.
type mappedFile struct {
	chunk.Source
	file []byte
}

func (f mappedFile) Map(from, to int64) ([]byte, func()) { return f.file[from:to], func() {} }

// compareFile runs ValidateFile and compares its report and summary with an outcome.
func compareFile(
	t *testing.T, what string, file []byte, chunkBytes int64, directory *Directory, want outcome, workMemory int64,
) {
	t.Helper()
	in := fileInput(file, chunk.NewPlan(int64(len(file)), chunkBytes))
	in.Source, in.Entities = mappedFile{sourceOf(file), file}, directory
	in.Workers, in.WorkMemory, in.TempDir = 1+int(chunkBytes%3), workMemory, t.TempDir()
	var out, csv, rejected bytes.Buffer
	in.CSV, in.Rejected = &csv, &rejected
	summary, err := ValidateFile(t.Context(), in, &out)
	errtest.Fatal(t, err)
	compareReports(t, what+", whole file", want.report, out.String())
	compareReports(t, what+", whole file as CSV", want.csv, csv.String())
	compareReports(t, what+", rejected lines of the whole file", want.rejected, rejected.String())
	complete := true
	want.summary.ReportComplete = &complete
	compareSummaries(t, what+", whole file", want.summary, summary)
}

// directoryOf returns the entities that a file names and that exist.
func directoryOf(file []byte) *Directory {
	d := NewDirectory()
	for _, line := range scanLines(file, testLineBytes) {
		for _, ref := range line.res.References {
			if state := stateOf(string(ref.ID)); state != Missing {
				d.Add(string(ref.ID), state)
			}
		}
	}
	return d
}

// statesByID are entities whose state follows from their ID: those that begin with "no" are missing, and those that
// begin with "off" are not onboarded.
type statesByID struct{}

func stateOf(id string) EntityState {
	switch {
	case strings.HasPrefix(id, "no"):
		return Missing
	case strings.HasPrefix(id, "off"):
		return NotOnboarded
	}
	return Onboarded
}

func (statesByID) Lookup(_ context.Context, ids []string) ([]EntityState, error) {
	if len(ids) == 0 || len(ids) > MaxLookup {
		return nil, fmt.Errorf("lookup of %d entities, want 1 to %d", len(ids), MaxLookup)
	}
	var states []EntityState
	for _, id := range ids {
		states = append(states, stateOf(id))
	}
	return states, nil
}

// countedLookups is statesByID that counts how often each entity is looked up. It is not safe for concurrent use.
type countedLookups struct{ count map[string]int }

func (c *countedLookups) Lookup(ctx context.Context, ids []string) ([]EntityState, error) {
	for _, id := range ids {
		c.count[id]++
	}
	return statesByID{}.Lookup(ctx, ids)
}

// requireOneEach fails if an entity was looked up more than once.
func (c *countedLookups) requireOneEach(t *testing.T, what string) {
	t.Helper()
	for id, n := range c.count {
		if n != 1 {
			t.Fatalf("%s: entity %s was looked up %d times, want once", what, id, n)
		}
	}
}
