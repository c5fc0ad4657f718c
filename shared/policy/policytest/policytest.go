// Package policytest helps to test what uses policies: a store of policies on a real DynamoDB server, objects in
// memory, and fields.
package policytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/policy/policydb"
)

// Table is the table of the stores that NewStore makes.
const Table = "test-policies"

// NewStore returns a store on a DynamoDB server of its own, which runs until the test ends.
func NewStore(t testing.TB) *policydb.Store {
	t.Helper()
	return policydb.New(dynamotest.Start(t), Table, NewFiles(), CountIDs("id"))
}

// CountIDs returns a source of IDs that begin with a prefix.
func CountIDs(prefix string) func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s-%06d", prefix, n)
	}
}

// Files are objects in memory: policydb.Files.
type Files struct {
	mu      sync.Mutex
	objects map[string][]byte
	opened  int
	// Fault is called before each write, which fails with its error. It must be set before use.
	Fault func() error
}

var _ policydb.Files = (*Files)(nil)

// NewFiles returns no objects.
func NewFiles() *Files { return &Files{objects: map[string][]byte{}} }

// Open implements policydb.Files.
func (f *Files) Open(_ context.Context, key, _ string, from, to int64) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	object, found := f.objects[key]
	if !found {
		return nil, fs.ErrNotExist
	}
	if to < 0 {
		to = int64(len(object))
	}
	return io.NopCloser(bytes.NewReader(object[from:to])), nil
}

// WriteObject implements policydb.Files.
func (f *Files) WriteObject(_ context.Context, key string, write func(io.Writer) error) error {
	if f.Fault != nil {
		if err := f.Fault(); err != nil {
			return err
		}
	}
	var object bytes.Buffer
	if err := write(&object); err != nil {
		return err
	}
	f.Put(key, object.Bytes())
	return nil
}

// Put stores an object.
func (f *Files) Put(key string, object []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = object
}

// Keys returns the keys of all objects, in their order.
func (f *Files) Keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.objects))
}

// Get returns an object, nil if there is no object with this key.
func (f *Files) Get(key string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.objects[key]
}

// Opened returns how often an object was opened.
func (f *Files) Opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opened
}
