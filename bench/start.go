package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sluice/shared/setup/setuptest"
)

const starts = 15

// coldStarts tells of every function how long it takes from the start of its process to its first question for an
// event, against a Runtime API on this machine, and how large its program is. Lambda adds the time to fetch and unpack
// the program.
func coldStarts(out io.Writer) error {
	programs, err := filepath.Glob("../bin/functions/*")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%-14s %12s %12s %9s\n", "function", "init, median", "init, worst", "program")
	for _, program := range programs {
		var times []time.Duration
		for range starts {
			took, requests, err := setuptest.Init(context.Background(), program)
			if err != nil {
				return err
			}
			if requests > 0 {
				return fmt.Errorf("%s makes %d requests before its first event", program, requests)
			}
			times = append(times, took)
		}
		slices.Sort(times)
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-14s %9.1f ms %9.1f ms %6.1f MB\n", filepath.Base(program),
			milliseconds(times[starts/2]), milliseconds(times[starts-1]), float64(info.Size())/1e6)
	}
	fmt.Fprintf(out, "%d starts each; none made a request before its first event.\n", starts)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
