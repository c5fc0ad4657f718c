// Package validator is the command that validates a batch before it is uploaded.
package validator

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/screening/match"
)

func Command() *cobra.Command {
	v := validateRun{now: time.Now()}
	c := &cobra.Command{
		Use:   "validate FILE",
		Short: "find every error of every line, before anything is uploaded",
		Long: `
Validates with the service's own code: strict JSON, the whole schema, duplicates across the file. FILE holds one
transaction a line (JSON Lines), and may be packed with gzip or zstd; - is standard input. Without --entities, whether
entities exist is not checked. All cores are used; GOMAXPROCS=1 in the environment makes it one.

--json prints {"valid", "message", "counts": {"total", "accepted", "invalid"}, "codes": {CODE: {"count", "examples":
[{"line", "pointer", "message", "offset"}]}}, "report_complete", "summary": [{"code", "field", "count", "share",
"first_lines"}]}, with --rejected "rejected_left_out", and with --screen "names_screened" and "hits".

--screen compares the names of the entities that the lines describe themselves (full_name of unknown) with lists, as the
service does for a batch with screen_unknown; each distinct name once. FORMAT is as in 'sluice screen'. Hits do not make
lines invalid unless --on-hit reject says so.`,
		Example: `
sluice validate batch.jsonl
sluice validate batch.jsonl --entities batch.jsonl.entities --report errors.jsonl
sluice validate batch.jsonl --rejected mend.jsonl --csv errors.csv
sluice validate batch.jsonl.gz
sluice validate batch.jsonl --screen un-xml:consolidated.xml --alerts hits.jsonl`,
		RunE: command.Run(func(ctx context.Context, args []string, stdout io.Writer) error {
			defer v.discard()
			if err := v.open(args[0], stdout); err != nil {
				return err
			}
			summary, err := v.run(ctx, args[0])
			switch {
			case ctx.Err() != nil:
				return fmt.Errorf("%w; the file was not validated", command.ErrInterrupted)
			case err != nil:
				return err
			}
			if v.asJSON {
				if err := v.printSummary(stdout, summary); err != nil {
					return err
				}
			}
			if summary.Counts.Invalid > 0 || summary.Counts.Total == 0 {
				return command.Rejected
			}
			return nil
		}),
	}
	v.addFlags(c)
	return c
}

// validateRun is one run of the validate command.
type validateRun struct {
	ui *terminal.Terminal
	// now takes the place of the receipt time.
	now time.Time
	// entitiesPath names the file of known entities; if it is "", whether entities exist is not checked.
	entitiesPath string
	// asJSON prints the outcome as JSON and nothing else, quiet prints nothing.
	asJSON, quiet bool
	// byPaymentType sets mainEntity to tenancy.ByPaymentType.
	byPaymentType bool
	// reportPath names the file of the report; "" for none. report is that file, nil until open has opened it.
	reportPath string
	report     *files.Output
	files      findings.RejectedOutputs
	mainEntity tenancy.MainEntityRule
	// screen says with what names are screened.
	screen screenOptions
}

func (v *validateRun) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&v.entitiesPath, "entities", "",
		"`FILE` of known entities, one {\"id\": \"...\", \"status\": \"Compliant\"} a line, as for "+
			"'sluice admin entities import'; - is standard input")
	findings.AddReportFlag(f, &v.reportPath)
	v.files.AddFlags(c)
	f.BoolVar(&v.asJSON, "json", false, "print the outcome as JSON and nothing else")
	f.BoolVar(&v.quiet, "quiet", false, "print nothing; the exit code says whether every line is valid")
	f.BoolVar(&v.byPaymentType, "main-entity-by-type", false,
		"the main entity of a payin is its receiver, of all others the sender")
	v.screen.addFlags(c)
}

// open checks the options and opens the outputs that they ask for, which discard closes.
func (v *validateRun) open(path string, stdout io.Writer) (err error) {
	if v.asJSON && v.quiet {
		return command.Usagef("give either --json or --quiet")
	}
	if err := files.RequireOneStdin(path, v.entitiesPath); err != nil {
		return err
	}
	if err := v.screen.check(); err != nil {
		return err
	}
	if v.ui, v.report, err = findings.OpenReport(v.reportPath, stdout, v.asJSON); err != nil {
		return err
	}
	if v.ui, err = v.files.Open(v.ui, stdout, v.asJSON, v.report.IsStdout()); err != nil {
		return err
	}
	toStdout := v.report.IsStdout() || v.files.IsStdout()
	if v.ui, err = v.screen.Open(v.ui, stdout, v.asJSON, v.quiet, toStdout); err != nil {
		return err
	}
	if v.quiet {
		v.ui = terminal.New(io.Discard)
	}
	if v.byPaymentType {
		v.mainEntity = tenancy.ByPaymentType
	}
	return nil
}

// discard removes the outputs that were not finished. It can be called whether they were opened or not.
func (v *validateRun) discard() {
	v.report.Discard()
	v.files.Discard()
	v.screen.Alerts.Discard()
}

// screenOptions are the flags that have names screened while a file is validated.
type screenOptions struct {
	lists     screening.Lists
	threshold float64
	onHit     string
	flags     *pflag.FlagSet
	findings.AlertsOutput
}

func (o *screenOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.flags = f
	f.Func("screen", "screen the names of unknown entities with the list `FORMAT:FILE`, as 'sluice screen' does; "+
		"can be repeated", o.lists.Add)
	findings.AddScreenFlags(c, &o.threshold, &o.onHit)
	o.AddFlag(f)
}

// isAsked reports whether names are to be screened.
func (o *screenOptions) isAsked() bool { return len(o.lists) > 0 }

// check returns an error if flags do not fit together.
func (o *screenOptions) check() error {
	return findings.CheckScreenFlags(o.flags, o.threshold, o.onHit, o.isAsked(),
		"a list to screen with: --screen FORMAT:FILE")
}

// fileScreening reads the lists and returns how a file is screened, or nil if it is not, and what writes the rest of
// the alerts.
func (o *screenOptions) fileScreening() (*validation.FileScreening, func() error, error) {
	if !o.isAsked() {
		return nil, func() error { return nil }, nil
	}
	index, err := o.lists.Build()
	if err != nil {
		return nil, nil, err
	}
	versions := map[string]string{}
	for _, info := range index.Lists {
		versions[info.List] = info.Version
	}
	out := bufio.NewWriterSize(o.Writer(), 1<<16)
	return &validation.FileScreening{
		NewScreener: func() validation.Screener {
			screener := match.NewScreener(index)
			return validation.ScreenerFunc(func(name string) ([]report.Hit, error) {
				hits, err := screener.Screen(match.Query{Name: name}, o.threshold)
				return reportHits(hits, versions), err
			})
		},
		Reject: o.onHit == findings.OnHitReject,
		Alerts: out,
	}, out.Flush, nil
}

func reportHits(hits []match.Hit, versions map[string]string) []report.Hit {
	var out []report.Hit
	for _, h := range hits {
		out = append(out, report.Hit{List: h.List, Version: versions[h.List], EntryID: h.ID, EntryName: h.Name,
			Score: h.Score, Explanation: h.Explanation})
	}
	return out
}
