// Tenants puts many batches of several tenants through a local cloud at once, which has the limits of a small account,
// and prints how each batch ended, how the slots were shared while all tenants waited, how long small batches of one
// more tenant took meanwhile, and how the status endpoint answered.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"sluice/lab/account"
	"sluice/shared/ingest/batch"
)

// options are the flags of the bench.
type options struct {
	tenants, first, others, lines int
	small                         int
	limits, set                   []string
	dir                           string
	admission                     bool
	pollers                       int
	patience                      time.Duration
}

const (
	// smallLines is the number of lines of a small batch.
	smallLines = 20
	// largestDeviation is how far the lines stored of a tenant may be from its fair share while all tenants wait.
	largestDeviation = 0.2
	// slowestStatus is the longest time of 99 of 100 status calls, refused ones included.
	slowestStatus = time.Second
)

func main() {
	o := options{limits: []string{"concurrency=10"}}
	flag.IntVar(&o.tenants, "tenants", 10, "`N` tenants")
	flag.IntVar(&o.first, "first", 55, "`N` batches of the first tenant")
	flag.IntVar(&o.others, "others", 5, "`N` batches of each other tenant")
	flag.IntVar(&o.lines, "lines", 18_000, "`N` lines of a batch; a line has about 1.1 KB")
	flag.IntVar(&o.small, "small", 0, "`N` batches of 20 lines of one more tenant, each uploaded after the one before "+
		"has ended, the first of them once all others are uploaded")
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
		fmt.Fprintln(os.Stderr, "tenants:", err)
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
	parameters := account.NoAdmission
	if o.admission {
		if parameters, err = account.Slots(10); err != nil {
			return err
		}
	}
	c, err := startCloud(ctx, filepath.Join(dir, "cloud"), append(parameters, o.set...), o.limits)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	w := &watcher{calls: newCalls()}
	if err := w.addTenants(ctx, c, o, dir); err != nil {
		return err
	}
	w.start = time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.patience)
	defer cancel()
	if err := w.watch(ctx, o.pollers); err != nil {
		return err
	}
	elapsed := time.Since(w.start)
	h, err := c.readHistory()
	if err != nil {
		return err
	}
	return w.report(out, h, elapsed, c.throttledTasks())
}

// addTenants makes the tenants, and the files that they upload.
func (w *watcher) addTenants(ctx context.Context, c *cloud, o options, dir string) error {
	add := func(name string, tenants, lines int, batches func(i int) int) (made []*tenant, err error) {
		file := filepath.Join(dir, name)
		err = c.Run(ctx, nil, "generate", "--lines", fmt.Sprint(lines), "--entities", "100", "-o", file)
		for i := 0; i < tenants && err == nil; i++ {
			var t *tenant
			t, err = c.newTenant(ctx, file, batches(i), w.calls)
			made = append(made, t)
		}
		return made, err
	}
	var err error
	w.tenants, err = add("batch.jsonl", o.tenants, o.lines, func(i int) int {
		if i == 0 {
			return o.first
		}
		return o.others
	})
	if err == nil && o.small > 0 {
		var made []*tenant
		if made, err = add("small.jsonl", 1, smallLines, func(int) int { return o.small }); err == nil {
			w.small = made[0]
		}
	}
	return err
}

// report prints the result, and returns an error for what is not as it should be.
func (w *watcher) report(out io.Writer, h *history, elapsed time.Duration, throttledTasks int) error {
	var ids [][]string
	for _, t := range w.tenants {
		ids = append(ids, t.ids())
	}
	all := h.whileAllWait(ids)
	shares, fair := make([]float64, len(ids)), 0.0
	for i := range ids {
		shares[i] = h.stored(ids[i], all)
		fair += shares[i] / float64(len(ids))
	}
	worst := 0.0
	fmt.Fprintf(out, "tenant  batches  PROCESSED  first end  last end  lines while all wait  of fair share\n")
	for i, t := range w.tenants {
		first, last, processed := h.ends(w.start, ids[i])
		share := shares[i] / max(fair, 1)
		worst = max(worst, math.Abs(share-1))
		fmt.Fprintf(out, "%6d  %7d  %9d  %7.0f s  %6.0f s  %20.0f  %12.0f%%\n", i+1, len(t.batches), processed,
			first.Seconds(), last.Seconds(), shares[i], 100*share)
	}
	if w.small != nil {
		fmt.Fprintf(out, "from receipt to PROCESSED, mean and longest: small batches %s, others %s\n",
			h.times(w.small.ids()), h.times(slices.Concat(ids...)))
	}
	ends, messages, errs := w.ends(h)
	fmt.Fprintf(out, "ends: %v after %.0f s; the last upload was accepted after %.0f s\n", ends, elapsed.Seconds(),
		w.uploaded.Seconds())
	for _, text := range slices.Sorted(maps.Keys(messages)) {
		fmt.Fprintf(out, "  %d: %s\n", messages[text], text)
	}
	length := time.Duration(0)
	for _, i := range all {
		length += i.to.Sub(i.from)
	}
	if len(all) > 0 {
		fmt.Fprintf(out, "all waited for %.0f s, from second %.0f to %.0f; %.0f lines were stored meanwhile\n",
			length.Seconds(), all[0].from.Sub(w.start).Seconds(), all[len(all)-1].to.Sub(w.start).Seconds(),
			fair*float64(len(ids)))
	}
	p50, p99 := w.calls.quantile(0.5), w.calls.quantile(0.99)
	fmt.Fprintf(out, "status calls: %d, p50 %v, p99 %v, longest %v; answers %v\n", w.calls.count(),
		p50.Round(time.Millisecond), p99.Round(time.Millisecond), w.calls.quantile(1).Round(time.Millisecond),
		w.calls.answers)
	fmt.Fprintf(out, "throttled tasks of state machines: %d; throttled requests in all: %s\n", throttledTasks,
		h.throttles())
	if p99 > slowestStatus {
		errs = append(errs, fmt.Errorf("p99 of the status calls is %v, want at most %v", p99, slowestStatus))
	}
	if worst > largestDeviation {
		errs = append(errs, fmt.Errorf("a tenant is %.0f%% from its fair share, want at most %.0f%%", 100*worst,
			100*largestDeviation))
	}
	return errors.Join(errs...)
}

// ends counts the batches by their statuses and by what went wrong, and returns an error for each that did not end
// well.
func (w *watcher) ends(h *history) (ends, messages map[string]int, errs []error) {
	ends, messages = map[string]int{}, map[string]int{}
	for _, t := range w.all() {
		for _, b := range t.batches {
			status := cmp.Or(b.status, "no status")
			ends[status]++
			if b.message != "" {
				messages[b.message]++
			}
			if stored := h.total(b.id); status == string(batch.Processed) && stored != t.lines {
				errs = append(errs, fmt.Errorf("batch %s is PROCESSED, and %d lines were stored, want %d", b.id, stored,
					t.lines))
			}
		}
	}
	for status, n := range ends {
		if status != string(batch.Processed) {
			errs = append(errs, fmt.Errorf("%d batches: %s", n, status))
		}
	}
	return ends, messages, errs
}

// ends returns after which times the first and the last of some batches were PROCESSED, and how many were.
func (h *history) ends(start time.Time, ids []string) (first, last time.Duration, processed int) {
	for _, id := range ids {
		if at, isProcessed := h.reached[id][batch.Processed]; isProcessed {
			after := at.Sub(start)
			if processed++; processed == 1 {
				first = after
			}
			first, last = min(first, after), max(last, after)
		}
	}
	return first, last, processed
}
