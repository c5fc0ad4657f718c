// The bench measures the cost of validation, in one run on one core, compared with lower bounds that no scanner can
// beat and with the standard library. The module lab has the same table with the libraries that others would use.
//
// Only ratios within one run mean anything: the noise of the machine is larger than most differences between two runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"sluice/bench/table"
	"sluice/sampledata"
)

// options are the flags of the bench.
type options struct {
	lines, wholeLines int64
	seed              uint64
	bad               float64
	rounds            int
	only              string
	startsOnly        bool
	// duplicates and baselineFile are set in processes that the bench starts to measure itself.
	duplicates   bool
	baselineFile string
}

func main() {
	var o options
	flag.Int64Var(&o.lines, "lines", 50_000, "validate `N` lines")
	flag.Uint64Var(&o.seed, "seed", 1, "`SEED` of the lines")
	flag.Float64Var(&o.bad, "bad", 0.005, "`SHARE` of bad lines")
	flag.IntVar(&o.rounds, "rounds", 5, "`N` rounds; the best one counts, of each row and of the whole process")
	flag.StringVar(&o.only, "only", "", "measure only the rows whose names contain this `WORD`, and the reference")
	flag.Int64Var(&o.wholeLines, "whole", 400_000, "`N` lines in the file that the whole process validates")
	flag.BoolVar(&o.startsOnly, "start", false, "measure only the cold starts of the functions")
	flag.BoolVar(&o.duplicates, duplicatesFlag, false, "for the bench itself: search for duplicates, in this process")
	flag.StringVar(&o.baselineFile, baselineFlag, "",
		"for the bench itself: validate `FILE` with encoding/json, in this process")
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
	case o.baselineFile != "":
		return validateByBaseline(os.Stdout, o.baselineFile)
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
	in := table.NewInput(sampledata.Lines(o.lines, o.seed, o.bad))
	fmt.Printf("%d lines, %d bytes each on average, %.1f %% bad; %s, one core\n\n",
		len(in.Lines), len(in.Text)/len(in.Lines), 100*o.bad, runtime.Version())
	rows := table.Select(table.Rows(in), o.only)
	table.Measure(in, rows, o.rounds)
	table.Print(os.Stdout, in, rows, table.Bound)
	printScaling(os.Stdout, in, 3*o.rounds) // more rounds: both cores are seldom free of other work at once
	process.print(os.Stdout, table.Speed(in, rows, table.Reference))
	fmt.Println(duplicates)
	return printColdStarts(os.Stdout)
}
