// Command raced says which tests run under the race detector, which makes them several times slower: those that can
// reach code that starts goroutines (concurrent.go has the rule). A race needs two goroutines, so the detector has
// nothing to find in the others.
//
//	raced         each package with such tests and, after a space, "all" or "some": how many of its tests they are
//	raced -run    a pattern for the flag -run of go test, which matches the names of these tests in all packages
//
// It reads the packages of all modules below the working directory.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	run := flag.Bool("run", false, "print a pattern for go test -run")
	flag.Parse()
	packages, err := readPackages(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
	markConcurrent(packages)
	if *run {
		fmt.Println(pattern(packages))
		return
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
}

// pattern returns a regular expression that matches the names of tests that run under the race detector.
func pattern(packages map[string]*goPackage) string {
	names := map[string]bool{}
	for _, p := range packages {
		raced, _ := p.racedTests()
		for _, name := range raced {
			names[name] = true
		}
	}
	return "^(" + strings.Join(slices.Sorted(maps.Keys(names)), "|") + ")$"
}
