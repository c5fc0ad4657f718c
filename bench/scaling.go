package main

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"sluice/bench/table"
	"sluice/shared/ingest/transaction/scanner"
)

// printScaling compares one worker with two, each with its own scanner, by elapsed time.
func printScaling(w io.Writer, in *table.Input, rounds int) {
	runtime.GOMAXPROCS(2)
	var best [3]time.Duration
	for range rounds {
		for workers := 1; workers <= 2; workers++ {
			start := time.Now()
			var wait sync.WaitGroup
			for k := range workers {
				share := in.Lines[k*len(in.Lines)/workers : (k+1)*len(in.Lines)/workers]
				wait.Go(func() { table.ScanLines(scanner.New(table.Rules), share) })
			}
			wait.Wait()
			if took := time.Since(start); best[workers] == 0 || took < best[workers] {
				best[workers] = took
			}
		}
	}
	fmt.Fprintf(w, "Scanner alone: two cores are %.2f times as fast as one, by elapsed time (%d processors).\n",
		best[1].Seconds()/best[2].Seconds(), runtime.NumCPU())
}
