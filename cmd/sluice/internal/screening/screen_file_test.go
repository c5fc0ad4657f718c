package screening

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// screenFileRun returns a run on a file of n names, of which every third has a hit, and the index.
func screenFileRun(t *testing.T, n int, asJSON bool) (*screenRun, *bytes.Buffer, *match.Index) {
	t.Helper()
	list := &watchlist.List{Entries: []watchlist.Entry{
		{ID: "a", Schema: watchlist.Person, Names: []watchlist.Name{{Text: "Anatoly Velkanov"}}},
	}}
	text := strings.Builder{}
	text.WriteString("name\n")
	for i := range n {
		if i%3 == 0 {
			fmt.Fprintf(&text, "Anatoly %d Velkanov\n", i)
		} else {
			fmt.Fprintf(&text, "Somebody %d Else\n", i)
		}
	}
	path := filepath.Join(t.TempDir(), "names.csv")
	errtest.Fatal(t, os.WriteFile(path, []byte(text.String()), 0o600))
	var out bytes.Buffer
	return &screenRun{stdout: &out, ui: terminal.New(&out), file: path, threshold: 50, asJSON: asJSON}, &out,
		match.Build(match.Source{Name: "list", List: list})
}

// What is printed is the same for any number of workers, in the order of the file.
func TestScreenFileInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, portionNames - 1, portionNames, portionNames + 1, 3000} {
		for _, asJSON := range []bool{false, true} {
			want := ""
			for _, workers := range []int{1, 2, 7} {
				run, out, index := screenFileRun(t, n, asJSON)
				hits := errtest.Must(run.screenFile(t.Context(), index, workers))(t)
				difftest.Equal(t, fmt.Sprintf("%d names, %d workers: names have hits", n, workers), (n+2)/3, hits)
				if workers == 1 {
					want = out.String()
				}
				if got := out.String(); got != want {
					t.Errorf("%d names: %d workers print otherwise than one", n, workers)
				}
			}
			if lines := strings.Count(want, "\n"); asJSON && lines != n {
				t.Errorf("%d names give %d lines of JSON", n, lines)
			}
			last := 0
			for line := range strings.Lines(want) {
				var i int
				if _, err := fmt.Sscanf(line, `{"name":"Anatoly %d`, &i); err == nil {
					if i < last {
						t.Fatalf("name %d is printed after %d", i, last)
					}
					last = i
				}
			}
		}
	}
}

// failingWriter fails after some writes.
type failingWriter struct{ left int }

var errFull = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An error of the output ends the command, whatever is being read and looked up then.
func TestScreenFileWithFullDisk(t *testing.T) {
	t.Parallel()
	run, _, index := screenFileRun(t, 5000, true)
	run.stdout = &failingWriter{left: 2}
	errtest.Is(t, "screenFile", errtest.Of(run.screenFile(t.Context(), index, 3)), errFull)
}

// interruptingWriter ends a context when it is written to.
type interruptingWriter struct{ interrupt func() }

func (w interruptingWriter) Write(p []byte) (int, error) {
	w.interrupt()
	return len(p), nil
}

// An interrupt ends the command before the end of the file.
func TestScreenFileInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	run, _, index := screenFileRun(t, 50*portionNames, true)
	run.stdout = interruptingWriter{interrupt}
	errtest.Is(t, "screenFile", errtest.Of(run.screenFile(ctx, index, 3)), command.ErrInterrupted)
}
