package validation

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/chunk"
	"sluice/shared/report"
)

// testLineBytes is the length of the longest line in these tests.
const testLineBytes = 100

var testDigestKey = [16]byte{1, 2, 3}

// workFiles are the work files of one batch, as an object store holds them, by chunk or, for rejections, by partition.
type workFiles struct {
	findings, index [][]byte
	rejections      [][]byte
	results         []ValidateResult
}

func (w *workFiles) lineCounts() []int64 {
	var counts []int64
	for _, result := range w.results {
		counts = append(counts, result.Lines)
	}
	return counts
}

// sourceOf returns a source of the bytes of a file, or nil if there is no file.
func sourceOf(file []byte) chunk.Source {
	if file == nil {
		return nil
	}
	return chunk.NewSource(bytes.NewReader(file))
}

// chunkInput returns the input of a chunk of a file in the language of plainScanner.
func chunkInput(file []byte, plan chunk.Plan, i int) ChunkInput {
	return ChunkInput{
		Source: sourceOf(file), Plan: plan, Chunk: i, MaxLineBytes: testLineBytes, Scanner: new(plainScanner),
	}
}

func validateInput(file []byte, plan chunk.Plan, i int) ValidateInput {
	return ValidateInput{ChunkInput: chunkInput(file, plan, i), DigestKey: testDigestKey}
}

func reconcileInput(w *workFiles, partition int) ReconcileInput {
	return ReconcileInput{
		Partition:  partition,
		LineCounts: w.lineCounts(),
		Index:      func(i int) chunk.Source { return sourceOf(w.index[i]) },
		Entities:   statesByID{},
		DigestKey:  testDigestKey,
	}
}

func settleInput(file []byte, plan chunk.Plan, w *workFiles, i int) SettleInput {
	in := SettleInput{
		ChunkInput:   chunkInput(file, plan, i),
		FirstLine:    1,
		LineCount:    w.results[i].Lines,
		Transactions: w.results[i].Transactions,
	}
	for _, preceding := range w.results[:i] {
		in.FirstLine += preceding.Lines
	}
	if w.findings[i] != nil {
		in.Findings = bytes.NewReader(w.findings[i])
	}
	for _, rejections := range w.rejections {
		in.Rejections = append(in.Rejections, sourceOf(rejections))
	}
	return in
}

func fileInput(file []byte, plan chunk.Plan) FileInput {
	return FileInput{
		Source:       sourceOf(file),
		Plan:         plan,
		MaxLineBytes: testLineBytes,
		NewScanner:   func() Scanner { return new(plainScanner) },
		Entities:     directoryOf(file),
		DigestKey:    testDigestKey,
		Workers:      2,
	}
}

// runPasses runs the three passes as separate functions would, with nothing in common but their work files.
func runPasses(t testing.TB, file []byte, chunkBytes int64, entities Entities) outcome {
	t.Helper()
	plan := chunk.NewPlan(int64(len(file)), chunkBytes)
	w := validateChunks(t, file, plan)
	reconcilePartitions(t, w, entities)
	return settleChunks(t, file, plan, w)
}

// validateChunks runs the first pass over all chunks.
func validateChunks(t testing.TB, file []byte, plan chunk.Plan) *workFiles {
	t.Helper()
	w := &workFiles{}
	for i := range plan.Count() {
		var findings, index bytes.Buffer
		result, err := ValidateChunk(t.Context(), validateInput(file, plan, i), &findings, &index)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result.FindingsBytes, int64(findings.Len()); got != want {
			t.Fatalf("FindingsBytes is %d, want the %d that were written", got, want)
		}
		if got, want := result.IndexBytes, int64(index.Len()); got != want {
			t.Fatalf("IndexBytes is %d, want the %d that were written", got, want)
		}
		w.results = append(w.results, result)
		w.findings = append(w.findings, findings.Bytes())
		w.index = append(w.index, index.Bytes())
	}
	return w
}

// reconcilePartitions runs the second pass over all partitions.
func reconcilePartitions(t testing.TB, w *workFiles, entities Entities) {
	t.Helper()
	for p := range Partitions {
		in := reconcileInput(w, p)
		in.Entities, in.Concurrency = entities, 2
		var rejections bytes.Buffer
		result, err := ReconcilePartition(t.Context(), in, &rejections)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := result.RejectionsBytes, int64(rejections.Len()); got != want {
			t.Fatalf("RejectionsBytes is %d, want the %d that were written", got, want)
		}
		w.rejections = append(w.rejections, rejections.Bytes())
	}
}

// settleChunks runs the third pass over all chunks, and puts their results together.
func settleChunks(t testing.TB, file []byte, plan chunk.Plan, w *workFiles) outcome {
	t.Helper()
	var out outcome
	for i, result := range w.results {
		in := settleInput(file, plan, w, i)
		in.Concurrency = i % 4
		if i%2 == 0 {
			in.SeekPoints = result.SeekPoints
		}
		var part, accepted bytes.Buffer
		settled, err := SettleChunk(t.Context(), in, &part, &accepted)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := settled.ReportBytes, int64(part.Len()); got != want {
			t.Fatalf("ReportBytes is %d, want the %d that were written", got, want)
		}
		bitmap, err := ReadBitmap(&accepted, result.Lines)
		if err != nil {
			t.Fatal(err)
		}
		for line := range result.Lines {
			out.accepted = append(out.accepted, bitmap.Accepted(line))
		}
		out.report += part.String()
		out.summary.Add(settled.Summary)
	}
	return out
}

func compareOutcomes(t *testing.T, what string, want, got outcome) {
	t.Helper()
	compareReports(t, what, want.report, got.report)
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
	if len(got.Codes) == 0 {
		got.Codes = want.Codes
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: summary (-want +got):\n%s", what, diff)
	}
}

// TestAgainstOracle validates random files in chunks of many sizes, by separate passes and by ValidateFile.
func TestAgainstOracle(t *testing.T) {
	for seed := range uint64(80) {
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
}

// TestFewDuplicates validates valid lines of which a few, far from each other, are duplicates: SettleChunk must find
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
	var out bytes.Buffer
	summary, err := ValidateFile(t.Context(), in, &out)
	if err != nil {
		t.Fatal(err)
	}
	compareReports(t, what+", whole file", want.report, out.String())
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

// statesByID are entities whose ID says their state: those that begin with "no" are missing, and those that begin with
// "off" are not onboarded.
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
