package match

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// An index finds the same after it was written and opened, and equal lists give equal bytes.
func TestFile(t *testing.T) {
	x := sampleIndex(t)
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		errtest.Fatal(t, errtest.Of(sampleIndex(t).WriteTo(b)))
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two indexes of the same list have different bytes")
	}
	path := filepath.Join(t.TempDir(), "sample.idx")
	errtest.Fatal(t, os.WriteFile(path, first.Bytes(), 0o600))
	opened := errtest.Must(Open(path))(t)
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

// A file with damage at any place is refused.
func TestDamagedFile(t *testing.T) {
	var b bytes.Buffer
	errtest.Fatal(t, errtest.Of(sampleIndex(t).WriteTo(&b)))
	whole := b.Bytes()
	for _, n := range []int{0, 1, sumStart, 100, len(whole) / 2, len(whole) - 1} {
		errtest.Is(t, fmt.Sprintf("Load of the first %d bytes", n), errtest.Of(Load(slices.Clone(whole[:n]))),
			ErrNotIndex)
		damaged := slices.Clone(whole)
		damaged[n] ^= 1
		errtest.Is(t, fmt.Sprintf("Load with a changed byte at %d", n), errtest.Of(Load(damaged)), ErrNotIndex)
	}
}

// An index of another format is refused with an advice.
func TestFileOfAnotherFormat(t *testing.T) {
	var b bytes.Buffer
	errtest.Fatal(t, errtest.Of(sampleIndex(t).WriteTo(&b)))
	b.Bytes()[len(fileMagic)] ^= 1
	path := filepath.Join(t.TempDir(), "other.idx")
	errtest.Fatal(t, os.WriteFile(path, b.Bytes(), 0o600))
	if _, err := Open(path); !errors.Is(err, ErrOtherFormat) ||
		!strings.Contains(err.Error(), "import the list again") {
		t.Errorf("Open of an index of another format: %v, want %v", err, ErrOtherFormat)
	}
}

// The format of a file changes by itself with the layout of any stored type.
func TestLayout(t *testing.T) {
	type before struct{ A, B uint32 }
	type after struct {
		A uint32
		B uint16
	}
	type renamed struct{ A, C uint32 }
	base := layout(reflect.TypeFor[struct{ x []before }]())
	for name, other := range map[string]reflect.Type{
		"size":  reflect.TypeFor[struct{ x []after }](),
		"name":  reflect.TypeFor[struct{ x []renamed }](),
		"array": reflect.TypeFor[struct{ x [2]before }](),
	} {
		if layout(other) == base {
			t.Errorf("%s: the layout is the same: %s", name, base)
		}
	}
	whole := layout(reflect.TypeFor[Index]())
	for _, name := range []string{"sounds", "skeletons", "prints", "weight", "keyStarts", "identifiers"} {
		if !strings.Contains(whole, name) {
			t.Errorf("the layout of the index has no %s: %s", name, whole)
		}
	}
}

// The format depends on nothing but the program.
func TestFileFormat(t *testing.T) {
	var first, second bytes.Buffer
	digestCorpus(&first)
	digestCorpus(&second)
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two indexes of the corpus have different bytes")
	}
	if got := FileFormat(); len(got) != 2*versionSize {
		t.Errorf("FileFormat() = %q, want %d digits", got, 2*versionSize)
	}
}
