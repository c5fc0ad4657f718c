package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// The tests run go list at the root of the repository, as release does.
func linked(t *testing.T, of target) []module {
	t.Helper()
	t.Chdir("../..")
	modules, err := linkedModules(of)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) == 0 {
		t.Fatal("go list names no module")
	}
	return modules
}

// A folder with anything but an earlier release is left alone.
func TestReleaseLeavesOtherFoldersAlone(t *testing.T) {
	out := t.TempDir()
	for _, folder := range []string{out, filepath.Join(out, "new")} {
		if err := checkReplaceable(folder); err != nil {
			t.Errorf("%s: %v, want no error for what is empty or not there", folder, err)
		}
	}
	precious := filepath.Join(out, "thesis.txt")
	if err := os.WriteFile(precious, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := release(out); err == nil || !strings.Contains(err.Error(), "has no release") {
		t.Errorf("got %v, want that the folder has no release", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if err := writeChecksums(out); err != nil {
		t.Fatal(err)
	}
	if err := checkReplaceable(out); err != nil {
		t.Errorf("an earlier release: %v", err)
	}
}

func TestEveryLinkedModuleHasALicence(t *testing.T) {
	for _, of := range targets {
		t.Run(of.os+"-"+of.arch, func(t *testing.T) {
			modules := linked(t, of)
			for _, m := range modules {
				files, err := m.licences()
				if err != nil {
					t.Fatal(err)
				}
				named := false
				for _, f := range files {
					l, ok := recognise(f)
					if named = named || ok; ok && l.ID == "" {
						t.Errorf("%s %s: %s is not a licence that the SBOM can name", m.Path, m.Version, f.name)
					}
				}
				if !named {
					t.Errorf("%s %s has the texts %v, want a licence", m.Path, m.Version, files)
				}
			}
			notices, err := collectNotices(modules)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range modules {
				if !strings.Contains(string(notices), "\n"+m.Path+" "+m.Version+", ") {
					t.Errorf("the notices do not name %s %s", m.Path, m.Version)
				}
			}
		})
	}
}

func TestModulesWithoutALicenceAreRefused(t *testing.T) {
	if _, err := collectNotices([]module{{Path: "example.com/unlicensed", Version: "v1.0.0",
		Dir: t.TempDir()}}); err == nil || !strings.Contains(err.Error(),
		"example.com/unlicensed v1.0.0 has no licence") {
		t.Errorf("got %v, want an error that names the module", err)
	}
}

func TestSBOMNamesEveryModule(t *testing.T) {
	modules := linked(t, targets[0])
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123abc"}, {Key: "vcs.time", Value: "2026-11-21T10:00:00Z"},
		}}
	text, err := sbom(info, modules, targets[0])
	if err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Component.Version != "v1.2.3" || got.Metadata.Timestamp != "2026-11-21T10:00:00Z" {
		t.Errorf("the program is %+v, want that of the build", got.Metadata)
	}
	if len(got.Components) != len(modules)+1 || len(got.Dependencies[0].DependsOn) != len(got.Components) {
		t.Fatalf("%d components, want %d modules and the standard library", len(got.Components), len(modules))
	}
	for _, c := range got.Components[1:] {
		if len(c.Licenses) == 0 || len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64 {
			t.Errorf("%s has the licences %v and the hashes %v, want at least one and one", c.Name, c.Licenses,
				c.Hashes)
		}
	}
}
