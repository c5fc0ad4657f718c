//go:build verify

package repotest

import (
	"debug/buildinfo"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// SAM is given a static program for the processor that the template's parameter Arch names; without one it is arm64.
func TestSAMBuilds(t *testing.T) {
	repositoryFiles(t)
	for _, test := range []struct {
		name, arch, goarch string
		machine            elf.Machine
	}{
		{"default", "", "arm64", elf.EM_AARCH64},
		{"x86_64", "x86_64", "amd64", elf.EM_X86_64},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"--no-print-directory", "build-AdmitFunction", "ARTIFACTS_DIR=" + dir}
			if test.arch != "" {
				args = append(args, "ARCH="+test.arch)
			}
			cmd := exec.Command("make", args...)
			cmd.Env = withoutVariables(cmd.Environ(), "ARCH", "MAKEFLAGS", "GOFLAGS")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make %v: %v\n%s", args, err, out)
			}
			checkProgram(t, filepath.Join(dir, "bootstrap"), test.machine, test.goarch)
		})
	}
}

// checkProgram checks that a program is a static executable of the function admitbatch for a processor.
func checkProgram(t *testing.T, path string, machine elf.Machine, goarch string) {
	t.Helper()
	program := errtest.Must(elf.Open(path))(t)
	defer program.Close()
	difftest.Equal(t, "the program", []any{machine, elf.ET_EXEC}, []any{program.Machine, program.Type})
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program for %v is linked dynamically: it has %v", machine, p.Type)
		}
	}
	info, err := buildinfo.ReadFile(path)
	if want := modulePath + "/functions/admitbatch"; err != nil || info.Path != want {
		t.Errorf("the program for %s is built from %s, %v, want %s", goarch, info.Path, err, want)
	}
}
