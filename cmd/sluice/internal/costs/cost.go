// Package costs is the command that estimates the costs of batches.
package costs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/internal/cost"
)

// The values of --scanner and --table-class. The latter are those of the template's parameter.
var (
	costScanners = []string{"guardduty", "clamd"}
	tableClasses = []string{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}
)

func Command() *cobra.Command {
	var r costRun
	c := &cobra.Command{
		Use:   "cost",
		Short: "estimate what batches cost on AWS, once and every month",
		Long: `
Counts what the service uses for batches of equal size (requests, units, transitions, bytes) and multiplies it by list
prices. What is marked as counted is held by tests to requests of real batches, whose lines are all valid; what is
marked as assumed is to be measured in an account. Free tiers, taxes, transfer of data and what stands idle are left
out.`,
		Example: `
sluice cost --lines 1800000 --bytes 2053800000
sluice cost --lines 1800000000 --bytes 2053800000000 --batches 1000 --months 12 --retention-days 90
sluice cost --lines 1000000 --bytes 1141000000 --months 24 --table-class STANDARD_INFREQUENT_ACCESS --json
sluice cost --lines 1800000 --bytes 2053800000 --packed 530000000 --parquet --months 12
sluice cost --lines 180000000 --bytes 205380000000 --batches 100 --peak 0.6 --min-units 1000`,
		RunE: command.Run(func(_ context.Context, _ []string, stdout io.Writer) error {
			if err := r.check(); err != nil {
				return err
			}
			return r.run(stdout)
		}),
	}
	r.addFlags(c)
	return c
}

// costRun is one run of the command cost.
type costRun struct {
	load cost.Load
	// scanner is one of costScanners, and class one of tableClasses.
	scanner, class string
	// priceFile is "" for the prices that the program has.
	priceFile string
	asJSON    bool
}

func (c *costRun) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&c.load.Lines, "lines", 0, "`N` lines of all batches, required")
	f.Int64Var(&c.load.Bytes, "bytes", 0, "`N` bytes of all batches, required")
	f.Int64Var(&c.load.Batches, "batches", 1, "`N` batches")
	f.Float64Var(&c.load.Months, "months", 1, "`N` months to look at, from the upload on")
	f.Float64Var(&c.load.RetentionDays, "retention-days", 0,
		"`N` days for which lines are stored; 0 for ever (default 0)")
	f.Float64Var(&c.load.Invalid, "invalid", 0,
		"`SHARE` of invalid lines, which are reported and not stored, 0 to 1 (default 0)")
	f.Int64Var(&c.load.PackedBytes, "packed", 0,
		"`N` bytes of all files as they are uploaded in gzip or zstd (default: they are not packed)")
	f.BoolVar(&c.load.Parquet, "parquet", false, "the accepted lines are also written as Parquet files")
	f.Float64Var(&c.load.ParquetDays, "parquet-days", 0,
		"`N` days for which Parquet files are kept; 0 for ever (default 0)")
	f.StringVar(&c.scanner, "scanner", "guardduty",
		"`SCANNER` of uploads: guardduty or clamd, whose machines are yours")
	f.StringVar(&c.class, "table-class", "STANDARD",
		"`CLASS` of the table of lines: STANDARD or STANDARD_INFREQUENT_ACCESS")
	f.Float64Var(&c.load.ItemBytes, "item-bytes", 0,
		"`N` bytes of a stored line (default by the length of lines)")
	f.Float64Var(&c.load.LineUnits, "line-units", 0,
		"`N` write units of a stored line (default by its bytes, usually 1)")
	f.Float64Var(&c.load.Day.Target, "use", 0.7,
		"`SHARE` of provisioned write units that is used, 0.2 to 0.9; TransactionsTargetUse")
	f.Float64Var(&c.load.Day.Peak, "peak", 0,
		"the load is that of one day, and `SHARE` of it comes in four hours; provisioned units follow it (default 0)")
	f.Float64Var(&c.load.Day.Min, "min-units", 1000, "`N` provisioned write units at least; TransactionsMinCapacity")
	f.Float64Var(&c.load.Day.Max, "max-units", 40_000, "`N` provisioned write units at most; TransactionsMaxCapacity")
	f.StringVar(&c.priceFile, "price-file", "",
		"`FILE` with other prices, in the form of internal/cost/prices.json")
	f.BoolVar(&c.asJSON, "json", false, "print the estimate as JSON")
	command.Values(cmd, "scanner", costScanners...)
	command.Values(cmd, "table-class", tableClasses...)
}

// check returns a usage error for options that cannot be, and completes the load from them.
func (c *costRun) check() error {
	if !slices.Contains(costScanners, c.scanner) {
		return command.Usagef("--scanner: %q is neither guardduty nor clamd", c.scanner)
	}
	if !slices.Contains(tableClasses, c.class) {
		return command.Usagef("--table-class: %q is neither STANDARD nor STANDARD_INFREQUENT_ACCESS", c.class)
	}
	if c.load.Lines == 0 || c.load.Bytes == 0 {
		return command.Usagef("--lines N and --bytes N are needed")
	}
	c.load.GuardDuty, c.load.RareAccess = c.scanner == "guardduty", c.class == tableClasses[1]
	if err := c.load.Check(); err != nil {
		return command.Usagef("%w", err)
	}
	return nil
}

// run prints the estimate.
func (c *costRun) run(stdout io.Writer) error {
	prices, err := readPrices(c.priceFile)
	if err != nil {
		return err
	}
	e := cost.NewEstimate(c.load, prices)
	if !c.asJSON {
		printEstimate(terminal.New(stdout), e)
		return nil
	}
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n", text)
	return err
}

// readPrices reads a file of prices, "" for those that the program has.
func readPrices(path string) (cost.PriceList, error) {
	if path == "" {
		return cost.DefaultPrices()
	}
	file, err := os.Open(path)
	if err != nil {
		return cost.PriceList{}, err
	}
	defer file.Close()
	prices, err := cost.ReadPrices(file)
	if err != nil {
		return prices, fmt.Errorf("%s: %w", path, err)
	}
	return prices, nil
}

// printEstimate prints an estimate as tables for people.
func printEstimate(ui *terminal.Terminal, e cost.Estimate) {
	printItems(ui, "Once", e.Once, e.Sums.Once)
	printItems(ui, "Every month", e.Monthly, e.Sums.Month)
	total := fmt.Sprintf("In all, stored for %s: %s", formatMonths(e.KeptMonths), formatDollars(e.Sums.Total))
	if e.Load.Parquet {
		total += ", with Parquet files for " + formatMonths(e.ParquetMonths)
	}
	ui.Printf("\n%s\n", ui.Paint(terminal.Bold, total))
	ui.Printf("A million lines: %s once, %s every month, %s in all\n", formatDollars(e.PerMillion.Once),
		formatDollars(e.PerMillion.Month), formatDollars(e.PerMillion.Total))
	printProvisioned(ui, e)
	ui.Printf("%s\n", ui.Paint(terminal.Dim, fmt.Sprintf("Prices of %s, %s: %s.", e.Region, e.PricesOf, e.Source)))
}

// printProvisioned prints what provisioned write units would cost, and what became of the day.
func printProvisioned(ui *terminal.Terminal, e cost.Estimate) {
	ui.Printf("With provisioned write units, of which %.0f %% are used: %s once, a million lines %s\n",
		100*e.Provisioned.Use, formatDollars(e.Provisioned.Once), formatDollars(e.Provisioned.PerMillion))
	day, given := e.Provisioned.Day, e.Load.Day
	if day == nil {
		return
	}
	ui.Printf("A day with %.0f %% of its lines in four hours, scaled to use %.0f %% of %s to %s units:\n",
		100*given.Peak, 100*given.Target, formatQuantity(given.Min), formatQuantity(given.Max))
	ui.Printf("  %s unit-hours, %s units at most, %d increases, %d decreases\n", formatQuantity(day.UnitHours),
		formatQuantity(day.Highest), day.Increases, day.Decreases)
	ui.Printf("  writes wait in %.0f s of the day, for %.0f s at most; %s units are left at its end\n", day.Throttled,
		day.LongestWait, formatQuantity(day.Left))
	ui.Printf("%s\n", ui.Paint(terminal.Dim, "  assumed: units increase after 2 minutes above their use and decrease "+
		"after 15 far below it, 4 times a day and once an hour; each hour is paid by its most units; no burst"))
}

func formatMonths(months float64) string {
	if months == 1 {
		return "1 month"
	}
	return fmt.Sprintf("%.4g months", months)
}

// printItems prints a table of items with their sum.
func printItems(ui *terminal.Terminal, title string, items []cost.Item, sum float64) {
	ui.Printf("%s\n", ui.Paint(terminal.Bold, fmt.Sprintf("%-16s %16s  %-12s %14s  %s", title, "", "", "$", "basis")))
	for _, i := range items {
		ui.Printf("%-16s %16s  %-12s %14s  %s\n", "  "+i.Name, formatQuantity(i.Amount), i.Unit,
			formatDollars(i.Dollars)[1:], ui.Paint(terminal.Dim, i.Basis))
	}
	ui.Printf("%-16s %16s  %-12s %14s\n", "  sum", "", "", formatDollars(sum)[1:])
}

// formatQuantity writes a large amount without decimals, and a small one with three.
func formatQuantity(n float64) string {
	if n < 1000 && n != float64(int64(n)) {
		return fmt.Sprintf("%.3f", n)
	}
	return terminal.FormatNumber(int64(n + 0.5))
}

// formatDollars writes an amount of money, a small one with four decimals.
func formatDollars(d float64) string {
	if d < 100 {
		return fmt.Sprintf("$%.4f", d)
	}
	return "$" + terminal.FormatNumber(int64(d+0.5))
}
