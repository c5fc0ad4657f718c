package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"sluice/client"
)

const uploadUsage = `sluice upload FILE: upload a batch and follow it to its end

FILE holds one transaction a line (JSON Lines). When lines are rejected, the report is fetched and the first of each kind of
error is shown. Ctrl-C ends at once; a batch that is uploaded goes on without you: 'sluice status BATCH'.

`

func runUpload(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var at connection
	f := newFlags("upload", uploadUsage)
	reject := f.Bool("reject-on-invalid", true, "one invalid line rejects the whole batch; =false drops the invalid lines only")
	reportTo := f.String("report", "", "keep the report of rejected lines in `FILE`")
	at.flags(f)
	rest, err := f.parse(args, 1, stdout)
	if err != nil {
		return ended(err, stderr)
	}
	c, err := at.client()
	if err != nil {
		return cannot(stderr, err)
	}
	u := upload{client: c, con: newConsole(stdout), path: rest[0], reject: *reject, report: *reportTo, pace: client.Gently}
	return u.end(ctx, u.run(ctx), stderr)
}

// upload is one run of the upload command.
type upload struct {
	client *client.Client
	con    *console
	path   string
	reject bool
	report string // where to keep it; "" nowhere
	pace   client.PollInterval
	brief  bool // do not show what is wrong

	batchID string // "" until there is one
	stored  bool   // the file is in the service's hands
	code    int
}

// run returns nil when the batch has come to an end, whatever the end; code says which.
func (u *upload) run(ctx context.Context) error {
	file, err := os.Open(u.path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", u.path)
	}
	to, err := u.client.CreateUpload(ctx, u.reject)
	if err != nil {
		return err
	}
	u.batchID = to.BatchID
	u.con.printf("Batch %s: %s, %s\n", u.con.paint(bold, to.BatchID), u.path, size(info.Size()))
	if err := u.send(ctx, to, file, info.Size()); err != nil {
		return err
	}
	u.stored = true
	last, err := follow(ctx, u.client, u.con, u.batchID, u.pace)
	if err != nil {
		return err
	}
	return u.tell(ctx, last, file)
}

// send puts the file with a bar that moves.
func (u *upload) send(ctx context.Context, to client.Upload, file io.ReaderAt, whole int64) error {
	began := time.Now()
	var sent, shown atomic.Int64
	err := u.client.UploadFile(ctx, to, file, whole, func(n int64) {
		sent.Store(n)
		now := time.Since(began).Milliseconds()
		if last := shown.Load(); now-last < 50 && n != whole || !shown.CompareAndSwap(last, now) {
			return
		}
		u.con.show("  %s %3d %%  %s", bar(n, whole, 40), 100*n/max(whole, 1), rate(n, time.Since(began)))
	})
	u.con.show("")
	if err != nil {
		return err
	}
	u.con.printf("  %s %6.1f s  %s\n", u.con.paint(bold, fmt.Sprintf("%-18s", "uploaded")), time.Since(began).Seconds(),
		u.con.paint(dim, size(sent.Load())+" are with the service"))
	return nil
}

// tell says how the batch ended and what was wrong with it.
func (u *upload) tell(ctx context.Context, last client.Status, file io.ReaderAt) error {
	result, err := u.client.ValidationResult(ctx, u.batchID)
	if err != nil {
		return err
	}
	u.code = outcome(u.con, last, result)
	if result.ErrorsFileURL == "" || u.brief {
		return nil
	}
	return showReport(ctx, u.client, u.con, result, file, u.report)
}

// outcome prints the end of a batch and returns the exit code that goes with it.
func outcome(con *console, last client.Status, result client.ValidationResult) int {
	if last.ErrorMessage != "" {
		con.printf("%s\n", con.paint(red, printable(last.ErrorMessage)))
	}
	counts := last.Counts
	if counts.Total == nil {
		counts = result.Counts
	}
	if text := countsOf(counts); text != "" {
		con.printf("%s\n", text)
	}
	if last.Status == client.StatusProcessed && result.Valid != nil && *result.Valid {
		return exitOK
	}
	return exitRejected
}

// end turns what became of the run into an exit code, and says how to go on.
func (u *upload) end(ctx context.Context, err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return u.code
	case ctx.Err() != nil && u.stored:
		return cannot(stderr, fmt.Errorf("interrupted; the batch goes on: sluice status %s", u.batchID))
	case ctx.Err() != nil:
		return cannot(stderr, errors.New("interrupted; nothing was stored, and the same command starts anew"))
	case u.stored:
		return cannot(stderr, fmt.Errorf("%w; the batch goes on: sluice status %s", err, u.batchID))
	}
	return cannot(stderr, err)
}
