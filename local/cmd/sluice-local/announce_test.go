package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// printedCommands returns the commands that a local cloud prints for a shell: the indented lines after the title.
func printedCommands(t *testing.T, r *localCloud) string {
	t.Helper()
	const title = "run this in another terminal:\n\n"
	var commands string
	waitUntil(t, "the printed commands", func() bool {
		_, after, found := strings.Cut(r.output.String(), title)
		var complete bool
		commands, _, complete = strings.Cut(after, "\n\n")
		return found && complete
	})
	return strings.ReplaceAll("\n"+commands, "\n  ", "\n")
}

// The commands that the local cloud prints run as they are, also where folders have unusual names, and the batch that
// they upload is processed.
func TestPrintedCommandsRun(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is missing")
	}
	if _, err := os.Stat(filepath.Join(projectDir(t), "bin", "sluice")); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	r := start(t, filepath.Join(t.TempDir(), "it's & a folder"))
	commands := printedCommands(t, r)
	for _, want := range []string{" -T ", `"$URL"`, "/status/$BATCH"} {
		if !strings.Contains(commands, want) {
			t.Errorf("the commands do not contain %s:\n%s", want, commands)
		}
	}
	if strings.Contains(commands, "--data-binary") {
		t.Errorf("a command reads the whole file into memory:\n%s", commands)
	}
	cmd := exec.Command("sh", "-eu", "-c", commands)
	cmd.Dir = t.TempDir()
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s\nprinted\n%s", err, commands, output)
	}
	id := regexp.MustCompile(`"batch_id": ?"([0-9a-f-]{36})"`).FindSubmatch(output)
	if id == nil {
		t.Fatalf("the last command printed no status:\n%s\nprinted\n%s", commands, output)
	}
	token := r.token(t)
	var batch struct{ Status string }
	waitUntil(t, "the end of the batch", func() bool {
		decode(t, r.do(t, http.MethodGet, r.APIURL+batches+"status/"+string(id[1]), token, nil), &batch)
		return batch.Status == "PROCESSED" || batch.Status == "VALIDATION_FAILED" || batch.Status == "ERROR"
	})
	difftest.Equal(t, "the batch ended with", "PROCESSED", batch.Status)
	r.end(t)
}
