package parquetfile

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/transaction/schema"
)

// exactly returns the unscaled value of a number as a decimal, nil if it is not exactly one. It is the slow way.
func exactly(number string) *big.Int {
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil
	}
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalScale), nil)))
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(decimalPrecision), nil)
	if !value.IsInt() || value.Num().CmpAbs(limit) >= 0 {
		return nil
	}
	return value.Num()
}

// checkDecimal compares the decimal of a number with the slow way.
func checkDecimal(t *testing.T, number string) {
	t.Helper()
	value, ok := appendDecimal([]byte("x"), []byte(number))
	want := exactly(number)
	if !ok {
		if want != nil || string(value) != "x" {
			t.Errorf("%s is not a decimal and %q is appended, want %v", number, value, want)
		}
		return
	}
	got := new(big.Int).SetBytes(value[1:])
	if value[1]&0x80 != 0 {
		got.Sub(got, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	if len(value) != 17 || want == nil || got.Cmp(want) != 0 {
		t.Errorf("%s has the unscaled value %v, want %v", number, got, want)
	}
}

func TestDecimals(t *testing.T) {
	nines := strings.Repeat("9", 20)
	for _, number := range []string{
		"0", "-0", "0.0", "0e5", "0E-400", "1", "-1", "48.90", "0.1", "1e3", "1E+3", "1.5e-3", "10e-19", "1e-18",
		"1e-19", "12e-19",
		"0.000000000000000001", "0.0000000000000000001", "0.00000000000000000010", nines, nines + "." + nines[:18],
		nines + "." + nines[:19], "-" + nines + "." + nines[:18], "1" + nines, "1e19", "1e20", "1.0e20", "0.01e21",
		"0.01e22", "9.9e19",
		"1e308", "-1e-308", "100000000000000000000e-1", "123456789.123456789012345678", "18446744073709551616",
		"170141183460469231731.687303715884105728",
	} {
		checkDecimal(t, number)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		digits := func(n int) string {
			text := make([]byte, n)
			for i := range text {
				text[i] = byte('0' + random.IntN(10))
			}
			return string(text)
		}
		number := strconv.Itoa(random.IntN(10)) + digits(random.IntN(22)) + "." + digits(1+random.IntN(22))
		if random.IntN(2) == 0 {
			number += "e" + strconv.Itoa(random.IntN(50)-25)
		}
		checkDecimal(t, strings.TrimLeft(number, "0")+"0")
	}
}

// No powers are computed for exponents that no number of the schema has.
func TestDecimalsOfAnyExponent(t *testing.T) {
	for number, want := range map[string]bool{
		"1e999999999999999999999": false, "1e-999999999999999999999": false, "0e999999999999999999999": true,
	} {
		if _, ok := appendDecimal(nil, []byte(number)); ok != want {
			t.Errorf("%s is a decimal: %v, want %v", number, ok, want)
		}
	}
}

func FuzzDecimal(f *testing.F) {
	f.Add("48.90")
	f.Add("-1.5e-3")
	f.Fuzz(func(t *testing.T, number string) {
		isNumber := func(text string) bool {
			line := `{"transaction_fee":` + text + "}"
			for _, finding := range scanner.New(transaction.Rules{}).Line([]byte(line)).Findings {
				if finding.Code == transaction.CodeJSONInvalid || finding.Pointer == "/transaction_fee" {
					return false
				}
			}
			return strings.Trim(text, "0123456789.eE+-") == "" && text != ""
		}
		if isNumber(number) {
			checkDecimal(t, number)
		}
	})
}

func TestDateTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-26T08:15:00":                 "2026-11-26T08:15:00Z",
		"2026-11-26T08:15:00Z":                "2026-11-26T08:15:00Z",
		"2026-11-26T08:15:00.5":               "2026-11-26T08:15:00.5Z",
		"2026-11-26T08:15:00.123456999":       "2026-11-26T08:15:00.123456Z",
		"2026-11-26T08:15:00.999999999+23:59": "2026-11-25T08:16:00.999999Z",
		"2026-11-26T08:15:00-23:59":           "2026-11-27T08:14:00Z",
		"1969-12-31T23:59:59.9999999Z":        "1969-12-31T23:59:59.999999Z",
		"0000-01-01T00:00:00+00:01":           "-0001-12-31T23:59:00Z",
		"9999-12-31T23:59:59.999999999-00:01": "10000-01-01T00:00:59.999999Z",
		"2024-02-29T00:00:00+00:00":           "2024-02-29T00:00:00Z",
	} {
		value, err := leafValue(kindOf("created_at"), []byte(text))
		if got := time.UnixMicro(value.Int64()).UTC().Format(time.RFC3339Nano); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
}

// kindOf returns the kind of a field of a modification.
func kindOf(name string) schema.Kind {
	for _, f := range schema.Modification.Fields {
		if f.Name == name {
			return f.Kind
		}
	}
	panic("no such field: " + name)
}
