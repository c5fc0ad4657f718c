package validation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

// FuzzFindings reads damaged findings. Either they are valid, or the error is ErrCorrupt.
func FuzzFindings(f *testing.F) {
	_, _, w := sampleWorkFiles(f)
	for i, file := range w.findings {
		f.Add(file, uint16(w.results[i].Lines))
	}
	for _, i := range []int{0, 2, 3} { // of version SLF1
		f.Add(readHexDump(f, fmt.Sprintf("chunk-%d.findings-1.hex", i)), uint16(20))
	}
	f.Fuzz(func(t *testing.T, file []byte, lineCount uint16) {
		records, _, err := readFindings(file, int64(lineCount))
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if records > int(lineCount) {
			t.Fatalf("read %d records of %d lines, want at most one each", records, lineCount)
		}
	})
}

// FuzzIndex reconciles two chunks with the same damaged section of an index. If that succeeds, the rejections can be
// read.
func FuzzIndex(f *testing.F) {
	_, _, w := sampleWorkFiles(f)
	for i, file := range w.index {
		for p := range Partitions {
			section, err := readIndexSection(f, file, p)
			errtest.Fatal(f, err)
			f.Add(section, uint16(w.results[i].Lines))
		}
	}
	f.Fuzz(func(t *testing.T, section []byte, lineCount uint16) {
		index := sourceOf(fileOfOneSection(indexMagic, Partitions, section))
		var rejections bytes.Buffer
		_, err := ReconcilePartition(t.Context(), ReconcileInput{
			LineCounts: []int64{int64(lineCount), int64(lineCount)},
			Index:      func(int) chunk.Source { return index },
			Entities:   allMissing{},
			DigestKey:  testDigestKey,
		}, &rejections)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		for i := range 2 {
			_, err := readSection(t.Context(), sourceOf(rejections.Bytes()), rejectionsMagic, 2, i, nil)
			errtest.Fatal(t, err)
		}
	})
}

// allMissing are entities none of which exists.
type allMissing struct{}

func (allMissing) Lookup(_ context.Context, ids []string) ([]EntityState, error) {
	return make([]EntityState, len(ids)), nil
}

// fileOfOneSection returns a sectioned file whose first section is given, and whose other sections are empty.
func fileOfOneSection(magic string, count int, section []byte) []byte {
	var file bytes.Buffer
	_, _ = new(sectionWriter).write(&file, magic, count, func(i int, b []byte) []byte {
		if i == 0 {
			return append(b, section...)
		}
		return b
	})
	return file.Bytes()
}

// FuzzRejections settles a chunk with a damaged section of rejections.
func FuzzRejections(f *testing.F) {
	file, plan, w := sampleWorkFiles(f)
	for _, rejections := range w.rejections {
		section, err := readSection(f.Context(), sourceOf(rejections), rejectionsMagic, plan.Count(), 0, nil)
		errtest.Fatal(f, err)
		f.Add(section)
	}
	f.Fuzz(func(t *testing.T, section []byte) {
		in := settleInput(file, plan, w, 0)
		in.Rejections = []chunk.Source{sourceOf(fileOfOneSection(rejectionsMagic, plan.Count(), section))}
		if _, err := SettleChunk(t.Context(), in, io.Discard, io.Discard); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzSections reads a section of a damaged file.
func FuzzSections(f *testing.F) {
	_, plan, w := sampleWorkFiles(f)
	f.Add(w.index[0], uint8(Partitions), uint8(3))
	f.Add(w.rejections[0], uint8(plan.Count()), uint8(0))
	f.Fuzz(func(t *testing.T, file []byte, count, i uint8) {
		i %= max(count, 1)
		_, err := readSection(t.Context(), sourceOf(file), indexMagic, int(count), int(i), nil)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
