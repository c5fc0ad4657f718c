package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sluice/shared/transaction/scanner"
)

// input is the text that all rows read: the lines, and the whole file.
type input struct {
	lines [][]byte // slices of text, without line feeds
	text  []byte
}

func newInput(lines [][]byte) *input {
	in := &input{}
	for _, line := range lines {
		in.text = append(append(in.text, line...), '\n')
	}
	at := 0
	for _, line := range lines {
		in.lines = append(in.lines, in.text[at:at+len(line)])
		at += len(line) + 1
	}
	return in
}

// row is one line of the table.
type row struct {
	name string
	run  func() (lines int) // reads the whole input; lines taken for valid, -1 where the row does not judge
	note string

	best   time.Duration // CPU time
	allocs float64       // per line
	valid  int
}

// The rows to which the others are compared.
const (
	reference = "encoding/json + checks"
	simd      = "simdjson-go, parse only"
)

func selected(rows []*row, word string) []*row {
	var out []*row
	for _, r := range rows {
		if word == "" || strings.Contains(r.name, word) || r.name == reference {
			out = append(out, r)
		}
	}
	return out
}

// measure runs all rows in turn, round after round, so that a slow phase of the machine meets them all.
func measure(in *input, rows []*row, rounds int) {
	for _, r := range rows {
		r.valid = r.run()
	}
	for range rounds {
		for _, r := range rows {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cpuTime()
			r.run()
			took := cpuTime() - start
			runtime.ReadMemStats(&after)
			r.allocs = float64(after.Mallocs-before.Mallocs) / float64(len(in.lines))
			if r.best == 0 || took < r.best {
				r.best = took
			}
		}
	}
}

// show prints the table.
func show(w io.Writer, in *input, rows []*row) {
	speed := make(map[string]float64)
	for _, r := range rows {
		speed[r.name] = speedOf(in, rows, r.name)
	}
	fmt.Fprintf(w, "%-34s %8s %10s %10s %12s  %s\n", "", "MB/s", "x ref", "x simdjson", "allocs/line", "")
	for _, r := range rows {
		perSimd := "-"
		if speed[simd] > 0 {
			perSimd = fmt.Sprintf("%.2f", speed[r.name]/speed[simd])
		}
		fmt.Fprintf(w, "%-34s %8.0f %10.1f %10s %12.3f  %s\n", r.name, speed[r.name], speed[r.name]/speed[reference], perSimd, r.allocs, note(r, in))
	}
	fmt.Fprintf(w, "\nx ref: times %s; x simdjson: times %s.\n", reference, simd)
}

func note(r *row, in *input) string {
	if r.valid < 0 {
		return r.note
	}
	return fmt.Sprintf("refuses %d lines; %s", len(in.lines)-r.valid, r.note)
}

// bothCores compares one worker with two, each with its own scanner, by the clock on the wall.
func bothCores(w io.Writer, in *input, rounds int) {
	runtime.GOMAXPROCS(2)
	var best [3]time.Duration
	for range rounds {
		for workers := 1; workers <= 2; workers++ {
			start := time.Now()
			var wait sync.WaitGroup
			for k := range workers {
				share := in.lines[k*len(in.lines)/workers : (k+1)*len(in.lines)/workers]
				wait.Go(func() { scan(scanner.New(rules), share) })
			}
			wait.Wait()
			if took := time.Since(start); best[workers] == 0 || took < best[workers] {
				best[workers] = took
			}
		}
	}
	fmt.Fprintf(w, "Two cores are %.2f times one core (scanner alone, %d processors).\n", best[1].Seconds()/best[2].Seconds(), runtime.NumCPU())
}

// cpuTime is what the whole process has used so far: a garbage collector in the background is part of a row's price.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
