package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sluice/client"
	"sluice/internal/command"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What --on-hit takes, as the service's on_hit does.
const (
	onHitReport = "report"
	onHitReject = "reject"
)

// maxShownAlerts is how many alerts are shown if they are not stored.
const maxShownAlerts = 5

// screenOptions are the flags that have names screened while a file is validated.
type screenOptions struct {
	lists     screenRun
	threshold float64
	onHit     string
	flags     *pflag.FlagSet
	alertsOutput
}

// alertsOutput is where the hits of a command go.
type alertsOutput struct {
	alertsPath string
	// alerts is where the alerts go; nil if some are shown only.
	alerts *outputFile
	// shown are the first alerts.
	shown alertPreview
}

// writer returns what the alerts are written to.
func (o *alertsOutput) writer() io.Writer {
	if o.alerts != nil {
		return o.alerts
	}
	return &o.shown
}

func (o *alertsOutput) addFlag(f *pflag.FlagSet) {
	f.StringVar(&o.alertsPath, "alerts", "", "store the hits of --screen in `FILE`, one JSON object each; - is "+
		"standard output, and all else then goes to standard error")
}

func (o *screenOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.flags = f
	f.Func("screen", "screen the names of unknown entities with the list `FORMAT:FILE`, as 'sluice screen' does; "+
		"can be repeated", o.lists.addList)
	addScreenFlags(c, &o.threshold, &o.onHit)
	o.addFlag(f)
}

// addScreenFlags declares the flags that the commands which have names screened share.
func addScreenFlags(c *cobra.Command, threshold *float64, onHit *string) {
	f := c.Flags()
	f.Float64Var(threshold, "threshold", match.Threshold, "`SCORE` that a hit of --screen must reach, 0 to 100")
	f.StringVar(onHit, "on-hit", onHitReport, "what hits of --screen lead to, an `ACTION`: report lists them, "+
		"reject also makes their lines invalid")
	command.Values(c, "on-hit", onHitReport, onHitReject)
}

// isAsked reports whether names are to be screened.
func (o *screenOptions) isAsked() bool { return len(o.lists.lists) > 0 }

// check returns an error if flags do not fit together.
func (o *screenOptions) check() error {
	return checkScreenFlags(o.flags, o.threshold, o.onHit, o.isAsked(), "a list to screen with: --screen FORMAT:FILE")
}

// checkScreenFlags checks the values of the flags that addScreenFlags declares. Flags are all of the command; of those
// that say something of hits, none may be given if names are not screened.
func checkScreenFlags(flags *pflag.FlagSet, threshold float64, onHit string, isAsked bool, lists string) error {
	if err := checkThreshold(threshold); err != nil {
		return err
	}
	if onHit != onHitReport && onHit != onHitReject {
		return command.Usagef("--on-hit is report or reject, not %q", onHit)
	}
	var err error
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "alerts", "on-hit", "threshold":
			if !isAsked {
				err = command.Usagef("--%s needs %s", f.Name, lists)
			}
		}
	})
	return err
}

// checkThreshold returns an error for a score that no hit can have.
func checkThreshold(threshold float64) error {
	if !(threshold >= 0 && threshold <= 100) {
		return command.Usagef("--threshold is 0 to 100, not %v", threshold)
	}
	return nil
}

// open opens the file of the alerts and returns the terminal that remains.
func (o *alertsOutput) open(ui *terminal, stdout io.Writer, asJSON, quiet, reportToStdout bool) (*terminal, error) {
	var err error
	if o.alerts, err = openOutput(o.alertsPath, "the hits", stdout); err != nil || !o.alerts.isStdout() {
		return ui, err
	}
	switch {
	case asJSON || reportToStdout:
		return ui, command.Usagef("--alerts - prints to standard output, as another option does; name a file for " +
			"the hits")
	case quiet:
		return ui, nil
	}
	return newTerminal(os.Stderr), nil
}

// fileScreening reads the lists and returns how a file is screened, or nil if it is not, and what writes the rest of
// the alerts.
func (o *screenOptions) fileScreening() (*validation.FileScreening, func() error, error) {
	if !o.isAsked() {
		return nil, func() error { return nil }, nil
	}
	index, err := o.lists.buildIndex()
	if err != nil {
		return nil, nil, err
	}
	versions := map[string]string{}
	for _, info := range index.Lists {
		versions[info.List] = info.Version
	}
	out := bufio.NewWriterSize(o.writer(), 1<<16)
	return &validation.FileScreening{
		NewScreener: func() validation.Screener {
			screener := match.NewScreener(index)
			return validation.ScreenerFunc(func(name string) ([]report.Hit, error) {
				hits, err := screener.Screen(match.Query{Name: name}, o.threshold)
				return reportHits(hits, versions), err
			})
		},
		Reject: o.onHit == onHitReject,
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

// buildIndex reads the lists that the command line names and makes their index.
func (s *screenRun) buildIndex() (*match.Index, error) {
	var sources []match.Source
	for _, l := range s.lists {
		list, err := watchlist.Read(l.format, watchlist.FileSource(l.path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.path, err)
		}
		for _, problem := range list.Problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", printable(l.path), printable(problem.String()))
		}
		sources = append(sources, match.Source{Name: l.name(), Format: l.format, List: list})
	}
	return match.Build(sources...), nil
}

// finish closes the file of the alerts and says what was found.
func (o *alertsOutput) finish(ui *terminal, s *report.Screening) error {
	if s == nil {
		return nil
	}
	if err := o.alerts.finish(); err != nil {
		return err
	}
	o.shown.print(ui, s.Hits)
	ui.printf("%s\n", formatScreening(ui, s.Names, s.Hits))
	if o.alerts != nil && !o.alerts.isStdout() {
		ui.printf("The hits are in %s.\n", printable(o.alerts.path))
	}
	if !s.Complete {
		ui.printf("The file has the first %s of them.\n", formatBytes(report.DefaultMaxBytes))
	}
	return nil
}

// formatScreening says what the screening of names came to.
func formatScreening(ui *terminal, names, hits int64) string {
	text := formatNumber(names) + " distinct names were screened: "
	if names == 1 {
		text = "1 name was screened: "
	}
	switch hits {
	case 0:
		return text + ui.paint(green, "no hit.")
	case 1:
		return text + ui.paint(red, "1 hit.")
	}
	return text + ui.paint(red, formatNumber(hits)+" hits.")
}

// alertPreview keeps the first alerts that are written to it.
type alertPreview struct {
	alerts  []client.Alert
	partial []byte
}

// Write implements io.Writer.
func (p *alertPreview) Write(b []byte) (int, error) {
	n := len(b)
	for len(p.alerts) < maxShownAlerts && len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			p.partial = append(p.partial, b...)
			break
		}
		var a client.Alert
		if err := json.Unmarshal(append(p.partial, b[:end]...), &a); err != nil {
			return 0, err
		}
		p.alerts, p.partial, b = append(p.alerts, a), nil, b[end+1:]
	}
	return n, nil
}

// print shows the alerts that were kept, of all.
func (p *alertPreview) print(ui *terminal, all int64) {
	for i := range p.alerts {
		a := &p.alerts[i]
		ui.printf("\n%s  %s  %s\n  %5.1f  %s  %s %s\n         %s\n", ui.paint(bold, "line "+formatNumber(a.Line)),
			a.Role, printable(a.FullName), a.Score, printable(a.EntryName), printable(a.List), printable(a.EntryID),
			printable(a.Explanation))
	}
	if more := all - int64(len(p.alerts)); more > 0 && len(p.alerts) > 0 {
		ui.printf("\n... and %s more\n", formatNumber(more))
	}
	if len(p.alerts) > 0 {
		ui.printf("\n")
	}
}
