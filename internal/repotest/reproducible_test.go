//go:build verify

package repotest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice/shared/kit/errtest"
)

// The program that SAM deploys is the same, byte for byte, before and after a commit that changes documents alone, and
// in another folder. Otherwise every deployment would replace all functions and publish versions of them.
func TestSAMBuildsTheSameProgramOfTheSameSources(t *testing.T) {
	repositoryFiles(t)
	var sums []string
	for range 2 {
		clone := t.TempDir()
		run(t, ".", "git", "clone", "-q", "--depth=1", "file://"+errtest.Must(os.Getwd())(t), clone)
		sums = append(sums, buildSum(t, clone))
		readme := filepath.Join(clone, "README.md")
		errtest.Fatal(t, os.WriteFile(readme, []byte("# Changed\n"), 0o600))
		run(t, clone, "git", "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "Change a page")
		sums = append(sums, buildSum(t, clone))
	}
	for _, sum := range sums[1:] {
		if sum != sums[0] {
			t.Errorf("the program differs from build to build: %v", sums)
		}
	}
}

// buildSum returns the SHA-256 of the program that SAM is given for a function in a clone of the repository.
func buildSum(t *testing.T, clone string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, clone, "make", "--no-print-directory", "build-AdmitFunction", "ARTIFACTS_DIR="+dir)
	return fmt.Sprintf("%x", sha256.Sum256(errtest.Must(os.ReadFile(filepath.Join(dir, "bootstrap")))(t)))
}

// run runs a command in a folder, as a user would, and ends the test if it fails.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = withoutVariables(cmd.Environ(), "ARCH", "MAKEFLAGS", "GOFLAGS", "GOWORK")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
