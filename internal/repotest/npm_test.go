package repotest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// npmCommand matches a command that installs from npm, or runs what it installs, to the end of its line.
var npmCommand = regexp.MustCompile(`\b(npx|npm (ci|install|i|pack|exec|add|update))\b.*`)

// What is taken from npm is pinned by the digests of a lock file, and no package may run a script.
func TestNpmPackagesArePinned(t *testing.T) {
	locks := filesNamed(t, "package-lock.json")
	if want := filesNamed(t, "package.json"); len(locks) == 0 || len(locks) != len(want) {
		t.Errorf("found the lock files %q, want one for each of %q", locks, want)
	}
	for _, file := range locks {
		var lock struct {
			Packages map[string]struct{ Integrity string }
		}
		errtest.Fatal(t, json.Unmarshal(readFile(t, file), &lock))
		for path, p := range lock.Packages {
			if path != "" && p.Integrity == "" || len(lock.Packages) < 2 {
				t.Errorf("%s does not pin %q by a digest", file, path)
			}
		}
	}
	files := errtest.Must(filepath.Glob(".github/workflows/*.yml"))(t)
	commands := 0
	for _, file := range append(files, "Makefile") {
		for _, command := range npmCommand.FindAllString(string(readFile(t, file)), -1) {
			commands++
			if !strings.HasPrefix(command, "npm ci ") || !strings.Contains(command, " --ignore-scripts") {
				t.Errorf("%s has %q: use npm ci --ignore-scripts with a lock file", file, command)
			}
		}
	}
	if commands == 0 {
		t.Error("found no command of npm")
	}
}
