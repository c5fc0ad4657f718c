package validation

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/errtest"
)

// sampleWorkFiles returns a random file in chunks of a few lines, and its work files, which hold something of every
// kind.
func sampleWorkFiles(t testing.TB) (file []byte, plan chunk.Plan, w *workFiles) {
	t.Helper()
	file = randomFile(rand.New(rand.NewPCG(7, 7)), 40)
	plan = chunk.NewPlan(int64(len(file)), 500)
	w = validateChunks(t, file, plan)
	reconcilePartitions(t, w, statesByID{})
	return file, plan, w
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

// TestFindingsOfAnotherChunk reads findings as if they belonged to a chunk with fewer lines, which must fail unless it
// has all their lines.
func TestFindingsOfAnotherChunk(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	for i, file := range w.findings {
		t.Run(fmt.Sprintf("chunk %d", i), func(t *testing.T) {
			_, end, err := readFindings(file, w.results[i].Lines)
			if err != nil || end == 0 {
				t.Fatalf("findings end at line %d, %v, want a line and no error", end, err)
			}
			for lineCount := range end {
				if _, _, err := readFindings(file, lineCount); !errors.Is(err, ErrCorrupt) {
					t.Errorf("findings up to line %d, in a chunk of %d lines: %v, want ErrCorrupt", end, lineCount, err)
				}
			}
			for lineCount := end; lineCount < end+3; lineCount++ {
				if _, _, err := readFindings(file, lineCount); err != nil {
					t.Errorf("findings up to line %d, in a chunk of %d lines: %v, want no error", end, lineCount, err)
				}
			}
		})
	}
}

// TestTruncatedFiles cuts work files at every byte, and requires ErrCorrupt.
func TestTruncatedFiles(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	t.Run("findings", func(t *testing.T) {
		for i, file := range w.findings {
			for n := range file {
				if _, _, err := readFindings(file[:n], w.results[i].Lines); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("chunk %d, %d of %d bytes: %v, want ErrCorrupt", i, n, len(file), err)
				}
			}
		}
	})
	t.Run("index", func(t *testing.T) {
		file := w.index[0]
		for n := range file {
			var last error
			for p := range Partitions {
				if _, err := readIndexSection(t, file[:n:n], p); err != nil {
					last = err
				}
			}
			if !errors.Is(last, ErrCorrupt) {
				t.Fatalf("%d of %d bytes: %v, want ErrCorrupt", n, len(file), last)
			}
		}
	})
}

func readIndexSection(t testing.TB, file []byte, partition int) ([]byte, error) {
	return readSection(t.Context(), sourceOf(file), indexMagic, Partitions, partition, nil)
}

// TestWrongFiles reads work files as something that they are not, and requires ErrCorrupt.
func TestWrongFiles(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	index := sourceOf(w.index[0])
	for name, read := range map[string]func() error{
		"findings with a byte after the end": func() error {
			for i, file := range w.findings {
				_, _, err := readFindings(append(bytes.Clone(file), 0), w.results[i].Lines)
				if !errors.Is(err, ErrCorrupt) {
					return fmt.Errorf("chunk %d: %w", i, err)
				}
			}
			return ErrCorrupt
		},
		"index as findings": func() error {
			_, _, err := readFindings(w.index[0], w.results[0].Lines)
			return err
		},
		"index as rejections": func() error {
			_, err := readSection(t.Context(), index, rejectionsMagic, Partitions, 0, nil)
			return err
		},
		"index of more partitions": func() error {
			_, err := readSection(t.Context(), index, indexMagic, Partitions+1, 0, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v, want ErrCorrupt", err)
			}
		})
	}
}

// TestBitmap writes random bits of up to 70 lines and reads them.
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
		errtest.Fatal(t, b.close())
		bitmap, err := ReadBitmap(bytes.NewReader(file.Bytes()), lines)
		if err != nil {
			t.Fatalf("bitmap of %d lines: %v", lines, err)
		}
		for i, bit := range want {
			if got := bitmap.Accepted(int64(i)); got != bit {
				t.Fatalf("%d lines: Accepted(%d) is %v, want %v", lines, i, got, bit)
			}
		}
		if bitmap.Accepted(-1) || bitmap.Accepted(lines) {
			t.Fatalf("%d lines: a line outside of the chunk is accepted, want none", lines)
		}
		for n := range file.Len() {
			if _, err := ReadBitmap(bytes.NewReader(file.Bytes()[:n]), lines); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%d bytes of a bitmap of %d lines: %v, want ErrCorrupt", n, lines, err)
			}
		}
		if _, err := ReadBitmap(bytes.NewReader(file.Bytes()), lines+1); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("bitmap of %d lines, read for %d: %v, want ErrCorrupt", lines, lines+1, err)
		}
	}
}

// TestHugeLengths reads files with lengths that are damaged, and requires that memory is allocated only for bytes that
// there are.
func TestHugeLengths(t *testing.T) {
	header := binary.LittleEndian.AppendUint32([]byte(indexMagic), Partitions)
	for range Partitions + 1 {
		header = binary.LittleEndian.AppendUint64(header,
			uint64(sectionHeaderBytes(Partitions))+uint64(len(header))<<50)
	}
	findings := append([]byte(findingsMagic), binary.AppendUvarint(nil, maxRecordBytes)...)
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := readIndexSection(t, header, 0); !errors.Is(err, ErrCorrupt) {
			t.Errorf("huge section: %v, want ErrCorrupt", err)
		}
		if _, _, err := readFindings(findings, 10); !errors.Is(err, ErrCorrupt) {
			t.Errorf("huge record: %v, want ErrCorrupt", err)
		}
	})
	if allocated > 100 {
		t.Errorf("%v allocations, want at most 100", allocated)
	}
	for _, size := range []uint64{maxRecordBytes + 1, 1<<63 + 1, 1<<64 - 1} {
		file := append([]byte(findingsMagic), binary.AppendUvarint(nil, size)...)
		if _, _, err := readFindings(file, 10); !errors.Is(err, ErrCorrupt) {
			t.Errorf("record of %d bytes: %v, want ErrCorrupt", size, err)
		}
	}
}

// TestLargeSectionedFile writes a file that is too large to be kept while it is measured.
func TestLargeSectionedFile(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), bufferedSectionBytes/3+1)
	sections := [][]byte{piece, nil, piece[1:], piece, []byte("end")}
	var file bytes.Buffer
	var w sectionWriter
	n, err := w.write(&file, rejectionsMagic, len(sections),
		func(i int, b []byte) []byte { return append(b, sections[i]...) })
	if err != nil || n != int64(file.Len()) {
		t.Fatalf("write returned %d, %v, want the %d bytes that were written", n, err, file.Len())
	}
	for i, want := range sections {
		got, err := readSection(t.Context(), sourceOf(file.Bytes()), rejectionsMagic, len(sections), i, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("section %d has %d bytes, %v, want the %d that were written", i, len(got), err, len(want))
		}
		known := SectionedFile{sourceOf(file.Bytes()), w.written}
		got, err = readSection(t.Context(), known, rejectionsMagic, len(sections), i, nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("section %d by its length has %d bytes, %v, want the %d that were written", i, len(got), err,
				len(want))
		}
	}
	if n, err := w.write(&file, rejectionsMagic, 2, func(_ int, b []byte) []byte { return b }); n != 0 || err != nil ||
		w.written != "" {
		t.Errorf("an empty file has %d bytes and the sections %q, %v, want none", n, w.written, err)
	}
}

// TestWrongSections reads files by lengths of sections that are not theirs.
func TestWrongSections(t *testing.T) {
	_, _, w := sampleWorkFiles(t)
	whole := w.results[0].IndexSections
	for name, sections := range map[string]Sections{
		"one too few": whole[:len(whole)-1], "one too many": whole + "\x00", "a length without an end": "\x80",
		"beyond the end of the file": Sections(bytes.Repeat([]byte{0xff, 0xff, 0xff, 0x7f}, Partitions)),
	} {
		t.Run(name, func(t *testing.T) {
			file := SectionedFile{sourceOf(w.index[0]), sections}
			if _, err := readSection(t.Context(), file, indexMagic, Partitions, 3, nil); !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v, want ErrCorrupt", err)
			}
		})
	}
}

// TestManyKindsOfFindings reads findings of more kinds than have numbers, and of some that are too long for one.
func TestManyKindsOfFindings(t *testing.T) {
	const kinds, lines = 2 * maxKinds, 3
	var file bytes.Buffer
	var w findingsWriter
	w.reset(&file)
	finding := func(line, n int) transaction.Finding {
		f := transaction.Finding{Code: "enum", Pointer: fmt.Sprint("/", n), Message: "m", Offset: line}
		if n%100 < 3 { // one byte less than the limit, as many, one more
			f.Message = strings.Repeat("m", maxKindBytes-len(f.Code)-len(f.Pointer)-1+n%100)
		}
		return f
	}
	for line := range lines {
		res := &transaction.Result{}
		for n := range kinds {
			res.Findings = append(res.Findings, finding(line, n))
		}
		errtest.Fatal(t, w.addLine(&chunk.Line{Number: int64(line), Offset: int64(line) << 40}, res))
	}
	errtest.Fatal(t, w.close())
	var r findingsReader
	errtest.Fatal(t, r.reset(&file, lines))
	for line := range lines {
		rec, err := r.read()
		if err != nil || len(rec.report.Errors) != kinds {
			t.Fatalf("line %d: %d findings, %v, want %d", line, len(rec.report.Errors), err, kinds)
		}
		for n, got := range rec.report.Errors {
			f := finding(line, n)
			want := report.Error{Code: f.Code, Pointer: f.Pointer, Message: f.Message,
				Offset: int64(line)<<40 + int64(line)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("finding %d of line %d (-want +got):\n%s", n, line, diff)
			}
		}
	}
	if len(w.kinds) != maxKinds || len(r.kinds) != maxKinds {
		t.Errorf("%d kinds have numbers when written, %d when read, want %d", len(w.kinds), len(r.kinds), maxKinds)
	}
}
