//go:build verify

package repotest

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// previousRelease is the file that names the commit of the release before this one.
const previousRelease = "tools/previous-release"

// renamed are golden files of rows that the previous release has under another name, since it writes another form.
var renamed = map[string]string{
	"transactiondb/transactions-library-frames": "transactiondb/transactions-short-frames",
	"observationdb/stored-by-each-id":           "observationdb/stored",
	"observationdb/refused-by-each-id":          "observationdb/refused",
}

// unread are golden files of rows that the tests of the previous release do not read, and why that is no harm.
var unread = map[string]string{
	"lineindexdb/index": "it has no such table, and finds no lines",
	"admissiondb/admission": "it reads them, but its test expects the version of a row that was written twice, " +
		"and ours is written three times",
}

var (
	packageResult = regexp.MustCompile(`(?m)^(ok  |FAIL)\tsluice/\S*/(\w+)\t`)
	passedLine    = regexp.MustCompile(`^ *(=== |--- PASS|PASS|ok  )|: loaded /`)
	loadedFile    = regexp.MustCompile(`loaded \S*/(\w+)/testdata/stored/([\w-]+)\.json`)
)

// The previous release reads the rows that this one stores, so that a deployment can be rolled back: its tests of
// stored rows pass on the golden files of this release.
func TestThePreviousReleaseReadsStoredRows(t *testing.T) {
	golden := goldenRows(repositoryFiles(t))
	dir := extractPreviousRelease(t)
	theirs := filesBelow(t, dir)
	at := goldenRows(theirs)
	older := slices.Collect(maps.Values(renamed))
	for name, file := range golden {
		place := at[name]
		if other, isRenamed := renamed[name]; isRenamed {
			place = at[other]
		}
		if place != "" && !slices.Contains(older, name) {
			errtest.Fatal(t, os.WriteFile(filepath.Join(dir, place), readFile(t, file), 0o600))
		}
	}
	read, report := testStoredRows(t, dir, theirs)
	for name, file := range golden {
		if slices.Contains(older, name) {
			continue
		}
		place := name
		if other, isRenamed := renamed[name]; isRenamed {
			place = other
		}
		switch reason := unread[name]; {
		case !read[place] && reason == "":
			t.Errorf("the release of %s does not read the rows of %s. Write a form one release after the first that "+
				"reads it; what no release before reads is listed with its reason", previousRelease, file)
		case read[place] && reason != "":
			t.Errorf("the release of %s reads the rows of %s: remove them from the list", previousRelease, file)
		}
	}
	for line := range strings.Lines(report) {
		if t.Failed() && !passedLine.MatchString(line) {
			t.Log(strings.TrimRight(line, "\n"))
		}
	}
}

// goldenRows returns the golden files of stored rows among files, by their packages and names.
func goldenRows(files []string) map[string]string {
	found := map[string]string{}
	for _, file := range files {
		folder, isRow := strings.CutSuffix(path.Dir(file), "db/testdata/stored")
		if isRow && path.Ext(file) == ".json" {
			found[path.Base(folder)+"db/"+strings.TrimSuffix(path.Base(file), ".json")] = file
		}
	}
	return found
}

// extractPreviousRelease returns a folder with the sources of the previous release and the DynamoDB server.
func extractPreviousRelease(t *testing.T) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(readFile(t, previousRelease))), "\n")
	commit := lines[len(lines)-1]
	if exec.Command("git", "cat-file", "-e", commit+"^{commit}").Run() != nil {
		t.Fatalf("%s names the commit %s, which this clone does not have: git fetch --depth=1 origin %s",
			previousRelease, commit, commit)
	}
	head := errtest.Must(exec.Command("git", "rev-parse", "HEAD").Output())(t)
	if strings.TrimSpace(string(head)) == commit {
		t.Fatalf("%s names the present commit: name that of the release before", previousRelease)
	}
	dir := t.TempDir()
	run(t, ".", "sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", commit, dir)
	server := errtest.Must(filepath.Abs("bin/dynoxide"))(t)
	errtest.Fatal(t, os.MkdirAll(filepath.Join(dir, "bin"), 0o700))
	errtest.Fatal(t, os.Symlink(server, filepath.Join(dir, "bin/dynoxide")))
	return dir
}

// filesBelow returns the names of all files below a folder.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	errtest.Fatal(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, name)
		}
		return err
	}))
	return files
}

// testStoredRows runs the tests of stored rows in the sources of the previous release, where CompareStored puts the
// golden rows into the table instead of comparing them. It returns the golden files that were loaded in packages whose
// tests passed, and the output.
func testStoredRows(t *testing.T, dir string, files []string) (map[string]bool, string) {
	t.Helper()
	var packages []string
	for _, file := range files {
		if strings.HasSuffix(file, "/dynamotest/stored.go") {
			patchStored(t, filepath.Join(dir, file))
		}
		if folder, isRow := strings.CutSuffix(path.Dir(file), "/testdata/stored"); isRow &&
			strings.HasSuffix(folder, "db") && !slices.Contains(packages, "./"+folder) {
			packages = append(packages, "./"+folder)
		}
	}
	args := append([]string{"test", "-vet=off", "-count=1", "-v", "-run", "Stored|OfAnEarlierRelease"}, packages...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(withoutVariables(cmd.Environ(), "GOWORK"), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatalf("%v: %v", cmd, err)
	}
	passed, read := map[string]bool{}, map[string]bool{}
	for _, result := range packageResult.FindAllSubmatch(out, -1) {
		passed[string(result[2])] = string(result[1]) == "ok  "
	}
	for _, file := range loadedFile.FindAllSubmatch(out, -1) {
		if owner := string(file[1]); passed[owner] {
			read[owner+"/"+string(file[2])] = true
		}
	}
	return read, string(out)
}

// patchStored lets the functions of a dynamotest/stored.go load golden rows and print their names.
func patchStored(t *testing.T, file string) {
	t.Helper()
	text := errtest.Must(os.ReadFile(file))(t)
	const arguments = `(t *testing.T, db *dynamodb.Client, table, name string) {`
	for function, statements := range map[string]string{"CompareStored": "LoadStored(t, db, table, name); return",
		"LoadStored": `t.Log("loaded", goldenPath(name))`} {
		declaration := []byte("func " + function + arguments)
		if bytes.Count(text, declaration) != 1 {
			t.Fatalf("%s of %s has no function %s%s", file, previousRelease, function, arguments)
		}
		text = bytes.Replace(text, declaration, append(declaration, "\n"+statements+"\n"...), 1)
	}
	errtest.Fatal(t, os.WriteFile(file, text, 0o600))
}
