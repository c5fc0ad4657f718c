// Package lineindextest keeps the catalogs and the objects of indexes in memory, for tests.
package lineindextest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Files are objects in memory. Its methods are safe for concurrent use.
type Files struct {
	// Objects are the objects by their keys.
	Objects map[string][]byte
	// Reads counts the calls of Open.
	Reads int

	mu sync.Mutex
}

// NewFiles returns no objects.
func NewFiles() *Files { return &Files{Objects: map[string][]byte{}} }

var errGone = errors.New("there is no such object")

// IsGone reports whether an error means that an object does not exist.
func IsGone(err error) bool { return errors.Is(err, errGone) }

// Open implements lineindex.Files.
func (f *Files) Open(_ context.Context, key, _ string, from, to int64) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Reads++
	b, exists := f.Objects[key]
	if !exists {
		return nil, fmt.Errorf("%s: %w", key, errGone)
	}
	end := int64(len(b))
	if to >= 0 {
		end = min(to, end)
	}
	return io.NopCloser(bytes.NewReader(b[min(from, end):end])), nil
}

// WriteObject implements lineindex.Files.
func (f *Files) WriteObject(_ context.Context, key string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Objects[key] = b.Bytes()
	return nil
}

// Remove implements lineindex.Files.
func (f *Files) Remove(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.Objects, key)
	return nil
}
