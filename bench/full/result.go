package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"sluice/client"
)

// result is what was measured of a case.
type result struct {
	name  string
	lines int64
	bytes int64
	// status is the one with which the batch ended, and message its error message.
	status, message string
	// stored is the number of lines that were ingested.
	stored int64
	stages []stage
	events int
	// progress are the numbers of lines that were ingested at some times.
	progress []progress
	// memory is the peak of each function, in bytes.
	memory map[string]int64
	// toVerdict is the processor time of programs from the end of the upload to the verdict, and afterVerdict that from
	// there to the end of the batch.
	toVerdict, afterVerdict processorSpan
	// reportBytes is the size of the report, and reportComplete whether all its entries are full.
	reportBytes    int64
	reportComplete bool
	// bare is what the bare loop did; zero if it did not run.
	bare bareResult
}

// progress is a number of lines that were ingested by a time.
type progress struct {
	at     time.Time
	stored int64
}

// upload makes the file of a case, onboards its entities and uploads it. The file is removed after that.
func (r *result) upload(ctx context.Context, c *cloud, tc testCase, path string, validateOnly bool) (batchID string,
	err error) {
	s, err := tc.open(r.lines)
	if err != nil {
		return "", err
	}
	if err := onboard(ctx, c, s, path+".entities"); err != nil {
		return "", err
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(path)) }()
	if r.bytes, err = writeLines(file, s, r.lines); err != nil {
		return "", err
	}
	u, err := c.client.CreateUploadWith(ctx, client.UploadOptions{ValidateOnly: validateOnly})
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := c.client.UploadFile(ctx, u, file, r.bytes, nil); err != nil {
		return "", err
	}
	r.stages = append(r.stages, stage{"upload", start, time.Since(start)})
	return u.BatchID, nil
}

// onboard imports the entities to which the lines of a source refer.
func onboard(ctx context.Context, c *cloud, s source, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if err := errors.Join(s.WriteEntities(file), file.Close()); err != nil {
		return err
	}
	return c.Admin(ctx, nil, "entities", "import", path)
}

// follow waits for the end of a batch and collects what the service tells about it.
func (r *result) follow(ctx context.Context, c *cloud, batchID string) error {
	last, err := c.client.Follow(ctx, batchID, func(int) time.Duration { return time.Second }, func(s client.Status) {
		if s.Counts.Ingested != nil {
			r.progress = append(r.progress, progress{time.Now(), *s.Counts.Ingested})
		}
	})
	if err != nil {
		return err
	}
	r.status, r.message = last.Status, last.ErrorMessage
	if last.Status == client.StatusError {
		return fmt.Errorf("the batch ended in ERROR: %s", last.ErrorMessage)
	}
	if last.Counts.Ingested != nil {
		r.stored = *last.Counts.Ingested
	}
	stages, events, err := stagesOf(ctx, c, batchID)
	if err != nil {
		return err
	}
	r.stages, r.events = append(r.stages, stages...), events
	outcome, err := c.client.ValidationResult(ctx, batchID)
	if err != nil || outcome.ErrorsFileURL == "" {
		return err
	}
	r.reportComplete = outcome.ReportComplete == nil || *outcome.ReportComplete
	r.reportBytes, err = sizeOf(ctx, outcome.ErrorsFileURL)
	return err
}

// sizeOf returns the size of what a URL gives, without reading it.
func sizeOf(ctx context.Context, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ContentLength < 0 {
		return 0, fmt.Errorf("the report answers %s with a length of %d", resp.Status, resp.ContentLength)
	}
	return resp.ContentLength, nil
}

// ingestion returns how many lines a second were ingested until a number of them was; 0 if none were. A table takes
// fewer items a second the more it has, so that only equal numbers can be compared.
func (r *result) ingestion(lines int64) float64 {
	i := slices.IndexFunc(r.stages, func(s stage) bool { return s.name == "Ingest" })
	if i < 0 || r.stages[i].took == 0 {
		return 0
	}
	began := r.stages[i].began
	for _, p := range r.progress {
		if p.stored >= lines && p.stored < r.stored {
			return float64(p.stored) / p.at.Sub(began).Seconds()
		}
	}
	return float64(r.stored) / r.stages[i].took.Seconds()
}

// processorTimes returns the spans until the verdict and after it.
func (r *result) processorTimes(w *processWatch) (toVerdict, afterVerdict processorSpan) {
	upload, last := r.stages[0], r.stages[len(r.stages)-1]
	verdict := last
	if i := slices.IndexFunc(r.stages, func(s stage) bool { return s.name == "Verdict" }); i >= 0 {
		verdict = r.stages[i]
	}
	span := func(from, to time.Time) processorSpan { return processorSpan{to.Sub(from), w.between(from, to)} }
	return span(upload.end(), verdict.end()), span(verdict.end(), last.end())
}

// problems returns which limits the case breaks.
func (r *result) problems() (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(r.memory)) {
		if peak := r.memory[name]; peak > maxMemory {
			problems = append(problems, fmt.Sprintf("%s used %d MiB, and %d are allowed", name, peak>>20,
				maxMemory>>20))
		}
	}
	if share := r.ingestion(r.bare.items) / cmp.Or(r.bare.rate(), 1); r.bare.items > 0 && share < minIngestion {
		problems = append(problems, fmt.Sprintf("ingestion has %.2f of the speed of the bare loop, and %.2f are wanted",
			share, minIngestion))
	}
	return problems
}

// print prints the result as a table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d lines, %.0f MB, %s, %d stored, %d events %s\n", r.name, r.lines, float64(r.bytes)/1e6,
		r.status, r.stored, r.events, r.message)
	fmt.Fprintf(w, "  %-20s %10s %10s %12s\n", "stage", "seconds", "MB/s", "lines/s")
	total := time.Duration(0)
	row := func(name string, took time.Duration) {
		s := max(took.Seconds(), 0.001)
		fmt.Fprintf(w, "  %-20s %10.2f %10.1f %12.0f\n", name, took.Seconds(), float64(r.bytes)/1e6/s,
			float64(r.lines)/s)
	}
	for _, s := range r.stages {
		total += s.took
		if s.took >= 5*time.Millisecond {
			row(s.name, s.took)
		}
	}
	row("all", total)
	fmt.Fprint(w, "  memory (MiB):")
	for _, name := range slices.SortedFunc(maps.Keys(r.memory),
		func(a, b string) int { return cmp.Compare(r.memory[b], r.memory[a]) }) {
		fmt.Fprintf(w, " %s %d", name, r.memory[name]>>20)
	}
	fmt.Fprintln(w)
	r.toVerdict.print(w, "from the end of the upload to the verdict")
	if r.stored > 0 {
		r.afterVerdict.print(w, "after the verdict")
	}
	if r.reportBytes > 0 {
		fmt.Fprintf(w, "  report: %.1f MB, complete: %v\n", float64(r.reportBytes)/1e6, r.reportComplete)
	}
	if r.bare.items > 0 {
		ingestion := r.ingestion(r.bare.items)
		fmt.Fprintf(w, "  the first %d lines: ingestion %.0f lines/s, bare BatchWriteItem loop %.0f items/s (%d "+
			"calls at a time), ratio %.2f\n", r.bare.items, ingestion, r.bare.rate(), r.bare.writers,
			ingestion/r.bare.rate())
	}
}
