package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// module is a module that the program is linked with.
type module struct {
	Path, Version string
	// Sum is the checksum of go.sum.
	Sum string
	// Dir is the module's folder in the module cache.
	Dir string
	// Main is set for this module itself.
	Main bool

	// folders are those of its packages that the program is linked with.
	folders []string
}

// linkedModules returns the modules, without this one, that have packages of the program built for a target.
func linkedModules(t target) ([]module, error) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module", program)
	list.Env, list.Stderr = t.environment(), os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	byPath := map[string]*module{}
	packages := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			Dir    string
			Module *module
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Main {
			continue // of the standard library, or our own
		}
		if byPath[p.Module.Path] == nil {
			byPath[p.Module.Path] = p.Module
		}
		m := byPath[p.Module.Path]
		m.folders = append(m.folders, p.Dir)
	}
	var all []module
	for _, m := range byPath {
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// licenceFile is a text that must go with the program.
type licenceFile struct {
	// name is the path inside the module.
	name string
	text []byte
}

// licences returns the texts of a module: those in its own folder and in the folders of its linked packages and above.
func (m module) licences() ([]licenceFile, error) {
	folders := map[string]bool{m.Dir: true}
	for _, folder := range m.folders {
		for ; folder != m.Dir && strings.HasPrefix(folder, m.Dir); folder = filepath.Dir(folder) {
			folders[folder] = true
		}
	}
	var all []licenceFile
	for folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || !isLicence(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(m.Dir, filepath.Join(folder, e.Name()))
			if err != nil {
				return nil, err
			}
			all = append(all, licenceFile{filepath.ToSlash(name), text})
		}
	}
	slices.SortFunc(all, func(a, b licenceFile) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// isLicence reports whether a file's name is one that licences and notices have.
func isLicence(name string) bool {
	base := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(name, ".txt"), ".md"))
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, func(word string) bool {
		return base == word || strings.HasPrefix(base, word+"-") || strings.HasPrefix(base, word+".")
	}) && filepath.Ext(name) != ".go"
}

// collectNotices returns the texts of all modules and of Go's standard library as one. A module without a licence is
// an error: it may not be published.
func collectNotices(modules []module) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintln(&out, "The program sluice contains the software named here, under the licences that follow each name.")
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	standard := module{Path: "Go, standard library", Version: runtime.Version(), Dir: strings.TrimSpace(string(goroot))}
	for _, m := range append([]module{standard}, modules...) {
		files, err := m.licences()
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s %s has no licence", m.Path, m.Version)
		}
		for _, f := range files {
			fmt.Fprintf(&out, "\n%s\n%s %s, %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, f.name,
				bytes.TrimSpace(f.text))
		}
	}
	return out.Bytes(), nil
}
