// The bench measures what validation costs, in one run on one core, beside what it could cost: floors that no scanner
// goes below, and the libraries that others would use. It is a module of its own so that those libraries stay out of
// the product.
//
// Only ratios within one run mean anything; the machine's noise is larger than most differences between two runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"sluice/sampledata"
)

func main() {
	lines := flag.Int64("lines", 50_000, "lines to validate")
	seed := flag.Uint64("seed", 1, "seed of the lines")
	bad := flag.Float64("bad", 0.005, "share of bad lines")
	rounds := flag.Int("rounds", 5, "rounds; of each row, and of the whole process, the best one counts")
	only := flag.String("only", "", "measure only the rows that contain this word, and the reference")
	wholeLines := flag.Int64("whole", 400_000, "lines of the file that the whole process validates")
	startOnly := flag.Bool("start", false, "only the functions' cold starts")
	child := flag.Bool(duplicatesFlag, false, "only the duplicate check, as a process of its own")
	plainFile := flag.String(plainFlag, "", "only judge this `FILE` with encoding/json, as a process of its own")
	flag.Parse()
	if *child {
		duplicates(os.Stdout)
		return
	}
	if *plainFile != "" {
		if err := plain(os.Stdout, *plainFile); err != nil {
			fail(err)
		}
		return
	}
	if *startOnly {
		if err := coldStarts(os.Stdout); err != nil {
			fail(err)
		}
		return
	}

	process, err := measureWhole(*wholeLines, *seed, *bad, *rounds)
	if err != nil {
		fail(err)
	}
	sets, err := measureDuplicates()
	if err != nil {
		fail(err)
	}
	runtime.GOMAXPROCS(1)
	in := newInput(sampledata.Lines(*lines, *seed, *bad))
	fmt.Printf("%d lines, %d bytes each on average, %.1f %% bad; %s, one core\n\n", len(in.lines), len(in.text)/len(in.lines), 100**bad, runtime.Version())
	rows := selected(contenders(in), *only)
	measure(in, rows, *rounds)
	show(os.Stdout, in, rows)
	bothCores(os.Stdout, in, 3**rounds) // both cores are seldom free of the machine's other work at once
	process.show(os.Stdout, speedOf(in, rows, reference))
	fmt.Println(sets)
	if err := coldStarts(os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// speedOf is a measured row's speed, in MB/s.
func speedOf(in *input, rows []*row, name string) float64 {
	for _, r := range rows {
		if r.name == name {
			return float64(len(in.text)) / 1e6 / r.best.Seconds()
		}
	}
	return 0
}
