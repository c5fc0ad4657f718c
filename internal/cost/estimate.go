package cost

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
)

// Item is one row of an estimate.
type Item struct {
	Name string `json:"item"`
	// Amount is how many units are used: once, or of a monthly item in every month.
	Amount float64 `json:"amount"`
	Unit   string  `json:"unit"`
	// Dollars is the cost of the amount.
	Dollars float64 `json:"dollars"`
	// Basis says where the amount is from.
	Basis string `json:"basis"`
}

// Sums are costs in dollars.
type Sums struct {
	// Once is for the upload, Month for every month in which the lines are stored.
	Once  float64 `json:"once"`
	Month float64 `json:"month"`
	// Total is for all months.
	Total float64 `json:"total"`
}

// Provisioned has the costs of a load with provisioned write units of lines in place of units on demand.
type Provisioned struct {
	// Use is the used share of the units: the target of the load or, if it comes in one day, the result of that day.
	Use        float64 `json:"use"`
	Once       float64 `json:"once"`
	PerMillion float64 `json:"per_million_lines_once"`
	// Day is the result of the day in which the load comes; nil if it has no peak.
	Day *Scaled `json:"day,omitempty"`
}

// Estimate is what a load costs.
type Estimate struct {
	Load Load `json:"load"`
	// KeptMonths is how many of the months lines are stored.
	KeptMonths float64 `json:"kept_months"`
	// ParquetMonths is how many of them Parquet files are kept.
	ParquetMonths float64 `json:"parquet_months,omitempty"`
	// Once are the items that are paid once, Monthly those that are paid in every month.
	Once    []Item `json:"once"`
	Monthly []Item `json:"monthly"`
	// Sums are of all lines, PerMillion of a million of them.
	Sums       Sums `json:"sums"`
	PerMillion Sums `json:"per_million_lines"`
	// Provisioned is the same with provisioned write units for the lines.
	Provisioned Provisioned `json:"provisioned"`
	// PricesOf and Source are those of the prices.
	PricesOf string `json:"prices_of"`
	Region   string `json:"region"`
	Source   string `json:"prices_source"`
}

// NewEstimate returns what a load costs by a list of prices. The load must be valid.
func NewEstimate(l Load, prices PriceList) Estimate {
	l = l.complete()
	e := Estimate{Load: l, KeptMonths: l.keptMonths(l.RetentionDays), PricesOf: prices.Date, Region: prices.Region,
		Source: prices.Source}
	e.Once, e.Monthly = onceItems(l, prices.Prices), monthlyItems(l, prices.Prices)
	for _, i := range e.Once {
		e.Sums.Once += i.Dollars
	}
	for _, i := range e.Monthly {
		e.Sums.Month += i.Dollars
	}
	e.Sums.Total = e.Sums.Once + e.Sums.Month*e.KeptMonths
	if l.Parquet {
		files := item("Parquet files", l.parquetBytes()/gib, "GiB", prices.Prices.S3Month,
			fmt.Sprintf("measured: %g of the accepted bytes, and %d a file", parquetShare, parquetFileBytes))
		e.Monthly = append(e.Monthly, files)
		e.ParquetMonths = l.keptMonths(l.ParquetDays)
		e.Sums.Month += files.Dollars
		e.Sums.Total += files.Dollars * e.ParquetMonths
	}
	millions := float64(l.Lines) / 1e6
	e.Provisioned = newProvisioned(l, e, prices.Prices)
	e.PerMillion = Sums{e.Sums.Once / millions, e.Sums.Month / millions, e.Sums.Total / millions}
	return e
}

// newProvisioned returns what the load of an estimate costs with provisioned units. Its first item are the lines.
func newProvisioned(l Load, e Estimate, p Prices) Provisioned {
	price := p.UnitHour
	if l.RareAccess {
		price = p.RareUnitHour
	}
	lines := e.Once[0]
	out := Provisioned{Use: l.Day.Target}
	hours := lines.Amount / 3600 / l.Day.Target
	if l.Day.Peak > 0 {
		day := l.Day.Pass(lines.Amount)
		out.Day, out.Use, hours = &day, day.Used, day.UnitHours
	}
	out.Once = e.Sums.Once - lines.Dollars + hours*price
	out.PerMillion = out.Once * 1e6 / float64(l.Lines)
	return out
}

func onceItems(l Load, p Prices) []Item {
	u := UsageOf(l)
	n := float64(l.Batches)
	write := p.Write
	if l.RareAccess {
		write = p.RareWrite
	}
	const ofBatch = counted + "%.0f a batch"
	requests, seconds := n*apiRequests, l.seconds(u)
	kept := (float64(l.Bytes+l.PackedBytes)*uploadDays +
		float64(l.Lines)*(workLineBytes*workDays+l.Invalid*reportLineBytes*reportDays)) /
		gib / monthDays
	runs := u.Runs + 2*requests
	items := []Item{
		item("stored lines", u.LineWrites, "write units", write/1e6,
			fmt.Sprintf("%.0f bytes, %.3f units a line", l.ItemBytes, l.LineUnits)),
		item("rows of batches", u.RowWrites+requests, "write units", p.Write/1e6,
			fmt.Sprintf(ofBatch, (u.RowWrites+requests)/n)),
		item("reads", u.Reads, "read units", p.Read/1e6, fmt.Sprintf(ofBatch, u.Reads/n)),
		item("state machine", u.Transitions, "transitions", p.Transition/1e3, u.transitionBasis()),
		item("functions, time", seconds*functionGiB, "GiB-seconds", p.LambdaSecond,
			fmt.Sprintf(assumed+"%.0f s a batch at 1,769 MB", seconds/n)),
		item("functions, runs", runs, "runs", p.LambdaRequest/1e6, fmt.Sprintf(ofBatch, runs/n)),
		item("objects written", u.Puts, "requests", p.S3Put/1e3, fmt.Sprintf(ofBatch, u.Puts/n)),
		item("objects read", u.Gets, "requests", p.S3Get/1e3, fmt.Sprintf(ofBatch, u.Gets/n)),
		item("objects kept", kept, "GiB-months", p.S3Month,
			fmt.Sprintf("uploads %d days, work files %d, reports %d", uploadDays, workDays, reportDays)),
	}
	if l.GuardDuty {
		size, scans := float64(l.Bytes+l.PackedBytes)/gib, n
		if l.PackedBytes > 0 {
			scans += n // of the copies
		}
		price := size*p.GuardDuty + scans/1e3*p.GuardDutyObject
		items = append(items, Item{"malware scan", size, "GiB", price, "GuardDuty, and each object"})
	}
	return append(items,
		item("API", requests, "requests", p.APIRequest/1e6, fmt.Sprintf(assumed+"%d a batch", apiRequests)),
		item("tokens", n, "signatures", p.Signature/1e4, assumed+"1 a batch"),
		item("traces", tracedShare*(requests+n), "traces", p.Trace/1e6, fmt.Sprintf(assumed+
			"%g of requests and executions", tracedShare)),
		item("logs", runs*logBytes/gib, "GiB", p.Log, fmt.Sprintf("%d bytes a run", logBytes)))
}

// transitionBasis returns how transitions are counted.
func (u Usage) transitionBasis() string {
	if u.Chunks == 1 {
		return fmt.Sprintf(counted+"%d a batch of one chunk", wholeTransitions)
	}
	return fmt.Sprintf(counted+"%d x %d chunks + %d ranges + %d x %d rounds + %d a batch", chunkTransitions, u.Chunks,
		u.Ranges, roundTransitions, u.Rounds, batchTransitions)
}

// counted begins the basis of what tests count, assumed that of what is to be measured in an account.
const counted, assumed = "counted: ", "assumed: "

func monthlyItems(l Load, p Prices) []Item {
	storage, class := p.StorageMonth, "standard"
	if l.RareAccess {
		storage, class = p.RareStorage, "infrequent access"
	}
	size := float64(l.Lines) * (1 - l.Invalid) * (l.ItemBytes + itemOverhead) / gib
	return []Item{
		item("storage of lines", size, "GiB", storage,
			fmt.Sprintf("%.0f bytes a line, and AWS's %d; %s", l.ItemBytes, itemOverhead, class)),
		item("its backup", size, "GiB", p.BackupMonth, "point-in-time recovery"),
		item("index of lines", float64(l.Lines)*lineIndexBytes/gib, "GiB", p.S3Month,
			fmt.Sprintf("%d bytes a line", lineIndexBytes)),
	}
}

// item returns the row of an amount at a price for one unit.
func item(name string, amount float64, unit string, price float64, basis string) Item {
	return Item{name, amount, unit, amount * price, basis}
}

//go:embed prices.json
var defaultFile []byte

// PriceList is a file of prices: those of one region, on one day.
type PriceList struct {
	// Date is the day of the file, as YYYY-MM-DD.
	Date string `json:"date"`
	// Region is the region of AWS whose prices these are.
	Region string `json:"region"`
	// Source says where the prices are from.
	Source string `json:"source"`
	// Prices are those that the model multiplies.
	Prices Prices `json:"prices"`
}

// Prices are in dollars. Their names in a file say for how many units.
type Prices struct {
	Write           float64 `json:"dynamodb_write_million"`
	Read            float64 `json:"dynamodb_read_million"`
	StorageMonth    float64 `json:"dynamodb_gib_month"`
	RareWrite       float64 `json:"dynamodb_ia_write_million"`
	RareStorage     float64 `json:"dynamodb_ia_gib_month"`
	BackupMonth     float64 `json:"dynamodb_backup_gib_month"`
	Transition      float64 `json:"transition_thousand"`
	LambdaSecond    float64 `json:"lambda_gib_second"`
	LambdaRequest   float64 `json:"lambda_request_million"`
	S3Get           float64 `json:"s3_get_thousand"`
	S3Put           float64 `json:"s3_put_thousand"`
	S3Month         float64 `json:"s3_gib_month"`
	GuardDuty       float64 `json:"guardduty_gib"`
	GuardDutyObject float64 `json:"guardduty_object_thousand"`
	APIRequest      float64 `json:"api_request_million"`
	Signature       float64 `json:"signature_ten_thousand"`
	Log             float64 `json:"log_gib"`
	Trace           float64 `json:"trace_million"`
	UnitHour        float64 `json:"dynamodb_write_unit_hour"`
	RareUnitHour    float64 `json:"dynamodb_ia_write_unit_hour"`
}

// DefaultPrices returns the prices that the program was built with.
func DefaultPrices() (PriceList, error) { return ReadPrices(bytes.NewReader(defaultFile)) }

// ReadPrices reads a file of prices. It returns an error if one is missing, negative or of an unknown name.
func ReadPrices(r io.Reader) (p PriceList, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return p, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("the prices cannot be read: %w", err)
	}
	var given struct{ Prices map[string]float64 }
	if err := json.Unmarshal(text, &given); err != nil {
		return p, fmt.Errorf("the prices cannot be read: %w", err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Prices]()) {
		name := f.Tag.Get("json")
		if _, ok := given.Prices[name]; !ok {
			return p, fmt.Errorf("the prices have no %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given.Prices)) {
		if price := given.Prices[name]; price < 0 || math.IsInf(price, 0) {
			return p, fmt.Errorf("the price %s is %g, want 0 or more", name, price)
		}
	}
	if p.Date == "" || p.Source == "" || p.Region == "" {
		return p, fmt.Errorf("the prices have no date, region or source")
	}
	return p, nil
}
