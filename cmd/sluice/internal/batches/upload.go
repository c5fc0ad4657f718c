package batches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/output"
	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/ingest/batch"
)

func uploadCommand() *cobra.Command {
	a := uploadArguments{run: uploadRun{interval: client.Gently}}
	c := &cobra.Command{
		Use:   "upload FILE...",
		Short: "upload batches, follow them to their end and show what is wrong with them",
		Long: `
FILE holds one transaction a line (JSON Lines), and may be packed with gzip or zstd; - is standard input, which is
copied to a temporary file first. If lines are invalid, their report is fetched and the first error of each kind is
shown. Ctrl-C ends the command at once. A batch whose upload is complete continues without it; 'sluice status BATCH'
shows how far it is. An upload that breaks off is resumed with --resume, also after its URL has expired. Files of 64 MiB
and more are uploaded in parts; of these, only what is missing is sent.

Several files are as many batches, four of which are uploaded at a time. One line says how each ended. Nothing is
uploaded if one of them cannot be read or is not JSON Lines; the exit code is then 2, as it is if an upload fails later,
which does not keep back the others. Otherwise it is 1 if a batch was rejected or failed.`,
		Example: `
sluice upload batch.jsonl
sluice upload batch.jsonl --reject-on-invalid=false --report errors.jsonl
sluice upload batch.jsonl --max-rejected 0.5% --name 'November, part 2' --metadata region=north
sluice upload batch.jsonl --validate-only
gzip -k batch.jsonl && sluice upload batch.jsonl.gz --json
sluice upload batch.jsonl --screen un,ofac --on-hit reject --alerts hits.jsonl
sluice upload monday.jsonl tuesday.jsonl.gz --json
sluice upload --resume 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01 large.jsonl
batch=$(sluice upload batch.jsonl --detach --quiet)`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			if err := a.check(args); err != nil {
				return err
			}
			var err error
			if a.run.client, err = a.conn.NewClient(ctx); err != nil {
				return err
			}
			a.run.conn = &a.conn
			if len(args) > 1 {
				s := newUploads(&a.run, args, stdout)
				s.asJSON, s.quiet, s.detach = a.asJSON, a.quiet, a.detach
				return s.run(ctx)
			}
			return a.uploadOne(ctx, args[0], stdout)
		}),
	}
	a.addFlags(c)
	return c
}

// uploadArguments are the flags of the upload command.
type uploadArguments struct {
	// run has the flags that each run of the command needs.
	run                         uploadRun
	conn                        service.Connection
	reportPath                  string
	asJSON, quiet, detach, wait bool
}

func (a *uploadArguments) addFlags(c *cobra.Command) {
	f := c.Flags()
	a.run.options.addFlags(c)
	findings.AddReportFlag(f, &a.reportPath)
	f.BoolVar(&a.asJSON, "json", false,
		"print the service's last reply about the status and nothing else, indented; of several files, a line of JSON "+
			"for each")
	f.BoolVar(&a.quiet, "quiet", false,
		"print the ID of the batch and nothing else; the exit code says how it ended")
	a.run.screen.addFlags(c)
	f.StringVar(&a.run.resume, "resume", "", "upload what is missing of `BATCH`, whose upload broke off")
	f.BoolVar(&a.run.inParts, "parts", false, "upload in parts, as files of 64 MiB and more always are")
	f.BoolVar(&a.detach, "detach", false, "end when the upload is complete; do not wait for the end of the batch")
	f.BoolVar(&a.wait, "wait", true, "wait for the end of the batch, which the exit code tells; =false is --detach")
	a.conn.AddFlags(c)
	command.Complete(c, "resume", a.conn.CompleteBatches)
}

// check reports flags that are not valid, or exclude each other. It also sets detach for --wait=false.
func (a *uploadArguments) check(args []string) error {
	if a.detach && a.run.options.flags.Changed("wait") {
		return command.Usagef("give either --wait or --detach")
	}
	a.detach = a.detach || !a.wait
	switch {
	case a.detach && a.reportPath != "":
		return command.Usagef("--report needs the end of the batch, for which --detach does not wait")
	case a.asJSON && a.quiet:
		return command.Usagef("give either --json or --quiet")
	case a.detach && a.run.screen.AlertsPath != "":
		return command.Usagef("--alerts needs the end of the batch, for which --detach does not wait")
	}
	if err := a.run.options.check(); err != nil {
		return err
	}
	if err := a.run.checkResume(); err != nil {
		return err
	}
	if err := a.run.screen.check(); err != nil {
		return err
	}
	if err := files.RequireOneStdin(append(slices.Clone(args), a.conn.SecretFile)...); err != nil {
		return err
	}
	if len(args) > 1 {
		return checkSeveral(args, a.run.options.flags)
	}
	return nil
}

// uploadOne uploads one file and follows its batch.
func (a *uploadArguments) uploadOne(ctx context.Context, path string, stdout io.Writer) error {
	u := &a.run
	var err error
	if u.ui, u.report, err = findings.OpenReport(a.reportPath, stdout, a.asJSON || a.quiet); err != nil {
		return err
	}
	defer u.report.Discard()
	if u.ui, err = u.screen.Open(u.ui, stdout, a.asJSON, a.quiet, u.report.IsStdout()); err != nil {
		return err
	}
	defer u.screen.Alerts.Discard()
	u.path, u.brief, u.detach = path, (a.asJSON || a.quiet) && u.report == nil, a.detach
	if a.quiet {
		u.onBatch = func(id string) { fmt.Fprintln(stdout, id) }
	}
	if err := u.run(ctx); err != nil {
		return u.explain(ctx, err)
	}
	if a.asJSON {
		if err := output.PrintReply(stdout, u.last.Reply); err != nil {
			return err
		}
	}
	if u.rejected {
		return command.Rejected
	}
	return nil
}

// uploadRun is one run of the upload command.
type uploadRun struct {
	client *client.Client
	// conn has the flags of the connection, for messages; nil if there are none.
	conn *service.Connection
	ui   *terminal.Terminal
	path string
	// options say how the service processes the batch.
	options uploadOptions
	// screen says with what names are screened.
	screen uploadScreening
	// report is where to store the report; nil if it is not to be stored.
	report   *files.Output
	interval client.PollInterval
	// brief leaves out what is wrong with the lines.
	brief bool
	// detach ends the run when the upload is complete.
	detach bool
	// resume is the batch whose upload is to be resumed; "" for a new one.
	resume string
	// inParts has the file uploaded in parts, whatever its size.
	inParts bool
	// uploadSlots, if not nil, limits how many runs upload at a time: each puts a value in it while it does.
	uploadSlots chan struct{}
	// onBatch, if not nil, is called with the ID of the batch as soon as it exists.
	onBatch func(id string)
	// onUploaded, if not nil, is called when the service has the file.
	onUploaded func()

	// batchID is "" until the batch exists.
	batchID string
	// sentAll means that all bytes of the file were sent, so that the service may have it even if no answer came.
	sentAll atomic.Bool
	// canResume means that another run of the command can go on with the upload.
	canResume bool
	// uploaded means that the service has the file.
	uploaded bool
	// rejected means that not every transaction was stored.
	rejected bool
	// last is the last status that was read.
	last client.Status
}

// run returns nil when the batch has come to an end, whichever; u.rejected says which.
func (u *uploadRun) run(ctx context.Context) error {
	file, size, err := files.OpenSeekable(ctx, u.path)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := files.CheckLines(file, size, u.path, "sluice upload -")
	if err != nil {
		return err
	}
	request := u.options.request()
	if packed != batch.Identity {
		request.ContentEncoding = string(packed)
	}
	lines := &unpackedLines{ctx: ctx, packed: packed, upload: file, size: size, path: u.path}
	defer lines.Close()
	request.Screening = u.screen.request()
	if err := u.upload(ctx, request, file, size); err != nil {
		return err
	}
	if u.onUploaded != nil {
		u.onUploaded()
	}
	if u.detach {
		u.last, err = u.client.Status(ctx, u.batchID)
		if err == nil {
			u.ui.Printf("The batch continues without this command: %s\n",
				u.conn.CommandLine("status", u.batchID, "--follow"))
		}
		return err
	}
	if u.last, err = follow(ctx, u.client, u.ui, u.batchID, u.interval, true); err != nil {
		return err
	}
	return u.printOutcome(ctx, u.last, lines)
}

// upload uploads the file, or what is missing of it, when it is this run's turn.
func (u *uploadRun) upload(ctx context.Context, request client.UploadOptions, file io.ReaderAt, size int64) error {
	if u.uploadSlots != nil {
		select {
		case u.uploadSlots <- struct{}{}:
			defer func() { <-u.uploadSlots }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if u.resume != "" {
		u.printBatch(u.resume, size)
		return u.resumeUpload(ctx, file, size)
	}
	return u.begin(ctx, request, file, size)
}

// begin creates a batch and uploads its file.
func (u *uploadRun) begin(ctx context.Context, request client.UploadOptions, file io.ReaderAt, size int64) error {
	if err := u.declare(&request, file, size); err != nil {
		return err
	}
	target, err := u.client.CreateUploadWith(ctx, request)
	if err != nil {
		return err
	}
	if err := checkIgnored(target); err != nil {
		return err
	}
	u.printBatch(target.BatchID, size)
	if target.UploadID != "" {
		return u.uploadParts(ctx, file, size)
	}
	return u.uploadFile(ctx, target, file, size)
}

// printBatch prints which batch the file is that of.
func (u *uploadRun) printBatch(batchID string, size int64) {
	u.batchID = batchID
	if u.onBatch != nil {
		u.onBatch(u.batchID)
	}
	u.ui.Printf("Batch %s: %s, %s\n", u.ui.Paint(terminal.Bold, u.batchID), files.DisplayName(u.path),
		terminal.FormatBytes(size))
}

// UploadFile uploads the file by one PUT, with a progress bar.
func (u *uploadRun) uploadFile(ctx context.Context, target client.Upload, file io.ReaderAt, size int64) error {
	progress := terminal.NewProgressBar(u.ui, size)
	var sent atomic.Int64
	err := u.client.UploadFile(ctx, target, file, size, func(n int64) {
		sent.Store(n)
		if n == size {
			u.sentAll.Store(true)
		}
		progress.Update(n, n)
	})
	progress.Clear()
	if err != nil {
		u.canResume = !u.sentAll.Load() && (ctx.Err() != nil || errors.As(err, new(*client.UnreachableError)))
		return err
	}
	u.uploaded = true
	u.ui.PrintStep(terminal.Bold, "uploaded", time.Since(progress.Started),
		"the service has "+terminal.FormatBytes(sent.Load()))
	return nil
}

// FileUpload says how UploadFile uploads a file.
type FileUpload struct {
	RejectOnInvalid bool
	// Brief leaves out the errors of the lines.
	Brief    bool
	Interval client.PollInterval
}

// UploadFile uploads a file, follows its batch to its end, whichever, and returns its ID.
func UploadFile(ctx context.Context, c *client.Client, ui *terminal.Terminal, path string, o FileUpload) (string,
	error) {
	u := uploadRun{client: c, ui: ui, path: path, brief: o.Brief, interval: o.Interval,
		options: uploadOptions{rejectOnInvalid: o.RejectOnInvalid}}
	err := u.run(ctx)
	return u.batchID, err
}
