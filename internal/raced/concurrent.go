package main

import "go/ast"

// markConcurrent marks the functions that start goroutines and those that can reach them. A function reaches what it
// mentions by name:
//   - in its own package, everything;
//   - of packages that it imports, the concurrent functions that run code of their callers. What other packages do with
//     their own goroutines is for their own tests to watch.
//
// Names stand for all functions and methods that have them, so that it rather marks too much. Parallel tests are not
// concurrent for being parallel: they share nothing but the variables of packages, of which none changes.
func markConcurrent(packages map[string]*goPackage) {
	for changed := true; changed; {
		changed = false
		for _, p := range packages {
			reached := p.concurrentNames(packages)
			for _, f := range p.functions {
				if !f.isConcurrent && mentionsAny(f, reached) {
					f.isConcurrent, changed = true, true
				}
			}
		}
	}
}

// concurrentNames returns the names by which functions of a package reach goroutines.
func (p *goPackage) concurrentNames(packages map[string]*goPackage) map[string]bool {
	names := map[string]bool{}
	for name, f := range p.functions {
		if f.isConcurrent && !f.isTest {
			names[name] = true
		}
	}
	for path := range p.imports {
		imported := packages[path]
		if imported == nil || imported == p {
			continue
		}
		for name := range imported.functions {
			if imported.runsForCallers(name) {
				names[name] = true
			}
		}
	}
	return names
}

func mentionsAny(f *function, names map[string]bool) bool {
	for name := range f.mentions {
		if names[name] {
			return true
		}
	}
	return false
}

// startsGoroutine reports whether a node is a go statement, or names a function that starts goroutines: Go of a group,
// AfterFunc, and those of HTTP servers.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.SelectorExpr:
		switch n.Sel.Name {
		case "Go", "AfterFunc", "NewServer", "NewTLSServer", "NewUnstartedServer", "Serve", "ServeTLS",
			"ListenAndServe", "ListenAndServeTLS":
			return true
		}
	}
	return false
}
