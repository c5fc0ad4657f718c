package main

import (
	"cmp"
	"errors"
	"flag"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/cost"
	"sluice/lab/account"
)

// assumptions are everything that the simulation takes as given. Times are in seconds and rates in a second.
type assumptions struct {
	loads []load
	// set has parameters in place of the template's defaults.
	set   map[string]string
	Seeds int
	// Executions may run in the account at a time, of which Base are taken by the API beside those that are reserved.
	Executions, Base int
	// A table that was not warmed takes StartUnits. It takes twice as many WarmUp after their first full use, up to
	// MaxUnits.
	StartUnits, MaxUnits, WarmUp float64
	// LineBytes are those of a line.
	LineBytes float64
	// ScanSpeed and ReadSpeed are in bytes, WriteSpeed in lines, each of one function.
	ScanSpeed, ReadSpeed, WriteSpeed float64
	// Overhead is what an invocation takes beside its work, and GetLatency a small GET.
	Overhead, Transition, GetLatency float64
	// Prefixes is into how many S3 has divided the work files, and Transitions is the quota of Step Functions.
	Prefixes, Transitions int
}

// load is a number of batches of each of some tenants, whose uploads end within some seconds, at random.
type load struct {
	name             string
	tenants, batches int
	bytes            float64
	from, over       float64
}

var loadText = regexp.MustCompile(`^(?:(\w+)=)?(\d+)x(\d+)x([\d.]+)([MG])B(?:@([\d.]+)(?:\+([\d.]+))?)?$`)

// add adds a load of the form NAME=TENANTSxBATCHESxBYTES@MINUTE+MINUTES.
func (a *assumptions) add(text string) error {
	m := loadText.FindStringSubmatch(text)
	if m == nil {
		return errors.New("it is not like large=4x10x2.05GB@5+20")
	}
	number := func(i int) float64 { n, _ := strconv.ParseFloat(m[i], 64); return n }
	unit := map[string]float64{"M": 1e6, "G": 1e9}[m[5]]
	a.loads = append(a.loads, load{cmp.Or(m[1], "batches"), int(number(2)), int(number(3)), number(4) * unit,
		number(6) * 60, number(7) * 60})
	return nil
}

// override sets parameters of the template.
func (a *assumptions) override(text string) error {
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		a.set[name] = value
	}
	return nil
}

// presets are arguments in the place of which a name can be given.
var presets = map[string][]string{
	"fresh": {"-executions=10", "-base=0", "-max-units=4000"}, // and its slots
	"none":  {"-set", strings.Join(account.NoAdmission, " ")},
	"warm":  {"-set", "TransactionsWarmThroughput=12000,40000"},
	"mix":   {"-seeds=3", "-load", "large=4x10x2.05GB", "-load", "small=10x3x20MB@5+20"},
	"crowd": {"-seeds=3", "-load", "large=4x10x2.05GB", "-load", "small=1x1000x20MB@0+10"},
}

// newAssumptions returns those of an account with the normal quotas and the template's parameters, without a load.
func newAssumptions() assumptions {
	return assumptions{
		Seeds: 1, Executions: 1000, Base: 20, StartUnits: 4000, MaxUnits: 40_000, WarmUp: 1800, LineBytes: 1141,
		ScanSpeed: cost.ScanBytesSecond, ReadSpeed: cost.ReadBytesSecond, WriteSpeed: cost.StoreLinesSecond,
		Overhead: cost.RunSeconds, Transition: 0.05, GetLatency: 0.03, Prefixes: 16, Transitions: 5000,
		set: map[string]string{},
	}
}

// parse changes what arguments of the command name.
func (a *assumptions) parse(args []string) error {
	f := flag.NewFlagSet("capacity", flag.ContinueOnError)
	f.Func("load", "`NAME=TENANTSxBATCHESxBYTES@MINUTE+MINUTES`, such as small=10x3x20MB@5+20: so many batches of "+
		"each of some tenants, whose uploads end within some minutes, at random; NAME= and @... may be missing", a.add)
	f.Func("set", "`NAME=VALUE ...` of parameters of the template", a.override)
	f.Func("preset", "`NAME,...`: fresh (a new account), warm (a table that takes 40,000 units at first), none (no "+
		"admission), mix (small batches of ten other tenants come while large ones are stored), crowd (a thousand "+
		"small ones of one tenant); the last two in three runs", func(names string) (err error) {
		for name := range strings.SplitSeq(names, ",") {
			args, isKnown := presets[name]
			if name == "fresh" {
				slots, unknown := account.Slots(10)
				args, err = append(args, "-set", strings.Join(slots, " ")), errors.Join(err, unknown)
			}
			if !isKnown {
				return errors.New("there is no preset " + name)
			}
			err = errors.Join(err, a.parse(args))
		}
		return err
	})
	f.IntVar(&a.Seeds, "seeds", a.Seeds, "`N` runs with other arrivals and pauses")
	f.IntVar(&a.Executions, "executions", a.Executions, "`N` concurrent executions in the account")
	f.IntVar(&a.Base, "base", a.Base, "`N` of them that requests to the API take, beside those that are reserved")
	f.IntVar(&a.Prefixes, "prefixes", a.Prefixes, "`N` prefixes, of 5,500 GETs a second each, into which S3 has "+
		"divided the work files; their keys allow 256")
	f.IntVar(&a.Transitions, "transitions", a.Transitions, "`N` state transitions a second, the quota of the account")
	for name, number := range map[string]struct {
		value *float64
		usage string
	}{
		"units":       {&a.StartUnits, "`N` write units a second that a table takes at first that was not warmed"},
		"max-units":   {&a.MaxUnits, "`N` write units a second that the table's quota allows"},
		"warm-up":     {&a.WarmUp, "`SECONDS` after the first full use of a table in which it takes twice as many"},
		"line-bytes":  {&a.LineBytes, "`N` bytes of a line"},
		"scan-speed":  {&a.ScanSpeed, "`BYTES` a second of the malware scan of one file"},
		"read-speed":  {&a.ReadSpeed, "`BYTES` a second that one function validates or digests"},
		"write-speed": {&a.WriteSpeed, "`LINES` a second that one function stores at most"},
		"overhead":    {&a.Overhead, "`SECONDS` that each invocation takes beside its work"},
		"transition":  {&a.Transition, "`SECONDS` that Step Functions takes between two states"},
		"get-latency": {&a.GetLatency, "`SECONDS` of a small GET; a function has 8 under way"},
	} {
		f.Float64Var(number.value, name, *number.value, number.usage)
	}
	return f.Parse(args)
}
