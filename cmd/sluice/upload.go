package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"sluice/client"
	"sluice/internal/cli"
)

func uploadCommand() *cli.Command {
	var conn connection
	u := uploadRun{interval: client.Gently}
	return &cli.Command{
		Name:    "upload",
		Args:    "FILE",
		Summary: "upload a batch, follow it to its end and show what is wrong with it",
		Description: `
FILE holds one transaction a line (JSON Lines). If lines are invalid, their report is fetched and the first error of
each kind is shown. Ctrl-C ends the command at once. A batch whose upload is complete continues without it; 'sluice
status BATCH' shows how far it is.`,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&u.rejectOnInvalid, "reject-on-invalid", true,
				"one invalid line rejects the whole batch; =false drops invalid lines only")
			f.StringVar(&u.reportPath, "report", "", "store the report of invalid lines in `FILE`")
			conn.addFlags(f)
		},
		Examples: []string{
			"sluice upload batch.jsonl",
			"sluice upload batch.jsonl --reject-on-invalid=false --report errors.jsonl",
		},
		Run: func(ctx context.Context, args []string, stdout io.Writer) error {
			var err error
			if u.client, err = conn.newClient(); err != nil {
				return err
			}
			u.ui, u.path = newConsole(stdout), args[0]
			if err := u.run(ctx); err != nil {
				return u.explain(ctx, err)
			}
			if u.rejected {
				return exitRejected
			}
			return nil
		},
	}
}

// uploadRun is one run of the upload command.
type uploadRun struct {
	client          *client.Client
	ui              *console
	path            string
	rejectOnInvalid bool
	// reportPath is where to store the report; "" if it is not to be stored.
	reportPath string
	interval   client.PollInterval
	// brief leaves out what is wrong with the lines.
	brief bool

	// batchID is "" until the batch exists.
	batchID string
	// uploaded means that the service has the file.
	uploaded bool
	// rejected means that not every transaction was stored.
	rejected bool
}

// run returns nil when the batch has come to an end, whichever; u.rejected says which.
func (u *uploadRun) run(ctx context.Context) error {
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
	target, err := u.client.CreateUpload(ctx, u.rejectOnInvalid)
	if err != nil {
		return err
	}
	u.batchID = target.BatchID
	u.ui.printf("Batch %s: %s, %s\n", u.ui.paint(bold, u.batchID), u.path, formatBytes(info.Size()))
	if err := u.uploadFile(ctx, target, file, info.Size()); err != nil {
		return err
	}
	u.uploaded = true
	last, err := follow(ctx, u.client, u.ui, u.batchID, u.interval)
	if err != nil {
		return err
	}
	return u.printOutcome(ctx, last, file)
}

// uploadFile uploads the file with a progress bar.
func (u *uploadRun) uploadFile(ctx context.Context, target client.Upload, file io.ReaderAt, size int64) error {
	progress := newProgressBar(u.ui, size)
	var sent atomic.Int64
	err := u.client.UploadFile(ctx, target, file, size, func(n int64) {
		sent.Store(n)
		progress.update(n, n)
	})
	progress.clear()
	if err != nil {
		return err
	}
	u.ui.printStep(bold, "uploaded", time.Since(progress.started), "the service has "+formatBytes(sent.Load()))
	return nil
}

// printOutcome prints how the batch ended and what is wrong with it.
func (u *uploadRun) printOutcome(ctx context.Context, last client.Status, file io.ReaderAt) error {
	result, err := u.client.ValidationResult(ctx, u.batchID)
	if err != nil {
		return err
	}
	u.rejected = last.Status != client.StatusProcessed || result.Valid == nil || !*result.Valid
	if last.ErrorMessage != "" {
		u.ui.printf("%s\n", u.ui.paint(red, printable(last.ErrorMessage)))
	}
	counts := last.Counts
	if counts.Total == nil {
		counts = result.Counts
	}
	printCounts(u.ui, counts)
	if result.ErrorsFileURL == "" || u.brief {
		return nil
	}
	return showReport(ctx, u.client, u.ui, result, file, u.reportPath)
}

// explain adds to the error of a run what became of the batch and how to continue.
func (u *uploadRun) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil && u.uploaded:
		return continuesError(errInterrupted, u.batchID)
	case ctx.Err() != nil:
		return fmt.Errorf("%w; nothing was stored, run the same command again to start over", errInterrupted)
	case u.uploaded:
		return continuesError(err, u.batchID)
	}
	return err
}
