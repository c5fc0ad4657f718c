// Policy measures the evaluation of policies: conditions beside two engines for expressions, and whole policies of the
// sizes for which there are marks. It fails if the engines disagree.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "`N` rounds of each measurement; the best one counts")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, "policy:", err)
		os.Exit(1)
	}
}

// engines are those that are compared.
var engines = []engine{ownEngine{}, warmEngine{}, exprEngine{}, celEngine{}}

// run measures everything and prints it.
func run(rounds int) error {
	runtime.GOMAXPROCS(1)
	fmt.Printf("%s, one core.\n\n", runtime.Version())
	if err := compareEngines(os.Stdout, engines, randomEntities(), rounds); err != nil {
		return err
	}
	return printSizes(os.Stdout, rounds)
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails for no reason that could apply
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
