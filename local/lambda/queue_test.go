package lambda

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestAsynchronousRequestsAreRetried(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { f.Retries = 1 })
	flag := filepath.Join(t.TempDir(), "flag")
	errtest.Fatal(t, errtest.Of(h.InvokeAsync("toy", fmt.Appendf(nil, `{"Do": "once", "Text": %q}`, flag))))
	waitUntil(t, "an empty journal", func() bool { return countFiles(t, h.cfg.JournalDir) == 0 })
	difftest.Equal(t, "dead letters", 0, countFiles(t, h.cfg.DeadLetterDir))
	id := errtest.Must(h.InvokeAsync("toy", []byte(`{"Do": "fail", "Text": "always"}`)))(t)
	waitUntil(t, "the dead letter",
		func() bool { return countFiles(t, h.cfg.DeadLetterDir) == 1 && countFiles(t, h.cfg.JournalDir) == 0 })
	waitUntil(t, "the report in the log", func() bool { return strings.Contains(h.log.all(), "platform.deadLetter") })
	text, err := os.ReadFile(filepath.Join(h.cfg.DeadLetterDir, id+".json"))
	if err != nil || !strings.Contains(string(text), "always") {
		t.Errorf("dead letter %s, %v; want the last failure", text, err)
	}
	for errorType, want := range map[string]int{"joinError": 1, "errorString": 2} {
		if n := strings.Count(h.log.all(), `"errorType":"`+errorType+`","durationMs"`); n != want {
			t.Errorf("%d failed attempts with %s, want %d", n, errorType, want)
		}
	}
}

func countFiles(t *testing.T, dir string) int {
	t.Helper()
	files := errtest.Must(os.ReadDir(dir))(t)
	return len(files)
}

// An accepted request survives the end of the program while it runs.
func TestAsynchronousRequestsSurviveARestart(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	for range 3 {
		errtest.Fatal(t, errtest.Of(h.InvokeAsync("toy", []byte(`{"Do": "hang"}`))))
	}
	h.Service.Close()
	files := errtest.Must(os.ReadDir(h.cfg.JournalDir))(t)
	difftest.Equal(t, "requests in the journal", 3, len(files))
	for _, f := range files {
		path := filepath.Join(h.cfg.JournalDir, f.Name())
		text := errtest.Must(os.ReadFile(path))(t)
		errtest.Fatal(t, os.WriteFile(path, []byte(strings.Replace(string(text), "hang", "echo", 1)), 0o600))
	}
	errtest.Fatal(t, os.WriteFile(filepath.Join(h.cfg.JournalDir, "x.json.tmp"), []byte("{"), 0o600))
	next := errtest.Must(New(t.Context(), h.cfg))(t)
	t.Cleanup(next.Close)
	waitUntil(t, "an empty journal", func() bool { return countFiles(t, h.cfg.JournalDir) == 0 })
}
