//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestMappedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	page := os.Getpagesize()
	content := make([]byte, 3*page+7)
	for i := range content {
		content[i] = byte(i * 31)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	edges := []int{0, 1, page - 1, page, page + 1, 2 * page, len(content) - 1, len(content)}
	for _, from := range edges {
		for _, to := range edges {
			if from >= to {
				continue
			}
			body, err := sourceOf(file).Open(context.Background(), int64(from), int64(to))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(body)
			if err != nil || !bytes.Equal(got, content[from:to]) {
				t.Errorf("[%d, %d): %d bytes, %v", from, to, len(got), err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	body, err := sourceOf(file).Open(context.Background(), 0, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(body); !errors.Is(err, errShrank) {
		t.Errorf("a file that was cut: %v", err)
	}
}
