// Capacity simulates many batches in one account of AWS: how they share concurrent executions and write units, what is
// throttled and tried again, which batches fail, and when each ends. What the service does is read from template.yaml
// and its state machine, and package admission gives out the slots; the rest are assumptions, which are flags. Without
// flags it prints the tables of docs/capacity.md. The same flags give the same output.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	err := error(nil)
	if len(os.Args) > 1 {
		err = runOne(os.Stdout, os.Args[1:])
	} else {
		err = printTables(os.Stdout)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}

// runOne simulates what arguments say, and prints the result for each seed.
func runOne(w io.Writer, args []string) error {
	results, err := simulateAll(args)
	for _, r := range results {
		r.print(w)
	}
	return err
}

// simulateAll simulates what arguments say, once for each seed.
func simulateAll(args []string) ([]result, error) {
	a := newAssumptions()
	err := a.parse(args)
	if err == nil && len(a.loads) == 0 {
		err = errors.New("no -load says what is uploaded")
	}
	if err != nil {
		return nil, err
	}
	service, err := readService(a)
	if err != nil {
		return nil, err
	}
	var results []result
	for seed := range a.Seeds {
		results = append(results, simulate(a, service, uint64(seed+1)))
	}
	return results, nil
}

// row is a row of a table: arguments of the command, and what they mean.
type row struct{ args, meaning string }

const hundred = "-load 10x10x2.05GB"

// equal have batches of one size.
var equal = []row{
	{"-preset warm,none " + hundred, "no admission"},
	{"-preset warm " + hundred, ""},
	{hundred, "a new table"},
	{"-preset fresh -load 1x5x2.05GB", "10 executions, [slots](first-day.md#the-first-deployment)"},
	{"-preset warm -load 100x10x2.05GB@0+1440", "a day"},
	{"-preset warm -max-units 80000 -load 100x10x2.05GB@0+480", "8 hours"},
	{"-preset warm -load 100x10x2.05GB", "at once"},
}

// mixed have small and large batches.
var mixed = []row{
	{"-preset warm,mix", "30 small ones of 10 tenants"},
	{"-preset mix", "a new table"},
	{"-preset warm,crowd", "1,000 of one"},
	{"-preset crowd", "a new table"},
}

// printTables prints the tables of docs/capacity.md.
func printTables(w io.Writer) error {
	debug.SetGCPercent(400) // which takes a third of the time from them
	err := printTable(w, "Failed | Last upload to last end | Longest wait | Most executions", equal,
		func(results []result) string {
			s := summarise(results, "")
			return fmt.Sprintf("%d | %.0f | %.0f | %.0f", s.failed, s.afterUpload, s.worstWait,
				results[0].peak().executions)
		})
	fmt.Fprintln(w)
	return errors.Join(err, printTable(w, "Failed | Small: mean | worst | Large: mean | last", mixed,
		func(results []result) string {
			small, large := summarise(results, "small"), summarise(results, "large")
			return fmt.Sprintf("%d | %.1f | %.1f | %.1f | %.1f", small.failed+large.failed,
				small.meanTime, small.worstTime, large.meanTime, large.afterUpload)
		}))
}

// printTable prints a table with some columns between the command and the hours.
func printTable(w io.Writer, columns string, rows []row, cells func([]result) string) error {
	fmt.Fprintf(w, "| Command (`CAPACITY=`) | %s | Lambda hours |\n|---|---%s|\n", columns,
		strings.Repeat("|---", strings.Count(columns, "|")+1))
	for _, row := range rows {
		results, err := simulateAll(strings.Fields(row.args))
		if err != nil {
			return err
		}
		title := "`\"" + row.args + "\"`"
		if row.meaning != "" {
			title += " (" + row.meaning + ")"
		}
		fmt.Fprintf(w, "| %s | %s | %.0f |\n", title, cells(results), hours(results))
	}
	return nil
}
