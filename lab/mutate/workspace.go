package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// workspace is a copy of the repository with all mutants.
type workspace struct {
	dir string
	// isTemporary means that the copy is removed at the end.
	isTemporary bool
	// deps are the packages that the tests of each package of the product are built of.
	deps map[string][]string
	// binaries are the compiled tests by the folders of their packages; "" for a package without tests.
	binaries map[string]string
	// isBuilt means that the programs and functions of the copy are built.
	isBuilt bool
}

// newWorkspace copies what git knows of the repository, as it is now, and links the installed tools.
func newWorkspace(ctx context.Context, dir string) (*workspace, error) {
	w := &workspace{dir: dir, binaries: map[string]string{}}
	var err error
	if dir == "" {
		w.isTemporary = true
		w.dir, err = os.MkdirTemp("", "sluice-mutants-")
	} else if w.dir, err = filepath.Abs(dir); err == nil {
		err = os.MkdirAll(w.dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		w.remove()
		return nil, err
	}
	const copyAll = `git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf ` +
		`- | tar -xf - -C "$0" && mkdir -p "$0/bin" && ln -sfn "$PWD/bin/tools" "$0/bin/tools" && cp -P bin/dynoxide ` +
		`"$0/bin/"`
	if text, err := exec.CommandContext(ctx, "sh", "-c", copyAll, w.dir).CombinedOutput(); err != nil {
		w.remove()
		return nil, fmt.Errorf("copy %s: %w: %s", root, err, text)
	}
	return w, nil
}

// remove removes a temporary copy.
func (w *workspace) remove() {
	if w.isTemporary {
		_ = os.RemoveAll(w.dir)
	}
}

// mutantFile is the file that names the mutant that is on for functions.
func (w *workspace) mutantFile() string { return filepath.Join(w.dir, "bin", "mutant") }

// try returns which test notices a mutant, "" if none does.
func (w *workspace) try(ctx context.Context, m mutant, seeds int) (by string, err error) {
	if m.machine != "" {
		return w.tryMachine(ctx, m)
	}
	packages, err := w.testsOf(ctx, m.dir)
	if err != nil {
		return "", err
	}
	for _, p := range packages {
		binary, err := w.compile(ctx, p)
		if err != nil {
			return "", err
		}
		if binary == "" {
			continue
		}
		isCaught, err := w.fails(ctx, p, "SLUICE_MUTANT="+m.name, binary, "-test.failfast", "-test.timeout=5m")
		if err != nil || isCaught {
			return "tests of " + p, err
		}
	}
	if seeds > 0 && isOfPipeline(m.dir) {
		return w.tryFaults(ctx, m, seeds)
	}
	return "", nil
}

// isOfPipeline reports whether batches use a package on their way, so that the seeds of faults can notice its mutants.
func isOfPipeline(dir string) bool {
	for _, part := range []string{"ingest", "kit/dynamo", "kit/objects", "connect/announce", "connect/delivery",
		"connect/webhook/webhookdb"} {
		if strings.HasPrefix(dir, "shared/"+part) {
			return true
		}
	}
	return false
}

// tryMachine puts a mutated state machine in the place of its file and runs the tests of state machines.
func (w *workspace) tryMachine(ctx context.Context, m mutant) (by string, err error) {
	const tests = "internal/repotest"
	filter := []string{"-test.failfast", "-test.run", "Retr|Repeated|Machine|TasksEnd|History"}
	binary, err := w.compile(ctx, tests, filter...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(w.dir, m.machine)
	original, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, m.text, 0o600); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, original, 0o600)) }()
	isCaught, err := w.fails(ctx, tests, "", binary, filter...)
	if err != nil || !isCaught {
		return "", err
	}
	return "tests of " + tests, nil
}

// tryFaults runs batches on the copy's local cloud while things go wrong.
func (w *workspace) tryFaults(ctx context.Context, m mutant, seeds int) (by string, err error) {
	if !w.isBuilt {
		// Not as part of a make: its flags would be meant for another folder.
		if text, err := w.command(ctx, "", "", "make", "programs", "functions").CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the copy: %w: %s", err, text)
		}
		w.isBuilt = true
	}
	if err := os.WriteFile(w.mutantFile(), []byte(m.name), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(w.mutantFile())
	binary, err := w.compile(ctx, "e2e")
	if err != nil {
		return "", err
	}
	isCaught, err := w.fails(ctx, "e2e", "", binary, "-test.run", "TestFaults$", "-test.timeout=20m", "-fault-seeds",
		fmt.Sprint(seeds))
	if err != nil || !isCaught {
		return "", err
	}
	return "seeds of faults", nil
}

// command returns a command that runs in a folder of the copy.
func (w *workspace) command(ctx context.Context, dir, variable, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(w.dir, dir)
	cmd.WaitDelay = 10 * time.Second
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MAKE") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if variable != "" {
		cmd.Env = append(cmd.Env, variable)
	}
	return cmd
}

// fails reports whether a compiled test fails.
func (w *workspace) fails(ctx context.Context, dir, variable, binary string, args ...string) (bool, error) {
	err := w.command(ctx, dir, variable, binary, args...).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		return true, nil
	}
	return false, errors.Join(err, ctx.Err())
}

// compile compiles the tests of a package and returns the path of the program, "" for a package without tests. The
// tests, or those of them that a filter leaves, must pass while no mutant is on.
func (w *workspace) compile(ctx context.Context, dir string, filter ...string) (string, error) {
	if binary, isCompiled := w.binaries[dir]; isCompiled {
		return binary, nil
	}
	binary := filepath.Join(w.dir, "bin", "tests", strings.ReplaceAll(dir, "/", "-"))
	text, err := w.command(ctx, dir, "", "go", "test", "-tags=lambda.norpc,verify", "-vet=off", "-c", "-o", binary,
		".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile the tests of %s: %w: %s", dir, err, text)
	}
	if _, err := os.Stat(binary); err != nil {
		binary = "" // it has none
	}
	w.binaries[dir] = binary
	if binary == "" || dir == "e2e" {
		return binary, nil
	}
	if isBroken, err := w.fails(ctx, dir, "", binary, filter...); err != nil || isBroken {
		return "", errors.Join(fmt.Errorf("the tests of %s fail without a mutant", dir), err)
	}
	return binary, nil
}

// testsOf returns the folders of the packages whose tests may notice a mutant of a package: its own, and those of its
// area that are built of it.
func (w *workspace) testsOf(ctx context.Context, dir string) ([]string, error) {
	if w.deps == nil {
		const format = `{{.ImportPath}} {{join .Deps " "}}`
		text, err := w.command(ctx, "", "", "go", "list", "-test", "-f", format, "./shared/...").Output()
		if err != nil {
			return nil, err
		}
		w.deps = map[string][]string{}
		for line := range bytes.Lines(text) {
			fields := strings.Fields(string(line))
			if len(fields) > 0 && strings.HasSuffix(fields[0], ".test") {
				w.deps[strings.TrimPrefix(strings.TrimSuffix(fields[0], ".test"), "sluice/")] = fields[1:]
			}
		}
	}
	parts := strings.Split(dir, "/")
	area := strings.Join(parts[:min(3, len(parts))], "/")
	var found []string
	for p, deps := range w.deps {
		isUser := slices.ContainsFunc(deps, func(d string) bool { // a package under test has its test beside its path
			path, _, _ := strings.Cut(strings.TrimPrefix(d, "sluice/"), " ")
			return path == dir
		})
		isNear := p == area || strings.HasPrefix(p, area+"/")
		if p == dir || isUser && isNear {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		if (a == dir) != (b == dir) {
			if a == dir {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return found, nil
}
