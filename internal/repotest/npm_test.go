package repotest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"
)

// unpinnedNpm matches commands of npm that install something else than a lock file says, or that run what they install.
var unpinnedNpm = regexp.MustCompile(`\bnpx\b|\bnpm (install|i|pack|exec|add|update)\b|\bnpm ci\b(?:[^\n]*)`)

// What is taken from npm is pinned by the digests of a lock file, and no package may run a script.
func TestNpmPackagesArePinned(t *testing.T) {
	for _, file := range []string{"tools/package-lock.json", "tools/duckdb/package-lock.json",
		"tools/console-check/package-lock.json"} {
		checkLock(t, file)
	}
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	scripted := regexp.MustCompile(`--ignore-scripts\b`)
	for _, file := range append(files, "Makefile") {
		for _, command := range unpinnedNpm.FindAllString(string(readFile(t, file)), -1) {
			if len(command) < 6 || command[:6] != "npm ci" || !scripted.MatchString(command) {
				t.Errorf("%s has %q: use npm ci --ignore-scripts with a lock file", file, command)
			}
		}
	}
}

// checkLock checks that a lock file pins each package by a digest.
func checkLock(t *testing.T, file string) {
	t.Helper()
	var lock struct {
		Packages map[string]struct {
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(readFile(t, file), &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 2 {
		t.Errorf("%s has %d packages, want at least 2", file, len(lock.Packages))
	}
	for path, p := range lock.Packages {
		if path != "" && p.Integrity == "" {
			t.Errorf("%s does not pin %s by a digest", file, path)
		}
	}
}
