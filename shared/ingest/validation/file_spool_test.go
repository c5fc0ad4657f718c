package validation

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"sluice/shared/kit/errtest"
)

// TestSpool writes more than three blocks to spools that may have from none to five of them, so that the bytes change
// from memory to a temporary file at every point.
func TestSpool(t *testing.T) {
	const blocksNeeded = 4
	data := make([]byte, (blocksNeeded-1)*blockBytes+5)
	for i := range data {
		data[i] = byte(i / 7)
	}
	dir := t.TempDir()
	for blocks := range blocksNeeded + 2 {
		for _, pieceBytes := range []int{1000, blockBytes - 1, blockBytes, blockBytes + 1, len(data)} {
			t.Run(fmt.Sprintf("%d blocks, pieces of %d bytes", blocks, pieceBytes), func(t *testing.T) {
				memory := &spoolMemory{tempDir: dir, unallocated: blocks}
				s := &spool{memory: memory}
				for rest := data; len(rest) > 0; {
					piece := rest[:min(pieceBytes, len(rest))]
					rest = rest[len(piece):]
					if n, err := s.Write(piece); n != len(piece) || err != nil {
						t.Fatalf("Write returned %d, %v, want %d, nil", n, err, len(piece))
					}
				}
				compareSpool(t, s, data)
				if inFile := s.file != nil; inFile != (blocks < blocksNeeded) {
					t.Errorf("in a temporary file: %v, want %v", inFile, !inFile)
				}
				if err := s.close(); err != nil {
					t.Error(err)
				}
				if got, want := len(memory.free), min(blocks, blocksNeeded); got != want {
					t.Errorf("%d blocks were released, want %d", got, want)
				}
			})
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%d temporary files are left, %v, want none", len(files), err)
	}
}

// compareSpool reads a spool in every way.
func compareSpool(t *testing.T, s *spool, want []byte) {
	t.Helper()
	if got, err := io.ReadAll(s.reader()); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("reader gave %d bytes, %v, want the %d that were written", len(got), err, len(want))
	}
	var out bytes.Buffer
	if n, err := s.WriteTo(&out); err != nil || n != int64(len(want)) || !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("WriteTo wrote %d bytes, %v, want the %d that were written", n, err, len(want))
	}
	for _, from := range []int64{0, 1, blockBytes - 1, blockBytes, 2*blockBytes + 1, 3 * blockBytes} {
		body, err := s.Open(t.Context(), from, int64(len(want))-1)
		errtest.Fatal(t, err)
		if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, want[from:len(want)-1]) {
			t.Fatalf("from byte %d: read %d bytes, %v, want %d", from, len(got), err, int64(len(want))-1-from)
		}
	}
	if n, err := s.ReadAt(make([]byte, 2), int64(len(want))-1); n != 1 || err != io.EOF {
		t.Errorf("ReadAt at the last byte returned %d, %v, want 1, %v", n, err, io.EOF)
	}
}

func TestSpoolCannotCreateFile(t *testing.T) {
	s := &spool{memory: &spoolMemory{tempDir: t.TempDir() + "/none"}}
	if n, err := s.Write([]byte("x")); err == nil {
		t.Errorf("Write to a directory that does not exist returned %d and no error, want an error", n)
	}
}
