package main

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// checkDirectives returns an error for each test that leaves the race detector to one that cannot take its place.
func checkDirectives(packages map[string]*goPackage) error {
	var errs []error
	racedNames := racedNames(packages)
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		p := packages[path]
		for _, name := range slices.Sorted(maps.Keys(p.functions)) {
			f := p.functions[name]
			if f.racedBy == "" {
				continue
			}
			var err error
			switch by := p.functions[f.racedBy]; {
			case !f.isTest || !f.isConcurrent:
				err = errors.New("is not raced anyway: take the directive //raced:by out")
			case by == nil || !by.isTest || !by.isConcurrent || by.racedBy != "":
				err = fmt.Errorf("is to be raced by %s, which is no test of its package that is raced", f.racedBy)
			case racedNames[name]:
				err = errors.New("has the name of a test of another package that is raced: give it another one")
			default:
				missing := reachStarts(packages, path, name)
				for start := range reachStarts(packages, path, f.racedBy) {
					delete(missing, start)
				}
				if len(missing) > 0 {
					err = fmt.Errorf("is to be raced by %s, which does not reach the goroutines of %s", f.racedBy,
						strings.Join(slices.Sorted(maps.Keys(missing)), ", "))
				}
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s %w", path, name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// reachStarts returns the functions that start goroutines which a function reaches, as markConcurrent follows names.
func reachStarts(packages map[string]*goPackage, path, name string) map[string]bool {
	type place struct{ path, name string }
	starts, seen := map[string]bool{}, map[place]bool{}
	var follow func(at place)
	follow = func(at place) {
		if seen[at] {
			return
		}
		seen[at] = true
		p := packages[at.path]
		f := p.functions[at.name]
		if f.startsGoroutines {
			starts[at.path+"."+at.name] = true
		}
		for mentioned := range f.mentions {
			if own := p.functions[mentioned]; own != nil && own.isConcurrent && !own.isTest {
				follow(place{at.path, mentioned})
			}
			for imported := range p.imports {
				if other := packages[imported]; other != nil && other != p && other.runsForCallers(mentioned) {
					follow(place{imported, mentioned})
				}
			}
		}
	}
	follow(place{path, name})
	return starts
}

// runsForCallers reports whether a function of a package runs code of its callers beside other goroutines.
func (p *goPackage) runsForCallers(name string) bool {
	f := p.functions[name]
	return f != nil && f.isConcurrent && f.runsCallers && ast.IsExported(name)
}
