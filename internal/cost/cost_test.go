package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// oneBatch is a batch of 2 GB.
var oneBatch = Load{Lines: 1_800_000, Bytes: 2_053_800_000, Batches: 1, Months: 1, GuardDuty: true}

// estimate returns the estimate of a load by the prices of the program.
func estimate(t *testing.T, l Load) Estimate {
	t.Helper()
	errtest.Fatal(t, l.Check())
	prices := errtest.Must(DefaultPrices())(t)
	return NewEstimate(l, prices)
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9+math.Abs(want)*1e-9 }

// The usage of a batch of 2 GB, in 245 chunks.
func TestUsageOfALargeBatch(t *testing.T) {
	got := UsageOf(oneBatch)
	want := Usage{
		Chunks: 245, Ranges: 4, Rounds: 8, LineWrites: 1_800_000, RowWrites: 76 + 10 + 4*7 + 6 + 3*245 + 7*245,
		Reads: 24 + 8*245 + 7*245 + 4*23 + 2*22,
		Puts:  5 + 245 + 2*(2+16), Gets: (7+4)*245 + 3*245 + 245, Transitions: 5*245 + 4 + 2*8 + 14,
		MachineRuns: 3*245 + 4 + 6 + 7, Runs: 3*245 + 4 + 10 + 7,
	}
	difftest.Equal(t, "result", want, got)
	thousand := oneBatch
	thousand.Lines, thousand.Bytes, thousand.Batches = 1000*thousand.Lines, 1000*thousand.Bytes, 1000
	if all := UsageOf(thousand); !near(all.RowWrites, 1000*got.RowWrites+333*24) ||
		!near(all.Gets, 1000*got.Gets+333*10) ||
		!near(all.Transitions, 1000*got.Transitions) || all.Chunks != 245 {
		t.Errorf("a thousand batches use %+v, want a thousand times %+v and the merges of the index", all, got)
	}
}

// The sums are those of the items, a stored line costs until its retention, and what is invalid is not stored.
func TestEstimate(t *testing.T) {
	month, year, retained, invalid := oneBatch, oneBatch, oneBatch, oneBatch
	year.Months = 12
	retained.Months, retained.RetentionDays = 12, 90
	invalid.Invalid = 1
	e := estimate(t, month)
	once := 0.0
	for _, i := range e.Once {
		if once += i.Dollars; i.Name == "" || i.Unit == "" || i.Basis == "" || i.Amount <= 0 || i.Dollars <= 0 {
			t.Errorf("the item %+v is not complete", i)
		}
	}
	if !near(once, e.Sums.Once) || !near(e.PerMillion.Once*1.8, once) || !near(e.Sums.Total, once+e.Sums.Month) {
		t.Errorf("the sums %+v and %+v are not those of the items", e.Sums, e.PerMillion)
	}
	difftest.Equal(t, "a stored line", []any{float64(457), float64(1)}, []any{e.Load.ItemBytes, e.Load.LineUnits})
	if got := estimate(t, year); !near(got.Sums.Total, once+12*e.Sums.Month) {
		t.Errorf("a year costs %g, want %g", got.Sums.Total, once+12*e.Sums.Month)
	}
	got := estimate(t, retained)
	if !near(got.Sums.Total, once+90/(365.25/12)*e.Sums.Month) || !near(got.Sums.Month, e.Sums.Month) {
		t.Errorf("a year with a retention of 90 days costs %g, want less than three months", got.Sums.Total)
	}
	if got := estimate(t, invalid); got.Sums.Month >= 0.02*e.Sums.Month || got.Once[0].Amount != 0 ||
		got.Sums.Once >= e.Sums.Once {
		t.Errorf("a batch of invalid lines costs %+v, want its index each month and no lines written", got.Sums)
	}
}

// The other table class and the other scanner cost what they should.
func TestClassAndScanner(t *testing.T) {
	standard, rare := estimate(t, oneBatch), oneBatch
	rare.RareAccess = true
	got := estimate(t, rare)
	if more := got.Sums.Once - standard.Sums.Once; !near(more, 1.8*(0.78-0.625)) {
		t.Errorf("writing costs %g more in the class for rare access, want %g", more, 1.8*(0.78-0.625))
	}
	ratio := got.Monthly[0].Dollars / standard.Monthly[0].Dollars
	if !near(ratio, 0.4) || got.Monthly[1] != standard.Monthly[1] {
		t.Errorf("storing costs %g of the standard class, want 0.4, and its backup the same", ratio)
	}
	clamd := oneBatch
	clamd.GuardDuty = false
	for _, i := range estimate(t, clamd).Once {
		if strings.Contains(i.Name, "scan") {
			t.Errorf("clamd is charged by AWS: %+v", i)
		}
	}
}

// A packed file is scanned, written and stored twice; a Parquet file is written once and kept for a time of its own.
func TestPackedAndParquet(t *testing.T) {
	plain, usage := estimate(t, oneBatch), UsageOf(oneBatch)
	packed, exported := oneBatch, oneBatch
	packed.PackedBytes = 530_000_000
	exported.Parquet, exported.ParquetDays, exported.Months = true, 0.5*monthDays, 3
	want := usage
	want.RowWrites += 3 + 6  // and those of a second object for GuardDuty
	want.Puts += 245 + 2 + 1 // parts, their beginning and end, a tag
	want.Gets += 2 - 1       // GuardDuty reads the copy
	want.Runs++              // its second result
	difftest.Equal(t, "packed", want, UsageOf(packed))
	want = usage
	want.RowWrites, want.Reads, want.Gets, want.Runs = want.RowWrites+9, want.Reads+21, want.Gets+489, want.Runs+1
	want.Puts += 123 + 2
	difftest.Equal(t, "Parquet", want, UsageOf(exported))
	dollars := func(e Estimate, name string) float64 {
		for _, i := range append(e.Once, e.Monthly...) {
			if i.Name == name {
				return i.Dollars
			}
		}
		return 0
	}
	both := estimate(t, packed)
	for _, name := range []string{"malware scan", "objects kept"} {
		if more := dollars(both, name) - dollars(plain, name); more <= 0 {
			t.Errorf("%s of a packed file costs %g more, want more than 0", name, more)
		}
	}
	files := 0.023 * (55_000 + 0.5*2_053_800_000) / gib
	e := estimate(t, exported)
	if got := dollars(e, "Parquet files"); !near(got, files) ||
		!near(e.Sums.Total, e.Sums.Once+3*(e.Sums.Month-files)+0.5*files) || e.ParquetMonths != 0.5 {
		t.Errorf("the Parquet file costs %g a month and all %+v for %g months, want %g and half a month of it", got,
			e.Sums, e.ParquetMonths, files)
	}
}

func TestLargeItems(t *testing.T) {
	for _, tt := range []struct {
		given Load
		units float64
	}{
		{Load{ItemBytes: 512}, 1}, {Load{ItemBytes: 1024}, 1.5}, {Load{ItemBytes: 1024, LineUnits: 1.042}, 1.042},
	} {
		l := oneBatch
		l.ItemBytes, l.LineUnits = tt.given.ItemBytes, tt.given.LineUnits
		difftest.Equal(t, fmt.Sprintf("an item of %g bytes takes: units", l.ItemBytes), tt.units,
			estimate(t, l).Load.LineUnits)
	}
}

func TestCheckRefusesWrongLoads(t *testing.T) {
	for name, change := range map[string]func(*Load){
		"1 line":              func(l *Load) { l.Lines = 0 },
		"as many bytes":       func(l *Load) { l.Bytes = l.Lines - 1 },
		"1 batch or more":     func(l *Load) { l.Batches = -1 },
		"no more batches":     func(l *Load) { l.Batches = l.Lines + 1 },
		"packed bytes":        func(l *Load) { l.PackedBytes = -1 },
		"kept for 0":          func(l *Load) { l.Parquet, l.ParquetDays = true, -1 },
		"none are written":    func(l *Load) { l.ParquetDays = 1 },
		"months":              func(l *Load) { l.Months = math.NaN() },
		"share of invalid":    func(l *Load) { l.Invalid = 1.01 },
		"retention":           func(l *Load) { l.RetentionDays = -1 },
		"50 to 409,600 bytes": func(l *Load) { l.ItemBytes = 49 },
		"1 to 400 write":      func(l *Load) { l.LineUnits = 0.5 },
	} {
		l := oneBatch
		change(&l)
		errtest.Fails(t, "error", l.Check(), name)
	}
}

func TestReadPricesRefusesWrongFiles(t *testing.T) {
	text := string(defaultFile)
	for want, file := range map[string]string{
		"cannot be read":                   "{",
		"unknown field":                    strings.Replace(text, `"log_gib"`, `"log_gb"`, 1),
		"have no s3_get_thousand":          strings.Replace(text, `"s3_get_thousand": 0.0004,`, "", 1),
		"log_gib is -0.5":                  strings.Replace(text, `"log_gib": 0.50`, `"log_gib": -0.50`, 1),
		"have no date, region or source":   strings.Replace(text, `"us-east-1"`, `""`, 1),
		"cannot unmarshal string into Go ": strings.Replace(text, `"log_gib": 0.50`, `"log_gib": "free"`, 1),
	} {
		errtest.Fails(t, "error", errtest.Of(ReadPrices(strings.NewReader(file))), want)
	}
}
