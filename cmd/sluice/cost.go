package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"sluice/internal/cli"
	"sluice/internal/cost"
)

// The values of --scanner and --table-class. The latter are those of the template's parameter.
var (
	costScanners = []string{"guardduty", "clamd"}
	tableClasses = []string{"STANDARD", "STANDARD_INFREQUENT_ACCESS"}
)

func costCommand() *cli.Command {
	var load cost.Load
	var scanner, class, priceFile string
	var asJSON bool
	return &cli.Command{
		Name:    "cost",
		Summary: "estimate what batches cost on AWS, once and every month",
		Description: `
Counts what the service uses for batches of equal size (requests, units, transitions, bytes) and multiplies it by list
prices. What is marked as counted is held by tests to requests of real batches, whose lines are all valid; what is
marked as assumed is to be measured in an account. Free tiers, taxes, transfer of data and what stands idle are left
out.`,
		Flags: func(f *flag.FlagSet) {
			f.Int64Var(&load.Lines, "lines", 0, "`N` lines of all batches, required")
			f.Int64Var(&load.Bytes, "bytes", 0, "`N` bytes of all batches, required")
			f.Int64Var(&load.Batches, "batches", 1, "`N` batches")
			f.Float64Var(&load.Months, "months", 1, "`N` months to look at, from the upload on")
			f.Float64Var(&load.RetentionDays, "retention-days", 0,
				"`N` days for which lines are stored; 0 for ever (default 0)")
			f.Float64Var(&load.Invalid, "invalid", 0,
				"`SHARE` of invalid lines, which are reported and not stored, 0 to 1 (default 0)")
			f.Int64Var(&load.PackedBytes, "packed", 0,
				"`N` bytes of all files as they are uploaded in gzip or zstd (default: they are not packed)")
			f.BoolVar(&load.Parquet, "parquet", false, "the accepted lines are also written as Parquet files")
			f.Float64Var(&load.ParquetDays, "parquet-days", 0,
				"`N` days for which Parquet files are kept; 0 for ever (default 0)")
			f.StringVar(&scanner, "scanner", "guardduty",
				"`SCANNER` of uploads: guardduty or clamd, whose machines are yours")
			f.StringVar(&class, "table-class", "STANDARD",
				"`CLASS` of the table of lines: STANDARD or STANDARD_INFREQUENT_ACCESS")
			f.Float64Var(&load.ItemBytes, "item-bytes", 0,
				"`N` bytes of a stored line (default by the length of lines)")
			f.Float64Var(&load.LineUnits, "line-units", 0,
				"`N` write units of a stored line (default by its bytes, usually 1)")
			f.StringVar(&priceFile, "price-file", "",
				"`FILE` with other prices, in the form of internal/cost/prices.json")
			f.BoolVar(&asJSON, "json", false, "print the estimate as JSON")
		},
		Examples: []string{
			"sluice cost --lines 1800000 --bytes 2053800000",
			"sluice cost --lines 1800000000 --bytes 2053800000000 --batches 1000 --months 12 --retention-days 90",
			"sluice cost --lines 1000000 --bytes 1141000000 --months 24 --table-class " +
				"STANDARD_INFREQUENT_ACCESS --json",
			"sluice cost --lines 1800000 --bytes 2053800000 --packed 530000000 --parquet --months 12",
		},
		Run: func(_ context.Context, _ []string, stdout io.Writer) error {
			if !slices.Contains(costScanners, scanner) {
				return cli.Usagef("--scanner: %q is neither guardduty nor clamd", scanner)
			}
			if !slices.Contains(tableClasses, class) {
				return cli.Usagef("--table-class: %q is neither STANDARD nor STANDARD_INFREQUENT_ACCESS", class)
			}
			if load.Lines == 0 || load.Bytes == 0 {
				return cli.Usagef("--lines N and --bytes N are needed")
			}
			load.GuardDuty, load.RareAccess = scanner == "guardduty", class == tableClasses[1]
			if err := load.Check(); err != nil {
				return cli.Usagef("%w", err)
			}
			prices, err := readPrices(priceFile)
			if err != nil {
				return err
			}
			e := cost.NewEstimate(load, prices)
			if asJSON {
				text, err := json.MarshalIndent(e, "", "  ")
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(stdout, "%s\n", text)
				return err
			}
			printEstimate(newTerminal(stdout), e)
			return nil
		},
	}
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
func printEstimate(ui *terminal, e cost.Estimate) {
	printItems(ui, "Once", e.Once, e.Sums.Once)
	printItems(ui, "Every month", e.Monthly, e.Sums.Month)
	total := fmt.Sprintf("In all, stored for %.4g months: %s", e.KeptMonths, formatDollars(e.Sums.Total))
	if e.Load.Parquet {
		total += fmt.Sprintf(", with Parquet files for %.4g", e.ParquetMonths)
	}
	ui.printf("\n%s\n", ui.paint(bold, total))
	ui.printf("A million lines: %s once, %s every month, %s in all\n", formatDollars(e.PerMillion.Once),
		formatDollars(e.PerMillion.Month), formatDollars(e.PerMillion.Total))
	ui.printf("%s\n", ui.paint(dim, fmt.Sprintf("Prices of %s, %s: %s.", e.Region, e.PricesOf, e.Source)))
}

// printItems prints a table of items with their sum.
func printItems(ui *terminal, title string, items []cost.Item, sum float64) {
	ui.printf("%s\n", ui.paint(bold, fmt.Sprintf("%-16s %16s  %-12s %14s  %s", title, "", "", "$", "basis")))
	for _, i := range items {
		ui.printf("%-16s %16s  %-12s %14s  %s\n", "  "+i.Name, formatQuantity(i.Amount), i.Unit,
			formatDollars(i.Dollars)[1:], ui.paint(dim, i.Basis))
	}
	ui.printf("%-16s %16s  %-12s %14s\n", "  sum", "", "", formatDollars(sum)[1:])
}

// formatQuantity writes a large amount without decimals, and a small one with three.
func formatQuantity(n float64) string {
	if n < 1000 && n != float64(int64(n)) {
		return fmt.Sprintf("%.3f", n)
	}
	return formatNumber(int64(n + 0.5))
}

// formatDollars writes an amount of money, a small one with four decimals.
func formatDollars(d float64) string {
	if d < 100 {
		return fmt.Sprintf("$%.4f", d)
	}
	return "$" + formatNumber(int64(d+0.5))
}
