package house

import (
	"debug/buildinfo"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What SAM is given to deploy runs by itself on the processor that the template asks for: arm64 unless somebody says otherwise.
func TestSAMBuilds(t *testing.T) {
	for _, test := range []struct {
		arch, goarch string
		machine      elf.Machine
	}{
		{"", "arm64", elf.EM_AARCH64}, {"x86_64", "amd64", elf.EM_X86_64},
	} {
		dir := t.TempDir()
		args := []string{"--no-print-directory", "build-AdmitFunction", "ARTIFACTS_DIR=" + dir}
		if test.arch != "" {
			args = append(args, "ARCH="+test.arch)
		}
		cmd := exec.Command("make", args...)
		cmd.Env = without(cmd.Environ(), "ARCH", "MAKEFLAGS", "GOFLAGS")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make %v: %v\n%s", args, err, out)
		}
		checkProgram(t, filepath.Join(dir, "bootstrap"), test.machine, test.goarch)
	}
}

func checkProgram(t *testing.T, path string, machine elf.Machine, goarch string) {
	t.Helper()
	program, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if program.Machine != machine || program.Type != elf.ET_EXEC {
		t.Errorf("%v, %v: want an executable for %v", program.Machine, program.Type, machine)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program for %v is linked dynamically", machine)
		}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	if got["GOARCH"] != goarch || got["CGO_ENABLED"] != "0" || got["-tags"] != "lambda.norpc" || got["-trimpath"] != "true" ||
		info.Path != "sluice/functions/admit" {
		t.Errorf("%s %v", info.Path, got)
	}
}

// Every function of the template has its target, which builds the folder of that name.
func TestSAMTargets(t *testing.T) {
	declared, _ := functionsOf(t)
	for name := range declared {
		target := "build-" + strings.ToUpper(name[:1]) + name[1:] + "Function"
		out, err := exec.Command("make", "--no-print-directory", "-n", target, "ARTIFACTS_DIR=there").CombinedOutput()
		if err != nil || !strings.Contains(string(out), `-o "there/bootstrap" ./functions/`+name+"\n") {
			t.Errorf("%s: %v\n%s", target, err, out)
		}
	}
}

func without(env []string, names ...string) []string {
	var kept []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			kept = append(kept, e)
		}
	}
	return kept
}
