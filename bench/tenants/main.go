// Tenants puts many batches of several tenants through a local cloud at once, which has the limits of a small account, and
// prints how each batch ended, how the slots were shared while all tenants waited, and how the status endpoint answered.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are the flags of the bench.
type options struct {
	tenants, first, others, lines int
	limits, set                   []string
	dir                           string
	admission                     bool
	pollers                       int
	patience                      time.Duration
}

// smallAccount are the slots and widths for ten concurrent executions (docs/operations.md, Slots).
var smallAccount = []string{
	"ValidationSlots=2", "ValidationSlotsPerTenant=1", "ValidateConcurrency=2", "SettleConcurrency=2",
	"ReconcileConcurrency=1", "ScreenConcurrency=1", "IngestionSlots=2", "IngestionSlotsPerTenant=1", "IngestConcurrency=1",
}

// noAdmission are slots for everyone, as if there were no admission, with the widths of releases before it.
var noAdmission = []string{
	"ValidationSlots=500", "ValidationSlotsPerTenant=500", "IngestionSlots=500", "IngestionSlotsPerTenant=500",
	"ReconcileConcurrency=16", "IngestConcurrency=40",
}

const (
	// largestDeviation is how far the lines stored of a tenant may be from its fair share while all tenants wait.
	largestDeviation = 0.2
	// slowestStatus is the longest time of 99 of 100 status calls.
	slowestStatus = time.Second
)

func main() {
	o := options{limits: []string{"concurrency=10"}}
	flag.IntVar(&o.tenants, "tenants", 10, "`N` tenants")
	flag.IntVar(&o.first, "first", 55, "`N` batches of the first tenant")
	flag.IntVar(&o.others, "others", 5, "`N` batches of each other tenant")
	flag.IntVar(&o.lines, "lines", 18_000, "`N` lines of a batch; a line has about 1.1 KB")
	flag.IntVar(&o.pollers, "pollers", 2, "`N` status calls under way at once")
	flag.BoolVar(&o.admission, "admission", true, "limit the slots; false shows what happens without")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "`DIR` for the data")
	flag.DurationVar(&o.patience, "patience", 2*time.Hour, "`TIME` after which the bench ends with what there is")
	add := func(list *[]string) func(string) error {
		return func(s string) error { *list = append(*list, s); return nil }
	}
	flag.Func("limit", "`NAME=VALUE` of a limit of the local cloud, beside concurrency=10", add(&o.limits))
	flag.Func("set", "`NAME=VALUE` of a parameter of the template", add(&o.set))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-tenants:", err)
		os.Exit(1)
	}
}

// run runs the bench and prints its result. It returns an error if a batch did not end well, or a mark is missed.
func run(ctx context.Context, out io.Writer, o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "sluice-tenants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	parameters := noAdmission
	if o.admission {
		parameters = smallAccount
	}
	c, err := startCloud(ctx, filepath.Join(dir, "cloud"), append(parameters, o.set...), o.limits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	file := filepath.Join(dir, "batch.jsonl")
	if err := c.sluice(ctx, nil, "generate", "--lines", fmt.Sprint(o.lines), "--entities", "100", "-o", file); err != nil {
		return err
	}
	var tenants []*tenant
	for i := range o.tenants {
		n := o.others
		if i == 0 {
			n = o.first
		}
		t, err := c.newTenant(ctx, file, n)
		if err != nil {
			return err
		}
		tenants = append(tenants, t)
	}
	started := time.Now()
	calls := newCalls()
	w := &watcher{tenants: tenants, calls: calls, start: started}
	ctx, cancel := context.WithTimeout(ctx, o.patience)
	defer cancel()
	if err := w.watch(ctx, file, o.pollers); err != nil {
		return err
	}
	return w.report(out, time.Since(started), c.throttles())
}

// report prints the result, and returns an error for what is not as it should be.
func (w *watcher) report(out io.Writer, elapsed time.Duration, throttles int) error {
	ends := map[string]int{}
	fair := 0.0
	for _, t := range w.tenants {
		fair += float64(t.whileAllWait) / float64(len(w.tenants))
	}
	worst := 0.0
	fmt.Fprintf(out, "tenant  batches  first end  last end  lines while all wait  of fair share\n")
	for i, t := range w.tenants {
		first, last := time.Duration(math.MaxInt64), time.Duration(0)
		for _, b := range t.batches {
			ends[b.status]++
			if b.isEnded() {
				first, last = min(first, b.ended), max(last, b.ended)
			}
		}
		share := float64(t.whileAllWait) / max(fair, 1)
		worst = max(worst, math.Abs(share-1))
		fmt.Fprintf(out, "%6d  %7d  %7.0f s  %6.0f s  %20d  %12.0f%%\n", i+1, len(t.batches), first.Seconds(), last.Seconds(),
			t.whileAllWait, 100*share)
	}
	p50, p99 := w.calls.quantile(0.5), w.calls.quantile(0.99)
	fmt.Fprintf(out, "ends: %v after %.0f s; all waited for %.0f s, %d lines were stored until then\n", ends, elapsed.Seconds(),
		w.allWaited.Seconds(), int64(fair)*int64(len(w.tenants)))
	fmt.Fprintf(out, "status calls: %d, p50 %v, p99 %v, longest %v; answers %v\n", w.calls.count(), p50.Round(time.Millisecond),
		p99.Round(time.Millisecond), w.calls.quantile(1).Round(time.Millisecond), w.calls.answers)
	fmt.Fprintf(out, "throttled tasks of state machines: %d\n", throttles)
	var errs []error
	for status, n := range ends {
		if status != "PROCESSED" {
			errs = append(errs, fmt.Errorf("%d batches ended with %q", n, status))
		}
	}
	if p99 > slowestStatus {
		errs = append(errs, fmt.Errorf("p99 of the status calls is %v, want at most %v", p99, slowestStatus))
	}
	if worst > largestDeviation {
		errs = append(errs, fmt.Errorf("a tenant is %.0f%% from its fair share, want at most %.0f%%", 100*worst,
			100*largestDeviation))
	}
	return errors.Join(errs...)
}
