// Capacity simulates many batches in one account of AWS: how they share concurrent executions and write units, what is
// throttled and tried again, which batches fail, and when each ends. Its assumptions are its flags; docs/capacity.md
// says where they come from and what follows. The same flags give the same output.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	a := defaults()
	declareFlags(flag.CommandLine, &a)
	preset := flag.String("preset", "", "begin with the assumptions of a `NAME`: fresh (a new account), none (no "+
		"admission, all widths 40), day (100 tenants, 10 batches each within a day, in an account that is "+
		"prepared for it)")
	each := flag.Bool("each", false, "print each batch")
	flag.Parse()
	if *preset != "" {
		if err := usePreset(&a, *preset); err != nil {
			fmt.Fprintln(os.Stderr, "capacity:", err)
			os.Exit(2)
		}
		flag.Parse() // flags that are given win over the preset
	}
	r := simulate(a)
	r.print(os.Stdout, *each)
}

// usePreset sets the assumptions of a preset.
func usePreset(a *assumptions, name string) error {
	switch name {
	case "fresh":
		a.Executions, a.Base, a.StartUnits, a.MaxUnits, a.Batches, a.Tenants = 10, 0, 4000, 4000, 2, 1
	case "none":
		a.Admission = false
		a.Validate, a.Reconcile, a.Settle, a.Ingest = 40, 40, 40, 40
	case "day":
		a.Tenants, a.Batches, a.Hours, a.StartUnits, a.MaxUnits = 100, 1000, 24, 40_000, 80_000
	default:
		return fmt.Errorf("there is no preset %q", name)
	}
	return nil
}

func declareFlags(f *flag.FlagSet, a *assumptions) {
	f.Uint64Var(&a.Seed, "seed", a.Seed, "`SEED` of arrivals, sizes and retries")
	f.IntVar(&a.Batches, "batches", a.Batches, "`N` batches in all")
	f.IntVar(&a.Tenants, "tenants", a.Tenants, "`N` tenants, to which the batches belong in turn")
	f.Float64Var(&a.Hours, "hours", a.Hours, "the uploads arrive within `N` hours, at random; 0 for all at once")
	f.Float64Var(&a.Bytes, "bytes", a.Bytes, "`N` bytes of a batch")
	f.Float64Var(&a.Spread, "spread", a.Spread, "sizes vary by up to this `SHARE`, 0 to 1")
	f.Float64Var(&a.LineBytes, "line-bytes", a.LineBytes, "`N` bytes of a line")
	f.Float64Var(&a.LineUnits, "line-units", a.LineUnits, "`N` write units of a stored line")

	f.IntVar(&a.Executions, "executions", a.Executions, "`N` concurrent executions in the account")
	f.IntVar(&a.Base, "base", a.Base, "`N` of them that requests to the API take")
	f.Float64Var(&a.StartUnits, "units", a.StartUnits,
		"`N` write units a second that the table takes at first (warm throughput)")
	f.Float64Var(&a.MaxUnits, "max-units", a.MaxUnits, "`N` write units a second that the table's quota allows")
	f.Float64Var(&a.WarmUp, "warm-up", a.WarmUp, "`SECONDS` of full use after which a table takes twice as many")

	f.IntVar(&a.Validate, "validate", a.Validate, "`WIDTH` of the Map of chunks that are validated")
	f.IntVar(&a.Reconcile, "reconcile", a.Reconcile, "`WIDTH` of the Map of partitions")
	f.IntVar(&a.Settle, "settle", a.Settle, "`WIDTH` of the Map of chunks that are settled")
	f.IntVar(&a.Ingest, "ingest", a.Ingest, "`WIDTH` of the Map of chunks that are ingested")
	f.BoolVar(&a.Admission, "admission", a.Admission, "batches wait for slots")
	f.IntVar(&a.ValidationSlots, "validation-slots", a.ValidationSlots, "`N` batches that are validated at a time")
	f.IntVar(&a.ValidationPerTenant, "validation-per-tenant", a.ValidationPerTenant, "`N` of them of one tenant")
	f.IntVar(&a.IngestionSlots, "ingestion-slots", a.IngestionSlots, "`N` batches that are ingested at a time")
	f.IntVar(&a.IngestionPerTenant, "ingestion-per-tenant", a.IngestionPerTenant, "`N` of them of one tenant")

	f.Float64Var(&a.ScanSpeed, "scan-speed", a.ScanSpeed, "`BYTES` a second of the malware scan of one file")
	f.Float64Var(&a.ReadSpeed, "read-speed", a.ReadSpeed, "`BYTES` a second that one function validates")
	f.Float64Var(&a.WriteSpeed, "write-speed", a.WriteSpeed, "`LINES` a second that one function stores at most")
	f.Float64Var(&a.Overhead, "overhead", a.Overhead, "`SECONDS` that each invocation takes beside its work")
	f.Float64Var(&a.Transition, "transition", a.Transition, "`SECONDS` that Step Functions takes between two states")
	f.Float64Var(&a.GetLatency, "get-latency", a.GetLatency, "`SECONDS` of a small GET; a function has 8 under way")
	f.Float64Var(&a.Budget, "budget", a.Budget, "`SECONDS` after which an ingesting function ends and is run again")
	f.IntVar(&a.Prefixes, "prefixes", a.Prefixes,
		"`N` prefixes, of 5,500 GETs a second each, into which S3 has divided the work "+"files; their keys allow 256")
	f.IntVar(&a.Transitions, "transitions", a.Transitions, "`N` state transitions a second, the quota of the account")
	f.IntVar(&a.Attempts, "attempts", a.Attempts,
		"`N` retries of a throttled invocation before its batch fails; the pauses grow from a second to half a "+
			"minute, each with full jitter")
}
