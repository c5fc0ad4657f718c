package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goPackage is what the rule needs to know of a package, its tests and its external tests.
type goPackage struct {
	// imports are the paths that its files import.
	imports map[string]bool
	// functions are its functions, methods and variables, by their names without the receiver: those of the same name
	// are one.
	functions map[string]*function
}

// function is what the rule needs to know of the functions of one name.
type function struct {
	// isTest says that go test runs it: a test, an example, or a fuzz test by its stored inputs.
	isTest bool
	// runsCallers says that it may run code of other packages that call it: it takes a function, or it is in a package
	// that helps tests and takes what it tests. It is not in a test file.
	runsCallers bool
	// mentions are the names that occur in it.
	mentions map[string]bool
	// startsGoroutines says that it does so itself, isConcurrent that it does or can reach code that does
	// (markConcurrent).
	startsGoroutines, isConcurrent bool
	// racedBy is the test that the directive //raced:by names, "" without one.
	racedBy string
}

// tests returns the names of what go test runs, in order: what is concurrent, and what is not.
func (p *goPackage) tests() (concurrent, sequential []string) {
	for name, f := range p.functions {
		switch {
		case f.isTest && f.isConcurrent:
			concurrent = append(concurrent, name)
		case f.isTest:
			sequential = append(sequential, name)
		}
	}
	slices.Sort(concurrent)
	slices.Sort(sequential)
	return concurrent, sequential
}

// fewTests is the number of sequential tests from which a second program for them is built.
const fewTests = 5

// racedTests returns the names of the tests that run under the race detector, and of the others. A few sequential tests
// beside concurrent ones run under it, too, because a second program for them would cost more; but not if others with
// the directive need that program.
func (p *goPackage) racedTests() (raced, others []string) {
	concurrent, others := p.tests()
	sequential := len(others)
	for _, name := range concurrent {
		if p.functions[name].racedBy != "" {
			others = append(others, name)
		} else {
			raced = append(raced, name)
		}
	}
	if len(raced) > 0 && len(others) == sequential && sequential < fewTests {
		return append(raced, others...), nil
	}
	return raced, others
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
			packages[importPath] = &goPackage{imports: map[string]bool{}, functions: map[string]*function{}}
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

// addFile adds the imports and functions of a file.
func (p *goPackage) addFile(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(name), text,
		parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return err
	}
	isTestFile, helpsTests := strings.HasSuffix(name, "_test.go"), false
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		p.imports[imported] = true
		helpsTests = helpsTests || imported == "testing"
	}
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			f := p.add(d.Name.Name, d)
			f.isTest = f.isTest || isTestFile && d.Recv == nil && isTestName(d.Name.Name)
			f.racedBy = cmp.Or(f.racedBy, racedBy(d.Doc))
			f.runsCallers = f.runsCallers ||
				!isTestFile && (takesFunction(d.Type) || helpsTests && takesMoreThanTest(d.Type))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						p.add(name.Name, v)
					}
				}
			}
		}
	}
	return nil
}

// add adds what a declaration says of a name, and returns all that is known of the name.
func (p *goPackage) add(name string, declaration ast.Node) *function {
	f := p.functions[name]
	if f == nil {
		f = &function{mentions: map[string]bool{}}
		p.functions[name] = f
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		if identifier, ok := n.(*ast.Ident); ok {
			f.mentions[identifier.Name] = true
		}
		f.startsGoroutines = f.startsGoroutines || startsGoroutine(n)
		return true
	})
	f.isConcurrent = f.startsGoroutines
	return f
}

// racedBy returns the test that the directive in the comment of a function names, "" if there is none.
func racedBy(doc *ast.CommentGroup) string {
	if doc != nil {
		for _, comment := range doc.List {
			if name, ok := strings.CutPrefix(comment.Text, "//raced:by "); ok {
				return name
			}
		}
	}
	return ""
}

// isTestName reports whether go test runs functions of that name.
func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") && name != "TestMain" || strings.HasPrefix(name, "Fuzz") ||
		strings.HasPrefix(name, "Example")
}

// takesMoreThanTest reports whether a function takes something besides a test of package testing.
func takesMoreThanTest(t *ast.FuncType) bool {
	return t.Params.NumFields() > 1
}

// takesFunction reports whether a parameter of a function is a function.
func takesFunction(t *ast.FuncType) bool {
	return slices.ContainsFunc(t.Params.List, func(field *ast.Field) bool {
		_, isFunction := field.Type.(*ast.FuncType)
		return isFunction
	})
}
