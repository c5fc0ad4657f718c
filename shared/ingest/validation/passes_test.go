package validation

import (
	"bytes"
	"io"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/errtest"
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
		in.ReportStart += preceding.MinReportBytes
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
	return settleChunks(t, file, plan, w, 0)
}

// validateChunks runs the first pass over all chunks.
func validateChunks(t testing.TB, file []byte, plan chunk.Plan) *workFiles {
	t.Helper()
	w := &workFiles{}
	for i := range plan.Count() {
		var findings, index bytes.Buffer
		result, err := ValidateChunk(t.Context(), validateInput(file, plan, i), &findings, &index)
		errtest.Fatal(t, err)
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
		errtest.Fatal(t, err)
		if got, want := result.RejectionsBytes, int64(rejections.Len()); got != want {
			t.Fatalf("RejectionsBytes is %d, want the %d that were written", got, want)
		}
		w.rejections = append(w.rejections, rejections.Bytes())
	}
}

// bytesPart is a part in memory.
type bytesPart []byte

func (p bytesPart) Range(from, to int64) io.ReadCloser {
	return io.NopCloser(bytes.NewReader(p[from:to]))
}

// settleChunks runs the third pass over all chunks, and puts their results together.
func settleChunks(t testing.TB, file []byte, plan chunk.Plan, w *workFiles, maxReportBytes int64) outcome {
	t.Helper()
	var out outcome
	var whole, csv, rejected bytes.Buffer
	joiner := report.NewJoiner(&whole, maxReportBytes)
	csvJoiner, err := report.NewCSVJoiner(&csv)
	errtest.Fatal(t, err)
	for i, result := range w.results {
		in := settleInput(file, plan, w, i)
		in.Concurrency, in.MaxReportBytes = i%4, maxReportBytes
		if i%2 == 0 {
			in.SeekPoints = result.SeekPoints
		}
		var part, csvPart, rejectedPart, accepted bytes.Buffer
		in.CSV, in.Rejected = &csvPart, &rejectedPart
		settled, err := SettleChunk(t.Context(), in, &part, &accepted)
		errtest.Fatal(t, err)
		if got, want := settled.Report.Full+settled.Report.Short, int64(part.Len()); got != want {
			t.Fatalf("Report has %d bytes, want the %d that were written", got, want)
		}
		if got, want := settled.CSV.Full+settled.CSV.Short, int64(csvPart.Len()); got != want {
			t.Fatalf("CSV has %d bytes, want the %d that were written", got, want)
		}
		if got, want := settled.RejectedBytes, int64(rejectedPart.Len()); got != want {
			t.Fatalf("RejectedBytes is %d, want the %d that were written", got, want)
		}
		bitmap, err := ReadBitmap(&accepted, result.Lines)
		errtest.Fatal(t, err)
		for line := range result.Lines {
			out.accepted = append(out.accepted, bitmap.Accepted(line))
		}
		errtest.Fatal(t, joiner.AddPart(bytesPart(part.Bytes()), settled.Report))
		errtest.Fatal(t, csvJoiner.AddPart(bytesPart(csvPart.Bytes()), settled.CSV, joiner.FirstShort()))
		rejected.Write(rejectedPart.Bytes())
		out.summary.Add(settled.Summary)
	}
	out.report, out.csv, out.rejected = whole.String(), csv.String(), rejected.String()
	return out
}
