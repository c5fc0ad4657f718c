package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"sluice/client"
	"sluice/internal/command"
	"sluice/shared/ingest/report"

	"github.com/spf13/cobra"
)

// rejectedOutputs are the files that tell what was rejected, beside the report.
type rejectedOutputs struct {
	csvPath, rejectedPath string
	// csv and rejected are nil if they are not wanted.
	csv, rejected *outputFile
}

func (o *rejectedOutputs) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.csvPath, "csv", "", "store the report as CSV in `FILE`, a record for each error; - is standard "+
		"output, and all else then goes to standard error")
	f.StringVar(&o.rejectedPath, "rejected", "",
		"store the rejected lines in `FILE`, as they were sent, to be mended and sent again; - is standard output, "+
			"and all else then goes to standard error")
}

// open opens the files and returns the terminal that remains.
func (o *rejectedOutputs) open(ui *terminal, stdout io.Writer, silent, reportToStdout bool) (*terminal, error) {
	var err error
	if o.csv, err = openOutput(o.csvPath, "the report as CSV", stdout); err != nil {
		return ui, err
	}
	if o.rejected, err = openOutput(o.rejectedPath, "the rejected lines", stdout); err != nil {
		return ui, err
	}
	switch {
	case !o.isStdout():
		return ui, nil
	case silent || reportToStdout || o.csv.isStdout() && o.rejected.isStdout():
		return ui, command.Usagef("give at most one of --json, --report -, --csv - and --rejected -: each takes " +
			"standard output")
	}
	return newTerminal(os.Stderr), nil
}

// isStdout reports whether one of the files takes standard output.
func (o *rejectedOutputs) isStdout() bool { return o.csv.isStdout() || o.rejected.isStdout() }

// discard closes the files that are not finished.
func (o *rejectedOutputs) discard() {
	o.csv.discard()
	o.rejected.discard()
}

// fetch stores the files of a batch.
func (o *rejectedOutputs) fetch(ctx context.Context, c *client.Client, ui *terminal, r client.ValidationResult) error {
	leftOut := int64(0)
	if r.RejectedLeftOut != nil {
		leftOut = *r.RejectedLeftOut
	}
	allValid := r.Valid != nil && *r.Valid
	switch {
	case o.csv == nil:
	case r.ErrorsCSVURL != "":
		if err := fetchTo(o.csv, func() (io.ReadCloser, error) { return c.OpenCSV(ctx, r.ErrorsCSVURL) }); err != nil {
			return err
		}
	case allValid:
		if _, err := io.WriteString(o.csv, report.CSVHeader); err != nil {
			return err
		}
	default:
		ui.printf("There is no report as CSV.\n")
		o.csv.discard()
		o.csv = nil
	}
	switch {
	case o.rejected == nil:
	case r.RejectedFileURL != "":
		err := fetchTo(o.rejected, func() (io.ReadCloser, error) { return c.OpenRejected(ctx, r.RejectedFileURL) })
		if err != nil {
			return err
		}
	case !allValid && leftOut == 0:
		ui.printf("There is no file of rejected lines.\n")
		o.rejected.discard()
		o.rejected = nil
	}
	return o.finish(ui, leftOut)
}

// fetchTo writes what open opens to an output.
func fetchTo(out *outputFile, open func() (io.ReadCloser, error)) error {
	body, err := open()
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(out, body)
	return err
}

// writers returns what the files are written to, nil for one that is not wanted, and what writes the rest.
func (o *rejectedOutputs) writers() (csv, rejected io.Writer, flush func() error) {
	var all []*bufio.Writer
	buffered := func(out *outputFile) io.Writer {
		if out == nil {
			return nil
		}
		w := bufio.NewWriterSize(out, 1<<18)
		all = append(all, w)
		return w
	}
	csv, rejected = buffered(o.csv), buffered(o.rejected)
	return csv, rejected, func() error {
		var errs []error
		for _, w := range all {
			errs = append(errs, w.Flush())
		}
		return errors.Join(errs...)
	}
}

// finish closes the files and prints where they are. The argument leftOut is the number of rejected lines that are not
// in their file because they are too long.
func (o *rejectedOutputs) finish(ui *terminal, leftOut int64) error {
	if err := errors.Join(o.csv.finish(), o.rejected.finish()); err != nil {
		return err
	}
	if o.csv != nil && !o.csv.isStdout() {
		ui.printf("The report as CSV is in %s.\n", o.csv.path)
	}
	if o.rejected != nil && !o.rejected.isStdout() {
		ui.printf("The rejected lines are in %s.\n", o.rejected.path)
	}
	if o.rejected != nil && leftOut > 0 {
		ui.printf("%s too long.\n", countNoun(leftOut, "rejected line is left out there, because it is",
			"rejected lines are left out there, because they are"))
	}
	return nil
}
