package match

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// An index that was written and opened finds what it found, and the same lists make the same bytes.
func TestFile(t *testing.T) {
	x := sampleIndex(t)
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if _, err := sampleIndex(t).WriteTo(b); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two indexes of the same list have different bytes")
	}
	path := filepath.Join(t.TempDir(), "sample.idx")
	if err := os.WriteFile(path, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if got, want := opened.Lists, x.Lists; !slices.Equal(got, want) {
		t.Errorf("the lists of the opened index are %v, want %v", got, want)
	}
	before, after := NewSearcher(x), NewSearcher(opened)
	for name := range sampleQueries {
		want := slices.Clone(before.find(Query{Name: name}, 5000))
		if got := after.find(Query{Name: name}, 5000); !slices.Equal(got, want) {
			t.Errorf("the opened index finds %v for %q, want %v", got, name, want)
		}
	}
}

// A damaged file is refused, wherever the damage is.
func TestDamagedFile(t *testing.T) {
	var b bytes.Buffer
	if _, err := sampleIndex(t).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for _, n := range []int{0, 1, len(fileMagic), 100, len(whole) / 2, len(whole) - 1} {
		if _, err := Load(slices.Clone(whole[:n])); !errors.Is(err, ErrNotIndex) {
			t.Errorf("Load of the first %d bytes: %v, want ErrNotIndex", n, err)
		}
		damaged := slices.Clone(whole)
		damaged[n] ^= 1
		if _, err := Load(damaged); !errors.Is(err, ErrNotIndex) {
			t.Errorf("Load with a changed byte at %d: %v, want ErrNotIndex", n, err)
		}
	}
}
