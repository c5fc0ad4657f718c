package validation

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"sluice/shared/chunk"
)

// sampleFiles makes the work files of a file with everything in it, in chunks of a few lines.
func sampleWorkFiles(t testing.TB) (file []byte, plan chunk.Plan, w *workFiles) {
	t.Helper()
	file = randomFile(rand.New(rand.NewPCG(7, 7)), 40)
	plan = chunk.NewPlan(int64(len(file)), 500)
	w = &workFiles{}
	var counts []int64
	for i := range plan.Count() {
		var findings, index bytes.Buffer
		r, err := ValidateChunk(context.Background(), ValidateInput{chunkInput(file, plan, i), key}, &findings, &index)
		if err != nil {
			t.Fatal(err)
		}
		w.results, counts = append(w.results, r), append(counts, r.Lines)
		w.findings, w.index = append(w.findings, findings.Bytes()), append(w.index, index.Bytes())
	}
	for p := range Partitions {
		var marks bytes.Buffer
		_, err := ReconcilePartition(context.Background(), reconcileInput(w, counts, p), &marks)
		if err != nil {
			t.Fatal(err)
		}
		w.rejections = append(w.rejections, marks.Bytes())
	}
	return file, plan, w
}

func reconcileInput(w *workFiles, counts []int64, p int) ReconcileInput {
	return ReconcileInput{Partition: p, LineCounts: counts, DigestKey: key, Entities: plainStates{},
		Index: func(i int) chunk.Source { return source(w.index[i]) }}
}

func settleInput(file []byte, plan chunk.Plan, w *workFiles, i int) SettleInput {
	in := SettleInput{ChunkInput: chunkInput(file, plan, i), FirstLine: 1, LineCount: w.results[i].Lines,
		Transactions: w.results[i].Transactions}
	if w.findings[i] != nil {
		in.Findings = bytes.NewReader(w.findings[i])
	}
	for _, m := range w.rejections {
		in.Rejections = append(in.Rejections, source(m))
	}
	return in
}

// readFindings reads the findings of a chunk of lineCount lines. It returns the number of records, without the end
// record, and the line after the last of them.
func readFindings(file []byte, lineCount int64) (records int, end int64, err error) {
	var f findingsReader
	if err := f.reset(bytes.NewReader(file), lineCount); err != nil {
		return 0, 0, err
	}
	for {
		rec, err := f.read()
		if err != nil || rec.kind == endRecord {
			return records, end, err
		}
		records++
		end = rec.line + max(rec.blankLines, 1)
	}
}

// TestFindingsOfAnotherChunk reads findings as those of chunks with fewer lines, which must fail if a line is not in
// the chunk.
func TestFindingsOfAnotherChunk(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	for i, file := range w.findings {
		_, end, err := readFindings(file, w.results[i].Lines)
		if err != nil || end == 0 {
			t.Fatalf("findings of chunk %d: end at line %d, %v, want lines and no error", i, end, err)
		}
		for lineCount := range end + 3 {
			_, _, err := readFindings(file, lineCount)
			if wantCorrupt := lineCount < end; errors.Is(err, ErrCorrupt) != wantCorrupt {
				t.Errorf("findings of %d lines, read for a chunk of %d: %v, want ErrCorrupt: %v", end, lineCount, err, wantCorrupt)
			}
		}
	}
}

// TestTruncatedFiles: no beginning of a work file passes for the whole.
func TestTruncatedFiles(t *testing.T) {
	_, plan, w := sampleWorkFiles(t)
	for i, file := range w.findings {
		for n := range file {
			if _, _, err := readFindings(file[:n], w.results[i].Lines); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d of %d bytes of findings: %v", n, len(file), err)
			}
		}
		if _, _, err := readFindings(append(bytes.Clone(file), 0), w.results[i].Lines); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("findings and a byte: %v", err)
		}
	}
	for n := range w.index[0] {
		var last error
		for p := range Partitions {
			if _, err := readSection(t.Context(), source(w.index[0][:n:n]), indexMagic, Partitions, p, nil); err != nil {
				last = err
			}
		}
		if !errors.Is(last, ErrCorrupt) {
			t.Fatalf("%d of %d bytes of an index: %v", n, len(w.index[0]), last)
		}
	}
	if _, err := readSection(t.Context(), source(w.index[0]), rejectionsMagic, Partitions, 0, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an index read as marks: %v", err)
	}
	if _, err := readSection(t.Context(), source(w.index[0]), indexMagic, Partitions+1, 0, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("an index of more partitions: %v", err)
	}
	_ = plan
}

func TestBitmap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for lines := range int64(70) {
		var file bytes.Buffer
		var b bitmapWriter
		b.reset(&file, lines)
		var want []bool
		for int64(len(want)) < lines {
			bit := rng.IntN(2) == 0
			for range 1 + rng.Int64N(30) {
				if int64(len(want)) < lines {
					want = append(want, bit)
				}
			}
			b.fillUntil(int64(len(want)), bit)
		}
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
		bits, err := ReadBitmap(bytes.NewReader(file.Bytes()), lines)
		if err != nil {
			t.Fatal(err)
		}
		for i, bit := range want {
			if bits.Accepted(int64(i)) != bit {
				t.Fatalf("%d lines: bit %d is %v", lines, i, !bit)
			}
		}
		if bits.Accepted(-1) || bits.Accepted(lines) {
			t.Fatalf("%d lines: a line outside is accepted", lines)
		}
		for n := range file.Len() {
			if _, err := ReadBitmap(bytes.NewReader(file.Bytes()[:n]), lines); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d bytes of a bitmap of %d lines: %v", n, lines, err)
			}
		}
		if _, err := ReadBitmap(bytes.NewReader(file.Bytes()), lines+1); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bitmap of %d lines for one more: %v", lines, err)
		}
	}
}

// TestHugeLengths: a damaged length costs no memory that the file does not fill.
func TestHugeLengths(t *testing.T) {
	header := binary.LittleEndian.AppendUint32([]byte(indexMagic), Partitions)
	for range Partitions + 1 {
		header = binary.LittleEndian.AppendUint64(header, uint64(sectionHeaderBytes(Partitions))+uint64(len(header))<<50)
	}
	findings := append([]byte(findingsMagic), binary.AppendUvarint(nil, maxRecordBytes)...)
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := readSection(t.Context(), source(header), indexMagic, Partitions, 0, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("huge section: %v", err)
		}
		if _, _, err := readFindings(findings, 10); !errors.Is(err, ErrCorrupt) {
			t.Errorf("huge record: %v", err)
		}
	})
	if allocated > 100 {
		t.Errorf("%v allocations", allocated)
	}
	for _, size := range []uint64{maxRecordBytes + 1, 1<<63 + 1, 1<<64 - 1} {
		file := append([]byte(findingsMagic), binary.AppendUvarint(nil, size)...)
		if _, _, err := readFindings(file, 10); !errors.Is(err, ErrCorrupt) {
			t.Errorf("record of %d bytes: %v", size, err)
		}
	}
}

func FuzzFindings(f *testing.F) {
	_, _, w := sampleWorkFiles(f)
	for i, file := range w.findings {
		f.Add(file, uint16(w.results[i].Lines))
	}
	f.Fuzz(func(t *testing.T, file []byte, lines uint16) {
		records, _, err := readFindings(file, int64(lines))
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if records > int(lines) {
			t.Fatalf("%d records of %d lines", records, lines)
		}
	})
}

func FuzzIndex(f *testing.F) {
	_, _, w := sampleWorkFiles(f)
	for i, file := range w.index {
		for p := range Partitions {
			section, err := readSection(f.Context(), source(file), indexMagic, Partitions, p, nil)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(section, uint16(w.results[i].Lines))
		}
	}
	f.Fuzz(func(t *testing.T, section []byte, lines uint16) {
		file := sectionFile(indexMagic, Partitions, section)
		var marks bytes.Buffer
		_, err := ReconcilePartition(t.Context(), ReconcileInput{LineCounts: []int64{int64(lines), int64(lines)}, DigestKey: key,
			Index: func(int) chunk.Source { return source(file) }, Entities: allMissing{}}, &marks)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i := range 2 {
			_, err := readSection(t.Context(), source(marks.Bytes()), rejectionsMagic, 2, i, nil)
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

type allMissing struct{}

func (allMissing) Lookup(_ context.Context, ids []string) ([]EntityState, error) {
	return make([]EntityState, len(ids)), nil
}

// sectionFile is a file whose first section is the given one, and the others empty.
func sectionFile(magic string, count int, section []byte) []byte {
	var file bytes.Buffer
	_, _ = new(sectionWriter).write(&file, magic, count, func(i int, b []byte) []byte {
		if i == 0 {
			return append(b, section...)
		}
		return b
	})
	return file.Bytes()
}

func FuzzMarks(f *testing.F) {
	file, plan, w := sampleWorkFiles(f)
	for _, marks := range w.rejections {
		section, err := readSection(f.Context(), source(marks), rejectionsMagic, plan.Count(), 0, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(section)
	}
	f.Fuzz(func(t *testing.T, section []byte) {
		in := settleInput(file, plan, w, 0)
		in.Rejections = []chunk.Source{source(sectionFile(rejectionsMagic, plan.Count(), section))}
		if _, err := SettleChunk(t.Context(), in, io.Discard, io.Discard); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

func FuzzSections(f *testing.F) {
	_, plan, w := sampleWorkFiles(f)
	f.Add(w.index[0], uint8(Partitions), uint8(3))
	f.Add(w.rejections[0], uint8(plan.Count()), uint8(0))
	f.Fuzz(func(t *testing.T, file []byte, count, i uint8) {
		i %= max(count, 1)
		if _, err := readSection(t.Context(), source(file), indexMagic, int(count), int(i), nil); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// TestLargeSectionedFile: a file that is too large to be kept while it is measured is the same file.
func TestLargeSectionedFile(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), bufferedSectionBytes/3+1)
	sections := [][]byte{piece, nil, piece[1:], piece, []byte("end")}
	var file bytes.Buffer
	n, err := new(sectionWriter).write(&file, rejectionsMagic, len(sections), func(i int, b []byte) []byte { return append(b, sections[i]...) })
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("%d bytes, said %d: %v", file.Len(), n, err)
	}
	for i, want := range sections {
		got, err := readSection(t.Context(), source(file.Bytes()), rejectionsMagic, len(sections), i, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("section %d: %d bytes, want %d: %v", i, len(got), len(want), err)
		}
	}
}
