package lambda

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	v := NewVersions(filepath.Join(dir, "versions"))
	// build replaces the program, as a build does, and publishes it.
	build := func(text, want string) {
		t.Helper()
		errtest.Fatal(t, os.WriteFile(program+".new", []byte(text), 0o700))
		errtest.Fatal(t, os.Rename(program+".new", program))
		for range 2 { // the second time it is the same file
			if got, err := v.Publish("f", program); got != want || err != nil {
				t.Errorf("publish %q: version %q, %v; want %s", text, got, err, want)
			}
		}
	}
	build("one", "1")
	build("one", "1")
	build("two", "2")
	build("one", "3")
	build("three and more", "4")
	// texts returns what the programs of the versions are.
	texts := func() map[string]string {
		programs := errtest.Must(v.Programs("f"))(t)
		out := map[string]string{}
		for number, path := range programs {
			text := errtest.Must(os.ReadFile(path))(t)
			out[number] = string(text)
		}
		return out
	}
	difftest.Equal(t, "programs", map[string]string{"1": "one", "2": "two", "3": "one", "4": "three and more"}, texts())
	errtest.Fatal(t, v.Prune(func(function, number string) bool { return function == "f" && number == "2" }))
	difftest.Equal(t, "programs after pruning", map[string]string{"2": "two", "4": "three and more"}, texts())
	difftest.Equal(t, "programs of another function", 0, len(errtest.Must(v.Programs("other"))(t)))
	errtest.Fails(t, "published a program that does not exist",
		errtest.Of(v.Publish("f", filepath.Join(dir, "missing"))))
	errtest.Is(t, "prune a folder that does not exist", NewVersions(filepath.Join(dir, "none")).Prune(nil), nil)
}

// Where a program cannot be kept, its version is a link that leads to the newest one.
func TestVersionsOnAnotherFileSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := NewVersions(dir)
	for _, program := range []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")} {
		errtest.Fatal(t, os.WriteFile(program, []byte(program), 0o700))
		errtest.Fatal(t, os.MkdirAll(filepath.Join(dir, "f"), 0o700))
		if _, err := os.Lstat(filepath.Join(dir, "f", "1")); err != nil { // as if os.Link had failed
			errtest.Fatal(t, os.Symlink(program, filepath.Join(dir, "f", "1")))
		}
		for range 2 {
			difftest.Equal(t, "version", "1", errtest.Must(v.Publish("f", program))(t))
		}
		difftest.Equal(t, "the program of the version", program,
			string(errtest.Must(os.ReadFile(filepath.Join(dir, "f", "1")))(t)))
		if err := os.Remove(program); err != nil { // the project is moved
			t.Fatal(err)
		}
	}
}

// Versions run their own programs, and the alias the version that it names.
func TestInvokeVersions(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) {
		f.Versions = map[string]string{"1": toyProgram, "2": toyProgram}
		f.Aliases = map[string]string{"live": "2"}
		f.Program = "/does/not/exist" // $LATEST
	})
	const arn = "arn:aws:lambda:eu-west-1:000000000000:function:toy"
	for name, want := range map[string]string{"toy:1": "1", "toy:2": "2", "toy:live": "2", arn + ":1": "1"} {
		result, err := h.Invoke(t.Context(), functionName(name), []byte(
			`{"Do":"env","Text":"AWS_LAMBDA_FUNCTION_VERSION"}`))
		r := replyOf(t, result)
		if err != nil || result.Version != want || r.Text != want {
			t.Errorf("%s: version %q (%q in the function), %v; want %s", name, result.Version, r.Text, err, want)
		}
	}
	if result, err := h.Invoke(t.Context(), "toy:$LATEST", []byte(`{}`)); err != nil ||
		result.ErrorType != "Runtime.InvalidEntrypoint" || result.Version != "$LATEST" {
		t.Errorf("$LATEST: %+v, %v; want that its program is missing", result, err)
	}
	for _, name := range []string{"toy:3", "toy:dead", "toy:"} {
		errtest.Fails(t, name, errtest.Of(h.Invoke(t.Context(), name, nil)))
	}
}
