package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// projectTemplate returns the text of the template.
func projectTemplate(t *testing.T) string {
	t.Helper()
	text := errtest.Must(os.ReadFile(filepath.Join(projectDir(t), "template.yaml")))(t)
	return string(text)
}

// newProject creates a project with another template and, optionally, the built programs.
func newProject(t *testing.T, template string, binaries bool) string {
	t.Helper()
	dir := t.TempDir()
	errtest.Fatal(t, os.WriteFile(filepath.Join(dir, "template.yaml"), []byte(template), 0o600))
	for _, name := range []string{"statemachine", "bin"} {
		if name == "bin" && !binaries {
			continue
		}
		errtest.Fatal(t, os.Symlink(filepath.Join(projectDir(t), name), filepath.Join(dir, name)))
	}
	return dir
}

// changedTemplate returns the template with the first occurrence of old after the mark replaced.
func changedTemplate(t *testing.T, mark, old, replacement string) string {
	t.Helper()
	before, after, found := strings.Cut(projectTemplate(t), mark)
	if !found || !strings.Contains(after, old) {
		t.Fatalf("the template has no %s with %s", mark, old)
	}
	return before + mark + strings.Replace(after, old, replacement, 1)
}

// startAndFail runs a local cloud that cannot start, and returns its output and how it ended.
func startAndFail(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return newProgram(ctx, t, args...).CombinedOutput()
}

// startError is a command line by which no local cloud starts.
type startError struct {
	name string
	args []string
	// want is in the one line that is printed.
	want string
}

// wrongOptions are those that are wrong whatever the machine is like.
func wrongOptions(t *testing.T) []startError {
	t.Helper()
	template := changedTemplate(t, "Resources:\n", "!Ref AnnounceFunction", "!Ref NoFunction")
	return []startError{
		{"foreign address", []string{"--listen", "192.0.2.1"}, "192.0.2.1"},
		{"unknown parameter", []string{"--set", "Nothing=1"}, "Nothing"},
		{"wrong parameter", []string{"--set", "ChunkBytes=many"}, "ChunkBytes"},
		{"no template", []string{"--project", t.TempDir()}, "template.yaml"},
		{"broken template", []string{"--project", newProject(t, template, true)}, "NoFunction"},
		{"missing tools", []string{"--project", newProject(t, projectTemplate(t), false)},
			"dynoxide is missing: run `make build`"},
		{"argument", []string{"now"}, "takes no arguments"},
		{"unknown limit", []string{"--limit", "speed=1"},
			"the limits are concurrency=N, writes=TABLE:UNITS, partition=UNITS and api"},
		{"partition without units", []string{"--limit", "partition=0"}, "partition is the write units a second"},
		{"limit of no table", []string{"--limit", "writes=batches"}, "such as writes=transactions:100"},
		{"limit of an unknown table", []string{"--limit", "writes=nothing:1"},
			"there is no such table; the tables are "},
		{"limit with a value", []string{"--limit", "api=5"}, "ThrottlingRate and ThrottlingBurst"},
		{"wrong limit", []string{"--limit", "concurrency=0"}, "1 or more, such as concurrency=10"},
		{"limit below what is reserved", []string{"--limit", "concurrency=104", "--set", "CloseConcurrency=5"},
			"function sluice-close: its ReservedConcurrentExecutions of 5 would leave 99"},
	}
}

// A local cloud that cannot start prints one line and ends with exit code 2.
func TestStartErrors(t *testing.T) {
	busy := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer busy.Close()
	port := fmt.Sprint(busy.Addr().(*net.TCPAddr).Port)
	data := t.TempDir()
	first := start(t, data)
	file := filepath.Join(t.TempDir(), "file")
	errtest.Fatal(t, os.WriteFile(file, nil, 0o600))
	for _, test := range append(wrongOptions(t),
		startError{"folder in use", []string{"--data", data}, "another local cloud runs on the data folder " + data},
		startError{"folder is a file", []string{"--data", file}, "data folder"},
		startError{"API port", []string{"--port-api", port}, "port " + port + " is in use"},
		startError{"metrics port", []string{"--metrics", "127.0.0.1:" + port}, "metrics cannot be served"},
		startError{"S3 port", []string{"--port-s3", port}, "port " + port + " is in use"},
		startError{"AWS port", []string{"--port-aws", port}, "port " + port + " is in use"},
		startError{"DynamoDB port", []string{"--port-dynamodb", port}, "port " + port + " is in use"},
	) {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"--project", projectDir(t), "--data", t.TempDir()}, test.args...)
			out, err := startAndFail(t, args...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("ended with %v, want exit code 2", err)
			}
			if got := string(out); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.want) {
				t.Errorf("printed %q, want one line with %q", got, test.want)
			}
		})
	}
	first.end(t)
}
