package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// processorTime is the time that processors have worked for programs, and for them in the kernel.
type processorTime struct{ user, kernel time.Duration }

func (t processorTime) add(o processorTime) processorTime {
	return processorTime{t.user + o.user, t.kernel + o.kernel}
}

func (t processorTime) sub(o processorTime) processorTime {
	return processorTime{t.user - o.user, t.kernel - o.kernel}
}

func (t processorTime) both() time.Duration { return t.user + t.kernel }

// processWatch follows the processes of a local cloud: the processor time of each, and the peak memory of functions.
type processWatch struct {
	cloud    *cloud
	end      chan struct{}
	watching sync.WaitGroup
	once     sync.Once
	// peaks are in bytes, by function.
	peaks map[string]int64
	// used is the processor time of each process until the last look at it.
	used map[processID]processorTime
	// samples are in the order of time.
	samples []processorSample
}

type processID struct{ program, pid string }

// processorSample is the processor time by program until a time.
type processorSample struct {
	at   time.Time
	used map[string]processorTime
}

// watchProcesses watches the processes of a local cloud until stop. The kernel keeps the peak of a process and its
// time, so that only what follows the last look at a process is missed; a local cloud keeps idle ones for minutes.
func watchProcesses(c *cloud) *processWatch {
	w := &processWatch{cloud: c, end: make(chan struct{}), peaks: map[string]int64{},
		used: map[processID]processorTime{}}
	w.watching.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			w.sample()
			select {
			case <-w.end:
				return
			case <-tick.C:
			}
		}
	})
	return w
}

// stop ends the watch. It may be called again.
func (w *processWatch) stop() {
	w.once.Do(func() {
		close(w.end)
		w.watching.Wait()
		w.sample()
	})
}

func (w *processWatch) sample() {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // fails for no reason that could apply
	for _, link := range links {
		program, err := os.Readlink(link)
		name := w.cloud.programOf(program)
		if err != nil || name == "" {
			continue // has ended, or is another program
		}
		dir := filepath.Dir(link)
		if text, err := os.ReadFile(filepath.Join(dir, "stat")); err == nil {
			w.used[processID{name, filepath.Base(dir)}] = timeOf(string(text))
		}
		if w.cloud.functionOf(program) == "" {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
			w.peaks[name] = max(w.peaks[name], peakMemory(string(text)))
		}
	}
	s := processorSample{time.Now(), map[string]processorTime{}}
	for id, used := range w.used {
		s.used[id.program] = s.used[id.program].add(used)
	}
	w.samples = append(w.samples, s)
}

// between returns the processor time of each program from one time to another.
func (w *processWatch) between(from, to time.Time) map[string]processorTime {
	before, spent := w.until(from), map[string]processorTime{}
	for program, used := range w.until(to) {
		spent[program] = used.sub(before[program])
	}
	return spent
}

// until returns the processor time of each program until the first look after a time, or the last one.
func (w *processWatch) until(t time.Time) map[string]processorTime {
	for _, s := range w.samples {
		if !s.at.Before(t) {
			return s.used
		}
	}
	if len(w.samples) == 0 {
		return nil
	}
	return w.samples[len(w.samples)-1].used
}

// peakMemory returns the peak resident memory, in bytes, that a status file of /proc names; 0 if it names none.
func peakMemory(status string) int64 {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10,
				64)
			return kilobytes << 10
		}
	}
	return 0
}

// timeOf returns the processor time that a stat file of /proc names; none if it names none.
func timeOf(stat string) processorTime {
	// The fields 14 and 15, in hundredths of a second on every Linux. The second is a name in parentheses, which may
	// have spaces.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return processorTime{}
	}
	hundredths := func(i int) time.Duration {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		return time.Duration(n) * 10 * time.Millisecond
	}
	return processorTime{hundredths(11), hundredths(12)}
}

// processorSpan is the processor time of programs in a span of time.
type processorSpan struct {
	took  time.Duration
	times map[string]processorTime
}

// print prints what the programs took, from the largest to the smallest.
func (s processorSpan) print(w io.Writer, title string) {
	fmt.Fprintf(w, "  %-45s %8s %8s %8s\n", "processor seconds "+title, "user", "kernel", "both")
	row := func(name string, t processorTime) {
		fmt.Fprintf(w, "    %-43s %8.2f %8.2f %8.2f\n", name, t.user.Seconds(), t.kernel.Seconds(), t.both().Seconds())
	}
	all := processorTime{}
	for _, name := range slices.SortedFunc(maps.Keys(s.times), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.times[b].both(), s.times[a].both()), cmp.Compare(a, b))
	}) {
		all = all.add(s.times[name])
		if s.times[name].both() >= 50*time.Millisecond {
			row(name, s.times[name])
		}
	}
	row(fmt.Sprintf("all, in %.2f seconds", s.took.Seconds()), all)
}
