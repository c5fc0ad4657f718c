package repotest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/shared/kit/errtest"
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
	repositoryFiles(t)
	return errtest.Must(os.ReadFile(path))(t)
}

// repositoryFiles returns the names of all files of the repository, without those of version control and of builds.
//
// The helpers of this package call it so that no result is taken from go test's cache after a file has
// changed. The cache goes by the files and folders that a test opens, but it neither knows the folder that TestMain
// changes to nor sees what make and go list read. Opening every folder by its full name tells it all.
func repositoryFiles(t *testing.T) []string {
	t.Helper()
	return errtest.Must(walkRepository())(t)
}

var walkRepository = sync.OnceValues(func() ([]string, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var files []string
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case !entry.IsDir():
			files = append(files, filepath.ToSlash(name))
		case name == "bin", name != "." && name != ".github" && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		return nil
	})
	return files, err
})
