package repotest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The workspace builds every module with the versions that the module's own go.mod chooses, so that a program is the
// same whether it is built in the workspace or, as a release and by those who import the module, without it.
func TestWorkspaceBuildsWithTheVersionsOfTheModules(t *testing.T) {
	repositoryFiles(t)
	for _, folder := range []string{".", "local", "console/browsertest"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			alone := versionsBuiltWith(t, folder, "GOWORK=off")
			joined := versionsBuiltWith(t, folder, "GOWORK=")
			if len(alone) == 0 {
				t.Fatal("go list names no module")
			}
			if diff := cmp.Diff(alone, joined); diff != "" {
				t.Errorf("go work sync, then go mod tidy in %s, make them the same (-go.mod +go.work):\n%s",
					folder, diff)
			}
		})
	}
}

// versionsBuiltWith returns the modules, with their versions, that the packages of a module and their tests are built
// with, without the modules of this repository.
func versionsBuiltWith(t *testing.T, folder, variable string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-test",
		"-f", "{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}} {{.Version}}{{end}}{{end}}", "./...")
	cmd.Dir = folder
	cmd.Env = append(withoutVariables(cmd.Environ(), "GOWORK"), variable)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list with %s: %v", variable, err)
	}
	versions := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(versions)
	return slices.Compact(versions)
}
