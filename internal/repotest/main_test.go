package repotest

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the root of the repository, so that they name files as a reader does.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// readFile returns the content of a file of the repository.
func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
