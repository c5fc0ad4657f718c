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
