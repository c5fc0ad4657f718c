package batches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/ingest/batch"
)

// uploadOptions are the flags that say how the service processes a batch.
type uploadOptions struct {
	rejectOnInvalid bool
	maxRejected     string
	validateOnly    bool
	onDuplicate     string
	name            string
	metadata        map[string]string
	flags           *pflag.FlagSet
}

func (o *uploadOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.flags = f
	f.BoolVar(&o.rejectOnInvalid, "reject-on-invalid", true,
		"one invalid line rejects the whole batch; =false drops invalid lines only")
	f.StringVar(&o.maxRejected, "max-rejected", "",
		"drop invalid lines, but reject the batch if more than `LIMIT` are invalid: a number, or a share such as 0.5%")
	f.BoolVar(&o.validateOnly, "validate-only", false, "have the service validate the batch and store nothing of it")
	f.StringVar(&o.onDuplicate, "on-duplicate", client.AcceptDuplicate,
		"`accept` or reject a file that was processed within 30 days; reject_open: also one that is being processed")
	command.Values(c, "on-duplicate", duplicateTreatments...)
	f.StringVar(&o.name, "name", "", "call the batch `NAME`, up to 128 characters")
	f.Func("metadata", "attach `KEY=VALUE` to the batch; can be repeated, up to 16 times", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return fmt.Errorf("write it as KEY=VALUE")
		}
		if _, known := o.metadata[key]; known {
			return fmt.Errorf("the key %s was given before", key)
		}
		if o.metadata == nil {
			o.metadata = map[string]string{}
		}
		o.metadata[key] = value
		return nil
	})
}

// check returns an error if flags do not fit together.
func (o *uploadOptions) check() error {
	isGiven := o.flags.Changed
	switch {
	case isGiven("max-rejected") && isGiven("reject-on-invalid") && o.rejectOnInvalid:
		return command.Usagef("--max-rejected excludes --reject-on-invalid; give one of them")
	case isGiven("max-rejected") && o.maxRejected == "":
		return command.Usagef("--max-rejected needs a number, or a share such as 0.5%%")
	case !slices.Contains(duplicateTreatments, o.onDuplicate):
		return command.Usagef("--on-duplicate is accept, reject or reject_open, not %q", o.onDuplicate)
	case isGiven("name") && o.name == "":
		return command.Usagef("--name needs a name")
	}
	return nil
}

var duplicateTreatments = []string{client.AcceptDuplicate, client.RejectDuplicate, client.RejectOpenDuplicate}

// request returns what the service is asked for, without the screening of names.
func (o *uploadOptions) request() client.UploadOptions {
	out := client.UploadOptions{RejectOnInvalid: o.rejectOnInvalid, ValidateOnly: o.validateOnly, Name: o.name,
		Metadata: o.metadata}
	if o.onDuplicate != client.AcceptDuplicate { // releases that do not know it accept
		out.OnDuplicate = o.onDuplicate
	}
	if o.maxRejected != "" {
		limit := client.ParseRejectLimit(o.maxRejected)
		out.RejectOnInvalid, out.MaxRejected = false, &limit
	}
	return out
}

// checkIgnored returns an error if the service has ignored something that it was asked for.
func checkIgnored(u client.Upload) error {
	if len(u.IgnoredParameters) == 0 {
		return nil
	}
	return fmt.Errorf("the service does not know %s; nothing was uploaded",
		linefile.Printable(strings.Join(u.IgnoredParameters, ", ")))
}

// printLabels prints what the client calls a batch and says of it.
func printLabels(ui *terminal.Terminal, name string, metadata map[string]string) {
	if name != "" {
		ui.Printf("name %s\n", linefile.Printable(name))
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		ui.Printf("%s=%s\n", linefile.Printable(key), linefile.Printable(metadata[key]))
	}
}

// printDuplicate prints which batch had the same file before.
func printDuplicate(ui *terminal.Terminal, s client.Status) {
	if s.DuplicateOf != nil {
		ui.Printf("the same file as batch %s\n", linefile.Printable(wire.OrZero(s.DuplicateOf)))
	}
}

// printHistory prints the statuses that a batch has had.
func printHistory(ui *terminal.Terminal, s client.Status) {
	for _, entry := range s.History {
		ui.Printf("  %s  %s\n", entry.At.Format(timeFormat), linefile.Printable(entry.Status))
	}
}

// unpackedLines are the lines of a file that is uploaded. A packed one is unpacked when a line is read for the first
// time.
type unpackedLines struct {
	// ctx is the command's context, since the methods of io.ReaderAt take none.
	ctx    context.Context
	upload *os.File
	size   int64
	path   string
	packed batch.Encoding

	once sync.Once
	// content is upload itself if it is not packed.
	content *os.File
	err     error
}

// ReadAt reads unpacked bytes.
func (u *unpackedLines) ReadAt(p []byte, at int64) (int, error) {
	u.once.Do(func() {
		if u.content = u.upload; u.packed != batch.Identity {
			u.content, _, u.err = files.UnpackFile(u.ctx, u.upload, u.size, u.packed, u.path)
		}
	})
	if u.err != nil {
		return 0, u.err
	}
	return u.content.ReadAt(p, at)
}

// Close removes what was unpacked. It does not close the uploaded file.
func (u *unpackedLines) Close() error {
	if u.content == nil || u.content == u.upload {
		return nil
	}
	return u.content.Close()
}

// printOutcome prints the final status of the batch and its errors.
func (u *uploadRun) printOutcome(ctx context.Context, last client.Status, lines io.ReaderAt) error {
	result, err := u.client.ValidationResult(ctx, u.batchID)
	if err != nil {
		return err
	}
	u.rejected = last.Status != client.StatusProcessed || result.Valid == nil || !*result.Valid
	if last.ErrorMessage != "" {
		u.ui.Printf("%s\n", u.ui.Paint(terminal.Red, linefile.Printable(last.ErrorMessage)))
	}
	counts := last.Counts
	if counts.Total == nil {
		counts = wire.OrZero(result.Counts)
	}
	printDuplicate(u.ui, last)
	printCounts(u.ui, counts)
	if err := u.screen.show(ctx, u.client, u.ui, last); err != nil {
		return err
	}
	if u.brief {
		return nil
	}
	return findings.ShowReport(ctx, u.client, u.ui, result, lines, u.report)
}

// explain adds to the error of a run what became of the batch and how to continue.
func (u *uploadRun) explain(ctx context.Context, err error) error {
	switch {
	case u.isResumable(ctx, err) && ctx.Err() != nil:
		return u.resumableError(command.ErrInterrupted)
	case u.isResumable(ctx, err):
		return u.resumableError(err)
	case ctx.Err() != nil && u.uploaded:
		return continuesError(command.ErrInterrupted, u.conn, u.batchID)
	case ctx.Err() != nil && u.sentAll.Load():
		return u.unknownError(command.ErrInterrupted)
	case ctx.Err() != nil && u.uploadSlots != nil:
		return fmt.Errorf("%w; it was not uploaded", command.ErrInterrupted)
	case ctx.Err() != nil:
		return fmt.Errorf("%w; nothing was stored, run the same command again to start over", command.ErrInterrupted)
	case u.last.IsTerminal():
		return fmt.Errorf("%w; the batch has ended in %s, and this fetches its report: %s", err, u.last.Status,
			u.conn.CommandLine("results", u.batchID, "--report", "FILE"))
	case u.uploaded:
		return continuesError(err, u.conn, u.batchID)
	case u.sentAll.Load() && errors.As(err, new(*client.UnreachableError)):
		return u.unknownError(err)
	}
	return err
}

// unknownError is the error of a command that has sent a file and does not know whether it has arrived.
func (u *uploadRun) unknownError(cause error) error {
	return fmt.Errorf("%w; whether the service has the file is not known, but this says it: %s", cause,
		u.conn.CommandLine("status", u.batchID))
}
