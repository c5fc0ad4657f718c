package evaluate

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestNumbersAreComparedByTheirValue(t *testing.T) {
	texts := []string{
		"0", "-0", "+0", "0.0", "00", "1", "+1", "01", "1.0", "1.00", "-1", "-1.0", "2", "10", "9", "9.9", "9.99",
		"10.01", "-9", "-10",
		"-0.5", "0.5", "0.05", "0.050", "123456789012345678901234567890.1", "123456789012345678901234567890.10",
		"123456789012345678901234567890.11", "-123456789012345678901234567890.11", strings.Repeat("9", maxNumberLength),
	}
	for _, a := range texts {
		for _, b := range texts {
			x, isNumber := parseNumber(a)
			y, isNumberToo := parseNumber(b)
			if !isNumber || !isNumberToo {
				t.Fatalf("%q or %q is no number", a, b)
			}
			left, _ := new(big.Rat).SetString(a)
			right, _ := new(big.Rat).SetString(b)
			difftest.Equal(t, fmt.Sprintf("compare %q with %q", a, b), left.Cmp(right), x.compare(y))
			difftest.Equal(t, fmt.Sprintf("%q == %q", a, b), left.Cmp(right) == 0, x == y)
		}
	}
	for _, text := range []string{"", "-", "+", ".", "1.", ".5", "1e3", "0x1", "1_000", "1,5", " 1", "1 ", "١", "--1",
		"NaN", "Inf", "1.2.3",
		strings.Repeat("9", maxNumberLength+1)} {
		if n, ok := parseNumber(text); ok {
			t.Errorf("%q is read as the number %+v", text, n)
		}
	}
}

func TestDatesAreComparedInTheirTimeZone(t *testing.T) {
	tokyo := errtest.Must(time.LoadLocation("Asia/Tokyo"))(t)
	for _, tt := range []struct {
		a, b string
		zone *time.Location
		want int
	}{
		{"2026-03-01", "2026-03-01", time.UTC, 0},
		{"2026-02-28", "2026-03-01", time.UTC, -1},
		{"2026-03-01T00:00:00Z", "2026-03-01T01:00:00+01:00", time.UTC, 0},
		{"2026-03-01T00:00:00Z", "2026-03-01T00:00:00.001Z", time.UTC, -1},
		{"2026-03-01T23:59:59Z", "2026-03-01", time.UTC, 0},
		{"2026-03-01T14:59:59Z", "2026-03-01", tokyo, 0},
		{"2026-03-01T15:00:00Z", "2026-03-01", tokyo, 1},
	} {
		a, isDate := parseDate(tt.a)
		b, isDateToo := parseDate(tt.b)
		if !isDate || !isDateToo {
			t.Fatalf("%q or %q is no date", tt.a, tt.b)
		}
		difftest.Equal(t, fmt.Sprintf("compare %s with %s in %s", tt.a, tt.b, tt.zone), tt.want, a.compare(b, tt.zone))
		difftest.Equal(t, fmt.Sprintf("compare %s with %s in %s", tt.b, tt.a, tt.zone), -tt.want, b.compare(a, tt.zone))
	}
	for _, text := range []string{"", "2026", "2026-3-1", "2026-02-30", "2026-02-29", "01/02/2026",
		"2026-03-01 10:00:00", "2026-03-01T10:00",
		"2026-03-01T10:00:00", "2026-03-01T25:00:00Z", "2026-03-01x", "12026-03-01"} {
		if d, ok := parseDate(text); ok {
			t.Errorf("%q is read as the date %v", text, d.at)
		}
	}
}
