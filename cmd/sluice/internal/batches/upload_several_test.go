package batches

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// writeBatches writes n files of one transaction each.
func writeBatches(t *testing.T, n int) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range n {
		line := fmt.Sprintf(`{"transaction_external_id":"t%d","modification":{"external_id":"m"}}`+"\n", i)
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)))
		errtest.Fatal(t, os.WriteFile(paths[i], []byte(line), 0o600))
	}
	return paths
}

// readOutcomes decodes the lines that upload --json prints for several files.
func readOutcomes(t *testing.T, stdout string) map[string]uploadOutcome {
	t.Helper()
	out := map[string]uploadOutcome{}
	for line := range strings.Lines(stdout) {
		var o uploadOutcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("the line %q: %v", line, err)
		}
		out[o.File] = o
	}
	return out
}

// However many files there are, only so many are uploaded at a time, and --quiet names the batches in their order.
func TestUploadsAreBounded(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	paths := writeBatches(t, 3*maxUploads)
	var mu sync.Mutex
	running, most := 0, 0
	fileOf := map[string]string{} // by batch
	full := make(chan struct{})   // closed as soon as maxUploads uploads run
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		mu.Lock()
		fileOf[filepath.Base(r.URL.Path)] = string(body)
		if running++; running == maxUploads && most < maxUploads {
			close(full)
		}
		most = max(most, running)
		mu.Unlock()
		select {
		case <-full:
		case <-r.Context().Done():
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		return false
	}
	code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s,
		append([]string{"upload", "--detach", "--quiet"}, paths...)...)
	ids := strings.Fields(stdout)
	if code != 0 || stderr != "" || len(ids) != len(paths) {
		t.Fatalf("exit code %d, stdout %q, stderr %q; want 0 and %d IDs", code, stdout, stderr, len(paths))
	}
	for i, id := range ids {
		if want := fmt.Sprintf(`"t%d"`, i); !strings.Contains(fileOf[id], want) {
			t.Errorf("ID %d is that of the batch with %q, want the one with %s", i, fileOf[id], want)
		}
	}
	difftest.Equal(t, "files were uploaded at a time", maxUploads, most)
}

// Ctrl-C leaves alone the batches whose upload was complete, and says so of each file.
func TestInterruptedUploads(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/batch/status/") {
			cancel()
			<-r.Context().Done()
		}
		return false
	}
	paths := writeBatches(t, 2*maxFollowed)
	code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, append([]string{"upload", "--json"},
		paths...)...)
	difftest.Equal(t, "exit code and stderr", []any{command.ExitInterrupted, "sluice: interrupted\n"},
		[]any{code, stderr})
	outcomes := readOutcomes(t, stdout)
	continued := 0
	for _, path := range paths {
		o, ok := outcomes[path]
		known := []string{
			"interrupted; it was not uploaded",
			commandtest.WithFlags(s, "interrupted; the batch continues: sluice status "+o.BatchID),
			commandtest.WithFlags(s,
				"interrupted; whether the service has the file is not known, but this says it: sluice status "+
					o.BatchID),
			commandtest.WithFlags(s, "interrupted; continue with: sluice upload --resume "+o.BatchID+" "+path),
		}
		if !ok || o.ExitCode != command.ExitInterrupted || !slices.Contains(known, o.Error) {
			t.Errorf("the outcome of %s is %+v, want 130 and what became of the file", path, o)
		}
		if o.Error == known[1] {
			continued++
		}
	}
	if continued == 0 {
		t.Error("no batch is said to continue, though one was followed")
	}
}
