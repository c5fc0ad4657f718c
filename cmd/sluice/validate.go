package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sluice/shared/auth"
	"sluice/shared/chunk"
	"sluice/shared/report"
	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
	"sluice/shared/validation"
)

const validateUsage = `sluice validate FILE: find every error of every line, before anything is uploaded

The same engine as the service's: strict JSON, the whole schema, duplicates over the whole file. FILE holds one transaction a
line (JSON Lines); - is standard input. Whether entities exist is judged only with --entities, a file of JSON Lines of
{"id": "...", "lifecycleStatus": "Compliant"}. All cores are used; GOMAXPROCS=1 makes it one.

`

func runValidate(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	v := check{con: newConsole(stdout), now: time.Now()}
	f := newFlags("validate", validateUsage)
	f.StringVar(&v.entities, "entities", "", "the known entities, a `FILE` as for 'sluice admin entities import'")
	f.StringVar(&v.report, "report", "", "write the report of rejected lines to `FILE`")
	byType := f.Bool("main-entity-by-type", false, "the main entity of a payin is its receiver, otherwise its sender")
	rest, err := f.parse(args, 1, stdout)
	if err != nil {
		return ended(err, stderr)
	}
	if *byType {
		v.rule = transaction.ByPaymentType
	}
	sum, err := v.run(ctx, rest[0])
	switch {
	case ctx.Err() != nil:
		return cannot(stderr, errors.New("interrupted; nothing was judged"))
	case err != nil:
		return cannot(stderr, err)
	case sum.Counts.Invalid > 0 || sum.Counts.Total == 0:
		return exitRejected
	}
	return exitOK
}

// check is one run of the validate command.
type check struct {
	con      *console
	now      time.Time // stands for the receipt time
	entities string    // file of known entities; "": their existence is not judged
	report   string    // file for the report; "": none is kept
	rule     transaction.MainEntityRule
}

func (v *check) run(ctx context.Context, path string) (report.Summary, error) {
	// The heap is small beside the file, and most of it is needed to the end: to collect it less often costs a few megabytes.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	file, size, err := openSeekable(ctx, path)
	if err != nil {
		return report.Summary{}, err
	}
	defer file.Close()
	var known *validation.Directory
	if v.entities != "" {
		if known, err = readDirectory(v.entities); err != nil {
			return report.Summary{}, err
		}
	}
	out, keep, err := createReport(v.report)
	if err != nil {
		return report.Summary{}, err
	}
	began := time.Now()
	sum, err := validation.File(ctx, v.input(sourceOf(file), size, known), out)
	v.con.show("")
	if info, failed := file.Stat(); err == nil && failed == nil && info.Size() < size {
		err = validation.ErrShrank // within its last page nothing faults
	}
	if err = errors.Join(err, keep(err)); err != nil {
		return sum, err
	}
	v.print(sum, path, file, size, time.Since(began))
	return sum, nil
}

func (v *check) input(file chunk.Source, size int64, known *validation.Directory) validation.FileInput {
	settings := auth.DefaultSettings()
	in := validation.FileInput{
		Source: file,
		Plan:   chunk.NewPlan(size, 0),
		NewScanner: func() validation.Scanner {
			return scanner.New(transaction.Rules{ReceivedAt: v.now, MaxPast: settings.MaxPast, MaxFuture: settings.MaxFuture, MainEntity: v.rule})
		},
		Entities: known,
		Workers:  runtime.GOMAXPROCS(0),
	}
	rand.Read(in.Key[:])
	var shown atomic.Int64
	began := time.Now()
	in.Progress = func(p validation.Progress) {
		now := time.Since(began).Milliseconds()
		if last := shown.Load(); now-last < 50 || !shown.CompareAndSwap(last, now) {
			return
		}
		// Reading is most of the work; what follows it is shown as the bar's last tenth.
		done := p.Read*9/10 + p.Settled/10
		v.con.show("  %s %3d %%  %s", bar(done, size, 40), 100*done/max(size, 1),
			rate(p.Read, time.Since(began)))
	}
	return in
}

// openSeekable opens a file for reading at any place. Standard input, and anything else that can only be read forwards, is
// put into a temporary file first, which has no name any more and so is gone with the process.
func openSeekable(ctx context.Context, path string) (*os.File, int64, error) {
	file := os.Stdin
	if path != "-" {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, 0, err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.Mode().IsRegular() && path != "-" {
		return file, info.Size(), nil
	}
	if info.IsDir() {
		return nil, 0, fmt.Errorf("%s is a folder", path)
	}
	spool, err := os.CreateTemp("", "sluice-validate-")
	if err != nil {
		return nil, 0, err
	}
	if err := os.Remove(spool.Name()); err != nil {
		return nil, 0, err
	}
	stop := context.AfterFunc(ctx, func() { file.Close() }) // Ctrl-C must end a read that waits for a person
	defer stop()
	n, err := io.Copy(spool, file)
	return spool, n, err
}

// createReport returns where the report goes and how to finish it. A report that is not whole is not kept.
func createReport(path string) (io.Writer, func(error) error, error) {
	if path == "" {
		return io.Discard, func(error) error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	return out, func(failed error) error {
		if failed != nil {
			return errors.Join(file.Close(), os.Remove(path))
		}
		return errors.Join(out.Flush(), file.Close())
	}, nil
}
