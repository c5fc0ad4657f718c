// The bench measures the cost of validation in one run: the scanner beside a lower bound that no scanner can beat, the
// whole of 'sluice validate', the search for duplicates, and the cold starts of the functions. The module lab has the
// scanner beside encoding/json and the libraries that others would use.
//
// Only ratios within one run mean anything: the noise of the machine is larger than most differences between two runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"sluice/sampledata"
)

// options are the flags of the bench.
type options struct {
	lines, wholeLines int64
	seed              uint64
	bad               float64
	rounds            int
	startsOnly        bool
	// duplicates is set in the process that the bench starts to measure itself.
	duplicates bool
}

func main() {
	var o options
	flag.Int64Var(&o.lines, "lines", 50_000, "validate `N` lines")
	flag.Uint64Var(&o.seed, "seed", 1, "`SEED` of the lines")
	flag.Float64Var(&o.bad, "bad", 0.005, "`SHARE` of bad lines")
	flag.IntVar(&o.rounds, "rounds", 5, "`N` rounds; the best one counts, of the scanner and of the whole process")
	flag.Int64Var(&o.wholeLines, "whole", 400_000, "`N` lines in the file that the whole process validates")
	flag.BoolVar(&o.startsOnly, "start", false, "measure only the cold starts of the functions")
	flag.BoolVar(&o.duplicates, duplicatesFlag, false, "for the bench itself: search for duplicates, in this process")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures what the options ask for and prints it.
func run(o options) error {
	switch {
	case o.duplicates:
		printDuplicates(os.Stdout)
		return nil
	case o.startsOnly:
		return printColdStarts(os.Stdout)
	}
	process, err := measureWhole(o)
	if err != nil {
		return err
	}
	duplicates, err := measureDuplicates()
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	lines := sampledata.Lines(o.lines, o.seed, o.bad)
	printScanner(os.Stdout, lines, o.rounds)
	printScaling(os.Stdout, lines, 3*o.rounds) // more rounds: both cores are seldom free of other work at once
	process.print(os.Stdout)
	fmt.Println(duplicates)
	return printColdStarts(os.Stdout)
}
