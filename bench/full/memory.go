package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memoryWatch collects the peak memory of the processes of functions.
type memoryWatch struct {
	cloud    *cloud
	end      chan struct{}
	watching sync.WaitGroup
	once     sync.Once
	// peaks are in bytes, by function.
	peaks map[string]int64
}

// watchMemory watches the processes of the functions of a local cloud until stop. The kernel keeps the peak of a
// process, so that only the end of a process between two looks can be missed; a local cloud keeps idle ones for
// minutes.
func watchMemory(c *cloud) *memoryWatch {
	w := &memoryWatch{cloud: c, end: make(chan struct{}), peaks: map[string]int64{}}
	w.watching.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
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

// stop ends the watch and returns the peaks. It may be called again.
func (w *memoryWatch) stop() map[string]int64 {
	w.once.Do(func() { close(w.end) })
	w.watching.Wait()
	w.sample()
	return w.peaks
}

func (w *memoryWatch) sample() {
	links, _ := filepath.Glob("/proc/[0-9]*/exe") // fails for no reason that could apply
	for _, link := range links {
		program, err := os.Readlink(link)
		name := w.cloud.functionOf(program)
		if err != nil || name == "" {
			continue // has ended, or is another program
		}
		if text, err := os.ReadFile(filepath.Join(filepath.Dir(link), "status")); err == nil {
			w.peaks[name] = max(w.peaks[name], peakMemory(string(text)))
		}
	}
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
