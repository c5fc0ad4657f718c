package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"sluice/shared/batch"
	"sluice/shared/duplicate"
)

// whole is what `sluice validate` takes as customers run it: reading the file, the scanner, entities, duplicates, the
// report.
type whole struct {
	megabytes float64
	cpu       [3]time.Duration // by cores; CPU time, to be compared with the rows of the table
	clock     [3]time.Duration
	peak      [3]int64 // resident bytes
	rejected  int      // lines
	plain     struct { // the yardstick
		cpu      time.Duration
		rejected int
	}
}

// measureWhole must run before this process has grown: a child's peak memory begins with that of its parent.
func measureWhole(lines int64, seed uint64, bad float64, rounds int) (whole, error) {
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
	if out, err := exec.Command(program, "generate", "--lines", fmt.Sprint(lines), "--seed", fmt.Sprint(seed), "--bad", fmt.Sprint(bad), "-o", file).CombinedOutput(); err != nil {
		return w, fmt.Errorf("%w: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		return w, err
	}
	w.megabytes = float64(info.Size()) / 1e6
	for range rounds {
		for cores := 1; cores <= 2; cores++ {
			cmd := exec.Command(program, "validate", "--entities", file+".entities", "--report", file+".report", file)
			cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", cores))
			began := time.Now()
			if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
				return w, fmt.Errorf("sluice validate: %w", err)
			}
			w.clock[cores] = least(w.clock[cores], time.Since(began))
			w.cpu[cores] = least(w.cpu[cores], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			w.peak[cores] = max(w.peak[cores], peakOf(cmd))
		}
	}
	report, err := os.ReadFile(file + ".report")
	if err != nil {
		return w, err
	}
	w.rejected = bytes.Count(report, []byte{'\n'})
	w.plain.cpu, w.plain.rejected, err = measurePlain(file)
	return w, err
}

func least(best, took time.Duration) time.Duration {
	if best == 0 {
		return took
	}
	return min(best, took)
}

func peakOf(cmd *exec.Cmd) int64 { return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 }

func (w whole) show(out io.Writer, ref float64) {
	for cores := 1; cores <= 2; cores++ {
		speed := w.megabytes / w.cpu[cores].Seconds()
		fmt.Fprintf(out, "sluice validate, a file of %.0f MB, GOMAXPROCS=%d: %.0f MB/s of CPU time (%.1f x ref), %.0f MB/s by the clock, %d MB resident\n",
			w.megabytes, cores, speed, speed/ref, w.megabytes/w.clock[cores].Seconds(), w.peak[cores]/1e6)
	}
	fmt.Fprintf(out, "All of that with encoding/json (checks, entities, duplicates, report), GOMAXPROCS=1: %.0f MB/s of CPU time, rejects %d lines of sluice validate's %d; sluice validate is %.1f x that\n",
		w.megabytes/w.plain.cpu.Seconds(), w.plain.rejected, w.rejected, w.plain.cpu.Seconds()/w.cpu[1].Seconds())
	fmt.Fprintf(out, "Two cores are %.2f times one core by the clock (whole process).\n", w.clock[1].Seconds()/w.clock[2].Seconds())
}

// The duplicate check is measured in a process of its own, for its memory.
const duplicatesFlag = "duplicates"

const duplicateIDs = 10_000_000

// measureDuplicates must run early too.
func measureDuplicates() (string, error) {
	cmd := exec.Command(os.Args[0], "-"+duplicatesFlag)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return fmt.Sprintf("Duplicates: %s, %d MB resident with the digests themselves", out, peakOf(cmd)/1e6), nil
}

// duplicates finds the sets among ten million digests, a thousandth of them pairs, against sorting them.
func duplicates(w io.Writer) {
	rng := rand.New(rand.NewPCG(1, 2))
	parts := make([][]duplicate.Entry, batch.Partitions)
	for p := range parts {
		parts[p] = make([]duplicate.Entry, 0, duplicateIDs/batch.Partitions*101/100)
	}
	pairs := 0
	for i := 0; i < duplicateIDs; i++ {
		d := duplicate.Digest{Hi: rng.Uint64(), Lo: rng.Uint64()}
		p := d.Partition(batch.Partitions)
		parts[p] = append(parts[p], duplicate.Entry{Digest: d, Location: uint64(i)})
		if i%1000 == 0 {
			i++
			pairs++
			parts[p] = append(parts[p], duplicate.Entry{Digest: d, Location: uint64(i)})
		}
	}
	began := cpuTime()
	var finder duplicate.Finder
	found := 0
	for _, entries := range parts {
		finder.FindSets(entries, func(set []duplicate.Entry) { found += len(set) })
	}
	took := cpuTime() - began
	began = cpuTime() // the yardstick, on a sixteenth
	slices.SortFunc(parts[0], func(a, b duplicate.Entry) int {
		return cmp.Or(cmp.Compare(a.Digest.Hi, b.Digest.Hi), cmp.Compare(a.Digest.Lo, b.Digest.Lo))
	})
	sorting := (cpuTime() - began) * batch.Partitions
	if found != 2*pairs {
		panic(fmt.Sprintf("%d duplicates found, %d made", found, 2*pairs))
	}
	fmt.Fprintf(w, "%d IDs in %.2f s (sorting them: %.2f s)", duplicateIDs, took.Seconds(), sorting.Seconds())
}
