package validator

import (
	"bufio"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sluice/cmd/sluice/internal/findings"
	"sluice/cmd/sluice/internal/screening"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/validation"
	"sluice/shared/screening/match"
)

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
