package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/service"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/figures"
	"sluice/internal/localcloud"
	"sluice/shared/ingest/batch"
)

// watchInterval is the time between two tables of 'sluice metrics --watch'.
const watchInterval = 2 * time.Second

func metricsCommand() *cobra.Command {
	var data, batchID string
	var since time.Duration
	var asJSON, watch bool
	c := &cobra.Command{
		Use:   "metrics",
		Short: "show what a local cloud has done, and how fast",
		Long: `
The figures are those of the log of the local cloud's functions, from the same lines from which CloudWatch takes
metrics. Lines and bytes a second are by the time in which at least one run of the step was in progress; p50 and p99 are
of the latest 10,000 runs. A run that was repeated counts again.`,
		Example: `
sluice metrics
sluice metrics --watch --since 1m
sluice metrics --json --batch 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01`,
		Annotations: command.Notes("A local cloud that is started with 'sluice local --metrics ADDRESS' serves the " +
			"same figures to Prometheus."),
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			options := figures.Options{Batch: batchID, Prefix: PrefixOf(data)}
			if batchID != "" {
				if _, err := batch.ParseID(batchID); err != nil {
					return command.Usagef("--batch: %q is not the ID of a batch", batchID)
				}
			}
			if since < 0 {
				return command.Usagef("--since is how long ago, 10m for example, not %v", since)
			}
			if since > 0 {
				options.Since = time.Now().Add(-since)
			}
			log, err := figures.OpenLog(data, options)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("no local cloud has run on %s: start one with 'sluice local --data %s'", data, data)
			} else if err != nil {
				return err
			}
			defer log.Close()
			m := metricsView{log: log, out: terminal.New(stdout), asJSON: asJSON, watched: watch}
			return m.show(ctx)
		}),
	}
	f := c.Flags()
	f.StringVar(&data, "data", cmp.Or(os.Getenv("SLUICE_DATA"), localcloud.DefaultDataDir),
		"data `DIR` of the local cloud; $SLUICE_DATA sets the default")
	f.DurationVar(&since, "since", 0, "only what is younger than a `DURATION` such as 10m (default all)")
	f.StringVar(&batchID, "batch", "", "only the steps of the batch with this `ID`")
	f.BoolVar(&watch, "watch", false, "show the figures again every two seconds, until Ctrl-C")
	f.BoolVar(&asJSON, "json", false, "print the figures as JSON, with --watch one object a line")
	return c
}

// PrefixOf returns what begins the names of functions of the local cloud on a data folder.
func PrefixOf(data string) string {
	if d, err := localcloud.Read(data); err == nil && d.Prefix != "" {
		return d.Prefix
	}
	return "sluice"
}

// metricsView shows the figures of a log that may be growing.
type metricsView struct {
	log             *figures.Log
	out             *terminal.Terminal
	asJSON, watched bool
}

// show prints the figures once or, if they are watched, until the context ends.
func (m *metricsView) show(ctx context.Context) error {
	for {
		s, err := m.log.Snapshot(time.Now())
		if err != nil {
			return err
		}
		switch {
		case m.asJSON:
			err = m.printJSON(s)
		default:
			if m.watched && m.out.Tty != nil {
				m.out.Printf("\x1b[H\x1b[2J") // clears the screen
			}
			printFigures(m.out, s)
		}
		if err != nil || !m.watched {
			return err
		}
		if service.Sleep(ctx, watchInterval) != nil {
			return nil
		}
	}
}

func (m *metricsView) printJSON(s figures.Snapshot) error {
	text, err := json.Marshal(s)
	if err == nil && !m.watched {
		text, err = json.MarshalIndent(s, "", "  ")
	}
	if err == nil {
		m.out.Printf("%s\n", text)
	}
	return err
}
