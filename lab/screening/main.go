// Screening measures the quality and the speed of name matching, in one run on one core: on lists, queries and pairs
// that are not part of the repository, beside rapidfuzz and nomenklatura where Python can import them.
//
// The folder of the data is named by -data or SLUICE_SCREENING_DATA. It has, packed by xz or not:
//
//	lists/un-consolidated-*.xml                         the consolidated list of the United Nations
//	lists/ofac-*-{sdn,alt,add,sdn-comments}.csv         the list of the United States Treasury
//	queries/un-positives.csv                            name_as_listed, name_as_asked, un_dataids
//	queries/negatives-*.csv                             full_name of people who are on no list
//	pairs/name-pairs.csv                                schema, name1, name2, is_match
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"sluice/shared/screening/match"
)

func main() {
	folder := flag.String("data", os.Getenv("SLUICE_SCREENING_DATA"), "`FOLDER` of the data (SLUICE_SCREENING_DATA)")
	rounds := flag.Int("rounds", 20, "`N` rounds of each measurement of speed; the best one counts")
	python := flag.String("python", "python3", "`COMMAND` that runs Python, for the peers")
	loaded := flag.String("loaded", "", "only open the index in `FILE` and look up the names of standard input")
	flag.Parse()
	if *loaded != "" {
		runtime.GOMAXPROCS(1)
		if err := runLoaded(*loaded, *rounds); err != nil {
			fmt.Fprintln(os.Stderr, "screening:", err)
			os.Exit(1)
		}
		return
	}
	if *folder == "" {
		fmt.Fprintln(os.Stderr, "screening: name the folder of the data with -data or SLUICE_SCREENING_DATA; "+
			"real lists are not part of the repository")
		os.Exit(2)
	}
	if err := run(*folder, *rounds, *python); err != nil {
		fmt.Fprintln(os.Stderr, "screening:", err)
		os.Exit(1)
	}
}

// run measures everything and prints it.
func run(folder string, rounds int, python string) error {
	runtime.GOMAXPROCS(1)
	d, err := readData(folder)
	if err != nil {
		return err
	}
	defer d.remove()
	start := cpuTime()
	x := match.Build(d.sources...)
	fmt.Printf("%s, one core, CPU time. Threshold %d.\n\n", runtime.Version(), match.Threshold)
	for _, l := range x.Lists {
		fmt.Printf("%-12s %6d entries, %6d names, %d that say nothing\n", l.List, l.Entries, l.Names, l.Unmatchable)
	}
	fmt.Printf("Index built in %.2f s.\n", (cpuTime() - start).Seconds())
	if err := printLoaded(d, x, "these lists", rounds); err != nil {
		return err
	}
	printQuality(d, x)
	printCurve(d, x)
	padded := match.Build(append(d.sources, padding(d, 100_000))...)
	if err := printLoaded(d, padded, "100,000 entries", rounds); err != nil {
		return err
	}
	return printPeers(d, python)
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails for no reason that could apply
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
