package batches

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/client"
	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/shared/ingest/report"
)

// allLists takes the place of names of lists: it means all that the tenant has.
const allLists = "all"

// uploadScreening are the flags that have the names of a batch screened by the service.
type uploadScreening struct {
	lists     string
	threshold float64
	onHit     string
	flags     *pflag.FlagSet
	findings.AlertsOutput
}

func (o *uploadScreening) addFlags(c *cobra.Command) {
	f := c.Flags()
	o.flags = f
	f.StringVar(&o.lists, "screen", "", "have the names of unknown entities screened with the tenant's `LISTS`, names "+
		"separated by commas; "+allLists+" means all of them")
	findings.AddScreenFlags(c, &o.threshold, &o.onHit)
	o.AddFlag(f)
}

// check returns an error if flags do not fit together.
func (o *uploadScreening) check() error {
	return findings.CheckScreenFlags(o.flags, o.threshold, o.onHit, o.lists != "",
		"lists to screen with: --screen LISTS")
}

// request returns what the service is asked for; nil if names are not to be screened.
func (o *uploadScreening) request() *client.Screening {
	if o.lists == "" {
		return nil
	}
	in := &client.Screening{Threshold: &o.threshold, OnHit: o.onHit}
	if o.lists != allLists {
		in.Lists = strings.Split(o.lists, ",")
	}
	return in
}

// show fetches the hits of a batch that has ended, shows the first ones, and stores all if they are to be stored.
func (o *uploadScreening) show(ctx context.Context, c *client.Client, ui *terminal.Terminal, last client.Status) error {
	if o.lists == "" {
		return nil
	}
	result, err := c.ScreeningResult(ctx, last.BatchID)
	if err != nil {
		return err
	}
	if result.Hits == nil {
		ui.Printf("The names were not screened.\n")
		return nil
	}
	if result.AlertsFileURL != "" {
		if err := o.fetch(ctx, c, result.AlertsFileURL); err != nil {
			return err
		}
	}
	complete := result.AlertsComplete == nil || *result.AlertsComplete
	return o.Finish(ui, &report.Screening{Names: *result.NamesScreened, Hits: *result.Hits, Complete: complete})
}

// fetch reads the alerts, all of them if they are stored.
func (o *uploadScreening) fetch(ctx context.Context, c *client.Client, url string) error {
	body, err := c.OpenAlerts(ctx, url)
	if err != nil {
		return err
	}
	defer body.Close()
	var in io.Reader = body
	if o.Alerts == nil {
		in = io.LimitReader(body, findings.MaxReadBytes)
	}
	if _, err := io.Copy(o.Writer(), in); err != nil {
		return fmt.Errorf("read the hits: %w", err)
	}
	return nil
}
