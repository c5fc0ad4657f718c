// Command raced lists the packages of a module whose tests run under the race detector, which makes them several times
// slower: those that start goroutines, in their code, in their tests or in the test helpers that they import. A race
// needs two goroutines, so the detector has nothing to find in the others; where goroutines of one package run the code
// of another, they do so in the tests of the first.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	module := flag.String("module", "sluice", "path of the module")
	flag.Parse()
	packages, err := readPackages(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
	for _, p := range racedPackages(packages, *module) {
		fmt.Println(p)
	}
}

// goPackage is what the rule needs to know of a package.
type goPackage struct {
	module string
	// hasTests says that it has test files.
	hasTests bool
	// startsGoroutines says that its code or its tests start goroutines.
	startsGoroutines bool
	// isConcurrentHelper says that code of it, outside its tests, imports package testing and starts goroutines.
	isConcurrentHelper bool
	// testImports are the paths that its tests import.
	testImports []string
}

// racedPackages returns the import paths of a module's packages with tests that need the race detector.
func racedPackages(packages map[string]*goPackage, module string) []string {
	var raced []string
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		p := packages[name]
		usesHelper := slices.ContainsFunc(p.testImports, func(imported string) bool {
			helper := packages[imported]
			return helper != nil && helper.isConcurrentHelper
		})
		if p.module == module && p.hasTests && (p.startsGoroutines || usesHelper) {
			raced = append(raced, name)
		}
	}
	return raced
}

// readPackages reads the packages of all modules below a folder, by import path.
func readPackages(root fs.FS) (map[string]*goPackage, error) {
	packages := map[string]*goPackage{}
	// modules are the paths of the modules by their folders.
	modules := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "bin" || base == "testdata"):
			return fs.SkipDir
		case entry.IsDir():
			text, err := fs.ReadFile(root, path.Join(name, "go.mod"))
			if err == nil {
				modules[name] = moduleOf(string(text))
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		folder, module := moduleFolder(modules, path.Dir(name))
		importPath := path.Join(module, strings.TrimPrefix(path.Dir(name), folder))
		if packages[importPath] == nil {
			packages[importPath] = &goPackage{module: module}
		}
		return packages[importPath].addFile(root, name)
	})
	return packages, err
}

// moduleOf returns the path in the text of a go.mod file.
func moduleOf(text string) string {
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// moduleFolder returns the folder and the path of the module to which a folder belongs.
func moduleFolder(modules map[string]string, folder string) (root, module string) {
	for ; ; folder = path.Dir(folder) {
		if module, ok := modules[folder]; ok || folder == "." {
			return folder, module
		}
	}
}

// addFile adds what a file tells.
func (p *goPackage) addFile(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(name), text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var imports []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		imports = append(imports, imported)
	}
	concurrent := startsGoroutines(file)
	p.startsGoroutines = p.startsGoroutines || concurrent
	if strings.HasSuffix(name, "_test.go") {
		p.hasTests = true
		p.testImports = append(p.testImports, imports...)
	} else if concurrent && slices.Contains(imports, "testing") {
		p.isConcurrentHelper = true
	}
	return nil
}

// startsGoroutines reports whether a file has a go statement, or a call that starts a goroutine: Go of a group,
// AfterFunc, and those of HTTP servers.
func startsGoroutines(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Go", "AfterFunc", "NewServer", "NewTLSServer", "NewUnstartedServer", "Serve", "ServeTLS",
				"ListenAndServe", "ListenAndServeTLS":
				found = true
			}
		}
		return !found
	})
	return found
}
