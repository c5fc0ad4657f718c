// The scanner beside the libraries that others would use, in one run on one core.
//
// Only ratios within one run mean anything: the noise of the machine is larger than most differences between two runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"sluice/lab/scanner/table"
	"sluice/sampledata"
)

func main() {
	lines := flag.Int64("lines", 50_000, "read `N` lines")
	seed := flag.Uint64("seed", 1, "`SEED` of the lines")
	bad := flag.Float64("bad", 0.005, "`SHARE` of bad lines")
	rounds := flag.Int("rounds", 5, "`N` rounds; the best one of each row counts")
	only := flag.String("only", "", "measure only the rows whose names contain this `WORD`, and the reference")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	in := table.NewInput(sampledata.Lines(*lines, *seed, *bad))
	fmt.Printf("%d lines, %d bytes each on average, %.1f %% bad; %s, one core\n\n",
		len(in.Lines), len(in.Text)/len(in.Lines), 100**bad, runtime.Version())
	rows := table.Select(append(table.Rows(in), peers(in)...), *only)
	table.Measure(in, rows, *rounds)
	table.Print(os.Stdout, in, rows, simd)
}
