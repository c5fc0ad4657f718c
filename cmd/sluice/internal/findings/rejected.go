package findings

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/openapi/wire"
	"sluice/shared/ingest/report"
)

// RejectedOutputs are the files that tell what was rejected, beside the report.
type RejectedOutputs struct {
	csvPath, rejectedPath string
	// csv and rejected are nil if they are not wanted.
	csv, Rejected *files.Output
}

func (o *RejectedOutputs) AddFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.csvPath, "csv", "", "store the report as CSV in `FILE`, a record for each error; - is standard "+
		"output, and all else then goes to standard error")
	f.StringVar(&o.rejectedPath, "rejected", "",
		"store the rejected lines in `FILE`, as they were sent, to be mended and sent again; - is standard output, "+
			"and all else then goes to standard error")
}

// Open opens the files and returns the terminal that remains.
func (o *RejectedOutputs) Open(ui *terminal.Terminal, stdout io.Writer, silent,
	reportToStdout bool) (*terminal.Terminal, error) {
	var err error
	if o.csv, err = files.OpenOutput(o.csvPath, "the report as CSV", stdout); err != nil {
		return ui, err
	}
	if o.Rejected, err = files.OpenOutput(o.rejectedPath, "the rejected lines", stdout); err != nil {
		return ui, err
	}
	switch {
	case !o.IsStdout():
		return ui, nil
	case silent || reportToStdout || o.csv.IsStdout() && o.Rejected.IsStdout():
		return ui, command.Usagef("give at most one of --json, --report -, --csv - and --rejected -: each takes " +
			"standard output")
	}
	return terminal.New(os.Stderr), nil
}

// IsStdout reports whether one of the files takes standard output.
func (o *RejectedOutputs) IsStdout() bool { return o.csv.IsStdout() || o.Rejected.IsStdout() }

// Discard closes the files that are not finished.
func (o *RejectedOutputs) Discard() {
	o.csv.Discard()
	o.Rejected.Discard()
}

// Fetch stores the files of a batch.
func (o *RejectedOutputs) Fetch(ctx context.Context, c *client.Client, ui *terminal.Terminal,
	r client.ValidationResult) error {
	leftOut, allValid := wire.OrZero(r.RejectedLeftOut), wire.OrZero(r.Valid)
	switch {
	case o.csv == nil:
	case r.ErrorsCSVURL != nil:
		if err := fetchTo(o.csv, func() (io.ReadCloser, error) { return c.OpenCSV(ctx, *r.ErrorsCSVURL) }); err != nil {
			return err
		}
	case allValid:
		if _, err := io.WriteString(o.csv, report.CSVHeader); err != nil {
			return err
		}
	default:
		ui.Printf("There is no report as CSV.\n")
		o.csv.Discard()
		o.csv = nil
	}
	switch {
	case o.Rejected == nil:
	case r.RejectedFileURL != nil:
		err := fetchTo(o.Rejected, func() (io.ReadCloser, error) { return c.OpenRejected(ctx, *r.RejectedFileURL) })
		if err != nil {
			return err
		}
	case !allValid && leftOut == 0:
		ui.Printf("There is no file of rejected lines.\n")
		o.Rejected.Discard()
		o.Rejected = nil
	}
	return o.Finish(ui, leftOut)
}

// fetchTo writes what open opens to an output.
func fetchTo(out *files.Output, open func() (io.ReadCloser, error)) error {
	body, err := open()
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(out, body)
	return err
}

// Writers returns what the files are written to, nil for one that is not wanted, and what writes the rest.
func (o *RejectedOutputs) Writers() (csv, rejected io.Writer, flush func() error) {
	var all []*bufio.Writer
	buffered := func(out *files.Output) io.Writer {
		if out == nil {
			return nil
		}
		w := bufio.NewWriterSize(out, 1<<18)
		all = append(all, w)
		return w
	}
	csv, rejected = buffered(o.csv), buffered(o.Rejected)
	return csv, rejected, func() error {
		var errs []error
		for _, w := range all {
			errs = append(errs, w.Flush())
		}
		return errors.Join(errs...)
	}
}

// Finish closes the files and prints where they are. The argument leftOut is the number of rejected lines that are not
// in their file because they are too long.
func (o *RejectedOutputs) Finish(ui *terminal.Terminal, leftOut int64) error {
	if err := errors.Join(o.csv.Finish(), o.Rejected.Finish()); err != nil {
		return err
	}
	if o.csv != nil && !o.csv.IsStdout() {
		ui.Printf("The report as CSV is in %s.\n", o.csv.Path)
	}
	if o.Rejected != nil && !o.Rejected.IsStdout() {
		ui.Printf("The rejected lines are in %s.\n", o.Rejected.Path)
	}
	if o.Rejected != nil && leftOut > 0 {
		ui.Printf("%s too long.\n", terminal.CountNoun(leftOut, "rejected line is left out there, because it is",
			"rejected lines are left out there, because they are"))
	}
	return nil
}
