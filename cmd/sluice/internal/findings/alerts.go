package findings

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/files"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/linefile"
	"sluice/shared/ingest/report"
	"sluice/shared/screening/match"
)

// What --on-hit takes, as the service's on_hit does.
const (
	OnHitReport = "report"
	OnHitReject = "reject"
)

// maxShownAlerts is how many alerts are shown if they are not stored.
const maxShownAlerts = 5

// AlertsOutput is where the hits of a command go.
type AlertsOutput struct {
	AlertsPath string
	// Alerts is where the alerts go; nil if some are shown only.
	Alerts *files.Output
	// shown are the first alerts.
	shown alertPreview
}

// Writer returns what the alerts are written to.
func (o *AlertsOutput) Writer() io.Writer {
	if o.Alerts != nil {
		return o.Alerts
	}
	return &o.shown
}

func (o *AlertsOutput) AddFlag(f *pflag.FlagSet) {
	f.StringVar(&o.AlertsPath, "alerts", "", "store the hits of --screen in `FILE`, one JSON object each; - is "+
		"standard output, and all else then goes to standard error")
}

// AddScreenFlags declares the flags that the commands which have names screened share.
func AddScreenFlags(c *cobra.Command, threshold *float64, onHit *string) {
	f := c.Flags()
	f.Float64Var(threshold, "threshold", match.Threshold, "`SCORE` that a hit of --screen must reach, 0 to 100")
	f.StringVar(onHit, "on-hit", OnHitReport, "what hits of --screen lead to, an `ACTION`: report lists them, "+
		"reject also makes their lines invalid")
	command.Values(c, "on-hit", OnHitReport, OnHitReject)
}

// CheckScreenFlags checks the values of the flags that AddScreenFlags declares. Flags are all of the command; of those
// that say something of hits, none may be given if names are not screened.
func CheckScreenFlags(flags *pflag.FlagSet, threshold float64, onHit string, isAsked bool, lists string) error {
	if err := screening.CheckThreshold(threshold); err != nil {
		return err
	}
	if onHit != OnHitReport && onHit != OnHitReject {
		return command.Usagef("--on-hit is report or reject, not %q", onHit)
	}
	if name := command.GivenFlag(flags, "alerts", "on-hit", "threshold"); name != "" && !isAsked {
		return command.Usagef("--%s needs %s", name, lists)
	}
	return nil
}

// Open opens the file of the alerts and returns the terminal that remains.
func (o *AlertsOutput) Open(ui *terminal.Terminal, stdout io.Writer, asJSON, quiet,
	reportToStdout bool) (*terminal.Terminal, error) {
	var err error
	if o.Alerts, err = files.OpenOutput(o.AlertsPath, "the hits", stdout); err != nil || !o.Alerts.IsStdout() {
		return ui, err
	}
	switch {
	case asJSON || reportToStdout:
		return ui, command.Usagef("--alerts - prints to standard output, as another option does; name a file for " +
			"the hits")
	case quiet:
		return ui, nil
	}
	return terminal.New(os.Stderr), nil
}

// Finish closes the file of the alerts and says what was found.
func (o *AlertsOutput) Finish(ui *terminal.Terminal, s *report.Screening) error {
	if s == nil {
		return nil
	}
	if err := o.Alerts.Finish(); err != nil {
		return err
	}
	o.shown.print(ui, s.Hits)
	ui.Printf("%s\n", formatScreening(ui, s.Names, s.Hits))
	if o.Alerts != nil && !o.Alerts.IsStdout() {
		ui.Printf("The hits are in %s.\n", linefile.Printable(o.Alerts.Path))
	}
	if !s.Complete {
		ui.Printf("The file has the first %s of them.\n", terminal.FormatBytes(report.DefaultMaxBytes))
	}
	return nil
}

// formatScreening says what the screening of names came to.
func formatScreening(ui *terminal.Terminal, names, hits int64) string {
	text := terminal.FormatNumber(names) + " distinct names were screened: "
	if names == 1 {
		text = "1 name was screened: "
	}
	switch hits {
	case 0:
		return text + ui.Paint(terminal.Green, "no hit.")
	case 1:
		return text + ui.Paint(terminal.Red, "1 hit.")
	}
	return text + ui.Paint(terminal.Red, terminal.FormatNumber(hits)+" hits.")
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
func (p *alertPreview) print(ui *terminal.Terminal, all int64) {
	for i := range p.alerts {
		a := &p.alerts[i]
		ui.Printf("\n%s  %s  %s\n  %5.1f  %s  %s %s\n         %s\n", ui.Paint(terminal.Bold,
			"line "+terminal.FormatNumber(a.Line)),
			a.Role, linefile.Printable(a.FullName), a.Score, linefile.Printable(a.EntryName),
			linefile.Printable(a.List), linefile.Printable(a.EntryID),
			linefile.Printable(a.Explanation))
	}
	if more := all - int64(len(p.alerts)); more > 0 && len(p.alerts) > 0 {
		ui.Printf("\n... and %s more\n", terminal.FormatNumber(more))
	}
	if len(p.alerts) > 0 {
		ui.Printf("\n")
	}
}
