//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestMappedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const size = 1 << 20
	content := make([]byte, size)
	content[size-1] = 'x'
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := mapFile(file, size)
	p := make([]byte, 2)
	for _, tt := range []struct {
		at  int64
		n   int
		err error
	}{{0, 2, nil}, {size - 2, 2, nil}, {size - 1, 1, io.EOF}, {size, 0, io.EOF}, {size + 1, 0, io.EOF}} {
		if n, err := m.ReadAt(p, tt.at); n != tt.n || err != tt.err {
			t.Errorf("at %d: %d, %v", tt.at, n, err)
		}
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ReadAt(p, size-2); !errors.Is(err, errShrank) {
		t.Errorf("behind the end of a file that was cut: %v", err)
	}
}
