// Command raced says which tests run under the race detector, which makes them several times slower: those that can
// reach code that starts goroutines (concurrent.go has the rule). A race needs two goroutines, so the detector has
// nothing to find in the others.
//
// A test of large data may leave the detector to another test of its package by the directive
//
//	//raced:by TestOther
//
// in its comment: if the other test runs under the detector, and can reach all code that starts goroutines which this
// one can reach.
//
// It prints a line for each package with such tests: its path and, after a space, "all" or "some", how many of its
// tests they are. The last line is "-run" and a pattern for that flag of go test, which matches the names of these
// tests in all packages; a test of a package with "some" that has the name of such a test elsewhere runs under the
// detector as well.
//
// It reads the packages of all modules below the working directory.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	packages, err := readPackages(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
	markConcurrent(packages)
	if err := checkDirectives(packages); err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		switch raced, others := packages[name].racedTests(); {
		case len(raced) == 0:
		case len(others) == 0:
			fmt.Println(name, "all")
		default:
			fmt.Println(name, "some")
		}
	}
	fmt.Println("-run", pattern(packages))
}

// pattern returns a regular expression that matches the names of tests that run under the race detector.
func pattern(packages map[string]*goPackage) string {
	return "^(" + strings.Join(slices.Sorted(maps.Keys(racedNames(packages))), "|") + ")$"
}

// racedNames returns the names of the tests that run under the race detector.
func racedNames(packages map[string]*goPackage) map[string]bool {
	names := map[string]bool{}
	for _, p := range packages {
		raced, _ := p.racedTests()
		for _, name := range raced {
			names[name] = true
		}
	}
	return names
}
