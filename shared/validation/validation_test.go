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

const limit = 100 // bytes of a line in these tests

// workFiles are the files of one run, as an object store would hold them.
type workFiles struct {
	findings, index [][]byte
	rejections      [][]byte
	results         []ValidateResult
}

func source(b []byte) chunk.Source {
	if b == nil {
		return nil
	}
	return chunk.NewSource(bytes.NewReader(b))
}

// passes runs the three passes as separate functions would, with nothing in common but their work files.
func passes(t *testing.T, file []byte, chunkBytes int64, entities Entities) verdict {
	t.Helper()
	plan := chunk.NewPlan(int64(len(file)), chunkBytes)
	w := runChunks(t, file, plan)
	var lines []int64
	for _, r := range w.results {
		lines = append(lines, r.Lines)
	}
	for p := range Partitions {
		var marks bytes.Buffer
		r, err := ReconcilePartition(t.Context(), ReconcileInput{
			Partition: p, LineCounts: lines, Index: func(i int) chunk.Source { return source(w.index[i]) },
			Entities: entities, DigestKey: key, Concurrency: 2}, &marks)
		if err != nil {
			t.Fatal(err)
		}
		if r.RejectionsBytes != int64(marks.Len()) {
			t.Fatalf("%d bytes of marks, said %d", marks.Len(), r.RejectionsBytes)
		}
		w.rejections = append(w.rejections, marks.Bytes())
	}
	return settleAll(t, file, plan, w)
}

var key = [16]byte{1, 2, 3}

func runChunks(t *testing.T, file []byte, plan chunk.Plan) *workFiles {
	t.Helper()
	w := &workFiles{}
	for i := range plan.Count() {
		var findings, index bytes.Buffer
		r, err := ValidateChunk(t.Context(), ValidateInput{chunkInput(file, plan, i), key}, &findings, &index)
		if err != nil {
			t.Fatal(err)
		}
		if r.FindingsBytes != int64(findings.Len()) || r.IndexBytes != int64(index.Len()) {
			t.Fatalf("wrote %d and %d bytes, said %d and %d", findings.Len(), index.Len(), r.FindingsBytes, r.IndexBytes)
		}
		w.results = append(w.results, r)
		w.findings = append(w.findings, findings.Bytes())
		w.index = append(w.index, index.Bytes())
	}
	return w
}

// chunkInput returns the input of a chunk of a file in the language of plainScanner.
func chunkInput(file []byte, plan chunk.Plan, i int) ChunkInput {
	return ChunkInput{Source: source(file), Plan: plan, Chunk: i, MaxLineBytes: limit, Scanner: new(plainScanner)}
}

func settleAll(t *testing.T, file []byte, plan chunk.Plan, w *workFiles) verdict {
	t.Helper()
	var v verdict
	first := int64(1)
	for i, r := range w.results {
		in := SettleInput{ChunkInput: chunkInput(file, plan, i), FirstLine: first, LineCount: r.Lines, Transactions: r.Transactions, Concurrency: i % 4}
		if i%2 == 0 {
			in.SeekPoints = r.SeekPoints
		}
		if r.FindingsBytes > 0 {
			in.Findings = bytes.NewReader(w.findings[i])
		}
		for _, m := range w.rejections {
			in.Rejections = append(in.Rejections, source(m))
		}
		var part, accepted bytes.Buffer
		settled, err := SettleChunk(t.Context(), in, &part, &accepted)
		if err != nil {
			t.Fatal(err)
		}
		if settled.ReportBytes != int64(part.Len()) {
			t.Fatalf("%d bytes of report, said %d", part.Len(), settled.ReportBytes)
		}
		bits, err := ReadBitmap(&accepted, r.Lines)
		if err != nil {
			t.Fatal(err)
		}
		for n := range r.Lines {
			v.accepted = append(v.accepted, bits.Accepted(n))
		}
		v.report += part.String()
		v.summary.Add(settled.Summary)
		first += r.Lines
	}
	return v
}

func compare(t *testing.T, what string, want, got verdict) {
	t.Helper()
	if want.report != got.report {
		t.Fatalf("%s: report (-want +got):\n%s", what, cmp.Diff(strings.Split(want.report, "\n"), strings.Split(got.report, "\n")))
	}
	if diff := cmp.Diff(want.accepted, got.accepted); diff != "" {
		t.Fatalf("%s: accepted lines (-want +got):\n%s", what, diff)
	}
	compareSummaries(t, what, want.summary, got.summary)
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

// TestAgainstOracle judges random files in chunks of many sizes, by passes and as a whole.
func TestAgainstOracle(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 1))
		file := randomFile(rng, rng.IntN(60))
		judgeEntities := rng.IntN(5) > 0
		want := oracle(file, limit, judgeEntities)
		sizes := []int64{3 + rng.Int64N(30), 30 + rng.Int64N(200), 1000, 0}
		for _, size := range sizes {
			what := fmt.Sprintf("seed %d, chunks of %d", seed, size)
			var entities Entities
			var known *Directory
			asked := &states{map[string]int{}}
			if judgeEntities {
				entities, known = asked, knownOf(file)
			}
			compare(t, what, want, passes(t, file, size, entities))
			for id, n := range asked.looked {
				if n > 1 {
					t.Fatalf("%s: entity %s looked up %d times", what, id, n)
				}
			}
			memory := int64(0)
			if size > 30 && seed%8 == 0 {
				memory = 3 * blockBytes // most work files in temporary ones
			}
			compareFile(t, what, file, size, known, want, memory)
		}
	}
}

// TestFewDuplicates: lines that only marks reject, far from each other, are found again in chunks of many known places.
func TestFewDuplicates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var file bytes.Buffer
	for file.Len() < 8*seekPointDistance {
		file.WriteString(randomLine(rng, 100_000, 0) + "\n")
	}
	want := oracle(file.Bytes(), limit, true)
	if n := want.summary.Codes[CodeDuplicateModificationID].Count; n < 20 {
		t.Fatalf("%d duplicates, too few", n)
	}
	for _, size := range []int64{seekPointDistance - 1, 3 * seekPointDistance, 0} {
		compare(t, "passes", want, passes(t, file.Bytes(), size, plainStates{}))
		compareFile(t, "file", file.Bytes(), size, knownOf(file.Bytes()), want, 0)
	}
}

// inMemory is a file that need not be copied.
type inMemory struct {
	chunk.Source
	file []byte
}

func (f inMemory) Map(from, to int64) ([]byte, func()) { return f.file[from:to], func() {} }

func compareFile(t *testing.T, what string, file []byte, size int64, known *Directory, want verdict, memory int64) {
	t.Helper()
	var out bytes.Buffer
	sum, err := ValidateFile(t.Context(), FileInput{
		Source: inMemory{source(file), file}, Plan: chunk.NewPlan(int64(len(file)), size), MaxLineBytes: limit,
		NewScanner: func() Scanner { return new(plainScanner) }, Entities: known, DigestKey: key, Workers: 1 + int(size%3),
		WorkMemory: memory, TempDir: t.TempDir()}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != want.report {
		t.Fatalf("%s: report of the whole file (-want +got):\n%s", what,
			cmp.Diff(strings.Split(want.report, "\n"), strings.Split(out.String(), "\n")))
	}
	compareSummaries(t, what, want.summary, sum)
}

// knownOf is the directory of the entities of a file.
func knownOf(file []byte) *Directory {
	d := NewDirectory()
	for _, line := range judgeLines(file, limit) {
		for _, use := range line.res.References {
			if state := stateOf(string(use.ID)); state != Missing {
				d.Add(string(use.ID), state)
			}
		}
	}
	return d
}

// plainStates is states without a memory, for concurrent use.
type plainStates struct{}

func (plainStates) Lookup(ctx context.Context, ids []string) ([]EntityState, error) {
	return (&states{map[string]int{}}).Lookup(ctx, ids)
}
