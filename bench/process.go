package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"sluice/functions/setup/setuptest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/duplicate"
)

// whole is what 'sluice validate' costs as customers run it: reading the file, scanner, entities, duplicates, report.
type whole struct {
	megabytes float64
	// byCores has the cost with one core and with two, at the indexes 1 and 2.
	byCores [3]processCost
	// rejected is the number of lines that the report rejects.
	rejected int
}

// processCost is the cost of a process, the best of some rounds.
type processCost struct {
	cpu, elapsed time.Duration
	// peakBytes is the largest resident memory of any round.
	peakBytes int64
}

// measureWhole must run before this process has grown: the peak memory of a child begins with that of its parent.
func measureWhole(o options) (whole, error) {
	var w whole
	program, err := filepath.Abs("../bin/sluice")
	if err != nil {
		return w, err
	}
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return w, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "batch.jsonl")
	out, err := exec.Command(program, "generate", "--lines", fmt.Sprint(o.wholeLines), "--seed", fmt.Sprint(o.seed),
		"--bad", fmt.Sprint(o.bad), "-o", file).CombinedOutput()
	if err != nil {
		return w, fmt.Errorf("sluice generate: %w: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		return w, err
	}
	w.megabytes = float64(info.Size()) / 1e6
	for range o.rounds {
		for cores := 1; cores <= 2; cores++ {
			if err := w.byCores[cores].measure(program, file, cores); err != nil {
				return w, err
			}
		}
	}
	report, err := os.ReadFile(file + ".report")
	if err != nil {
		return w, err
	}
	w.rejected = bytes.Count(report, []byte{'\n'})
	return w, nil
}

// measure runs 'sluice validate' once and adds the cost.
func (c *processCost) measure(program, file string, cores int) error {
	cmd := exec.Command(program, "validate", "--entities", file+".entities", "--report", file+".report", file)
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", cores))
	started := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 { // 1: some lines are invalid
		return fmt.Errorf("sluice validate: %w", err)
	}
	c.elapsed = leastNonzero(c.elapsed, time.Since(started))
	c.cpu = leastNonzero(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	c.peakBytes = max(c.peakBytes, peakBytes(cmd))
	return nil
}

// leastNonzero returns the lesser duration; a best of zero means that there is none yet.
func leastNonzero(best, d time.Duration) time.Duration {
	if best == 0 {
		return d
	}
	return min(best, d)
}

// peakBytes returns the largest resident memory of a process that has ended.
func peakBytes(cmd *exec.Cmd) int64 {
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// print prints the costs.
func (w whole) print(out io.Writer) {
	for cores := 1; cores <= 2; cores++ {
		c := w.byCores[cores]
		fmt.Fprintf(out, "sluice validate, a file of %.0f MB, GOMAXPROCS=%d: "+
			"%.0f MB/s of CPU time, %.0f MB/s by elapsed time, %d MB resident, %d lines rejected\n",
			w.megabytes, cores, w.megabytes/c.cpu.Seconds(), w.megabytes/c.elapsed.Seconds(), c.peakBytes/1e6,
			w.rejected)
	}
	fmt.Fprintf(out, "sluice validate: two cores are %.2f times as fast as one, by elapsed time.\n",
		w.byCores[1].elapsed.Seconds()/w.byCores[2].elapsed.Seconds())
}

const (
	// duplicatesFlag makes the bench search for duplicates in a process of its own, so that its memory can be measured.
	duplicatesFlag = "duplicates"
	duplicateIDs   = 10_000_000
)

// measureDuplicates measures the search for duplicates. Like measureWhole it must run before this process has grown.
func measureDuplicates() (string, error) {
	cmd := exec.Command(os.Args[0], "-"+duplicatesFlag)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return fmt.Sprintf("Duplicates: %s, %d MB resident including the digests", out, peakBytes(cmd)/1e6), nil
}

// printDuplicates finds the duplicates among ten million digests, of which a thousandth are pairs, and compares that
// with sorting them.
func printDuplicates(w io.Writer) {
	rng := rand.New(rand.NewPCG(1, 2))
	partitions := make([][]duplicate.Entry, batch.Partitions)
	for p := range partitions {
		partitions[p] = make([]duplicate.Entry, 0, duplicateIDs/batch.Partitions*101/100)
	}
	pairs := 0
	for i := 0; i < duplicateIDs; i++ {
		d := duplicate.Digest{Hi: rng.Uint64(), Lo: rng.Uint64()}
		p := d.Partition(batch.Partitions)
		partitions[p] = append(partitions[p], duplicate.Entry{Digest: d, Location: uint64(i)})
		if i%1000 == 0 {
			i++
			pairs++
			partitions[p] = append(partitions[p], duplicate.Entry{Digest: d, Location: uint64(i)})
		}
	}
	started := cpuTime()
	var finder duplicate.Finder
	found := 0
	for _, entries := range partitions {
		finder.FindSets(entries, func(set []duplicate.Entry) { found += len(set) })
	}
	elapsed := cpuTime() - started
	started = cpuTime() // for comparison, on one partition
	slices.SortFunc(partitions[0], func(a, b duplicate.Entry) int {
		return cmp.Or(cmp.Compare(a.Digest.Hi, b.Digest.Hi), cmp.Compare(a.Digest.Lo, b.Digest.Lo))
	})
	sorting := (cpuTime() - started) * batch.Partitions
	if found != 2*pairs {
		panic(fmt.Sprintf("%d duplicates found, %d made", found, 2*pairs))
	}
	fmt.Fprintf(w, "%d IDs in %.2f s (sorting them: %.2f s)", duplicateIDs, elapsed.Seconds(), sorting.Seconds())
}

// startCount is how often each function is started.
const startCount = 15

// printColdStarts prints for each function the time from the start of its process to its first request for an event,
// from a Runtime API on this machine, and the size of its program. Lambda adds the time to fetch and unpack the
// program.
func printColdStarts(out io.Writer) error {
	const functions = "../bin/functions"
	programs, err := filepath.Glob(functions + "/*")
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return fmt.Errorf("there are no functions in %s: run make functions, then this program from the folder bench",
			functions)
	}
	fmt.Fprintf(out, "\n%-20s %12s %12s %9s\n", "function", "init, median", "init, worst", "program")
	for _, program := range programs {
		var times []time.Duration
		for range startCount {
			elapsed, requests, err := setuptest.Init(context.Background(), program)
			if err != nil {
				return err
			}
			if requests > 0 {
				return fmt.Errorf("%s makes network requests before its first event (%d), want none", program, requests)
			}
			times = append(times, elapsed)
		}
		slices.Sort(times)
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-20s %9.1f ms %9.1f ms %6.1f MB\n", filepath.Base(program),
			milliseconds(times[startCount/2]), milliseconds(times[startCount-1]), float64(info.Size())/1e6)
	}
	fmt.Fprintf(out, "%d starts each; none made a network request before its first event.\n", startCount)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
