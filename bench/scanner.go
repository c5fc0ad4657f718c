package main

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
)

// rules are the rules for a batch received on a fixed day.
var rules = transaction.Rules{ReceivedAt: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour}

// scanLines returns the number of lines without findings.
func scanLines(s *scanner.Scanner, lines [][]byte) (accepted int) {
	for _, line := range lines {
		if len(s.Line(line).Findings) == 0 {
			accepted++
		}
	}
	return accepted
}

// printScanner prints the speed of the scanner and that of utf8.Valid, which no scanner can beat. They run in turn, so
// that a slow phase of the machine affects both.
func printScanner(w io.Writer, lines [][]byte, rounds int) {
	bytes := 0
	for _, line := range lines {
		bytes += len(line) + 1
	}
	s, accepted := scanner.New(rules), 0
	var bound, scan time.Duration
	for range rounds {
		runtime.GC()
		started := cpuTime()
		for _, line := range lines {
			utf8.Valid(line)
		}
		bound = leastNonzero(bound, cpuTime()-started)
		started = cpuTime()
		accepted = scanLines(s, lines)
		scan = leastNonzero(scan, cpuTime()-started)
	}
	speed := func(d time.Duration) float64 { return float64(bytes) / 1e6 / d.Seconds() }
	fmt.Fprintf(w, "Scanner: %d lines, %d bytes each on average; %.0f MB/s of CPU time (%.2f of utf8.Valid, "+
		"%.0f MB/s), %d lines rejected; %s, one core\n", len(lines), bytes/len(lines), speed(scan),
		bound.Seconds()/scan.Seconds(), speed(bound), len(lines)-accepted, runtime.Version())
}

// printScaling compares one worker with two, each with its own scanner, by elapsed time.
func printScaling(w io.Writer, lines [][]byte, rounds int) {
	runtime.GOMAXPROCS(2)
	var best [3]time.Duration
	for range rounds {
		for workers := 1; workers <= 2; workers++ {
			start := time.Now()
			var wait sync.WaitGroup
			for k := range workers {
				share := lines[k*len(lines)/workers : (k+1)*len(lines)/workers]
				wait.Go(func() { scanLines(scanner.New(rules), share) })
			}
			wait.Wait()
			best[workers] = leastNonzero(best[workers], time.Since(start))
		}
	}
	fmt.Fprintf(w, "Scanner alone: two cores are %.2f times as fast as one, by elapsed time (%d processors).\n",
		best[1].Seconds()/best[2].Seconds(), runtime.NumCPU())
}

// cpuTime returns the CPU time of the whole process so far: garbage collection in the background is part of a cost.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
