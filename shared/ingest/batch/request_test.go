package batch

import (
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestParseShare(t *testing.T) {
	for _, s := range []string{"0%", "0.5%", "0.50%", "1%", "10%", "99.999999999999999%", "100%", "100.0%"} {
		if got, err := ParseShare(s); err != nil || string(got) != s {
			t.Errorf("ParseShare(%q): got %q, error %v", s, got, err)
		}
	}
	for _, s := range []string{"", "%", "5", "0.5", ".5%", "5.%", "05%", "-1%", "+1%", "1e1%", "1 %", " 1%", "1%\n",
		"1,5%", "100.000000000000001%", "101%", "1000%", "٣%", "1%%", "0." + strings.Repeat("0", 15) + "1%"} {
		errtest.Is(t, fmt.Sprintf("ParseShare(%q)", s), errtest.Of(ParseShare(s)), ErrNotShare)
	}
}

func TestIsExceeded(t *testing.T) {
	for _, tt := range []struct {
		limit RejectLimit
		// most is the greatest number of invalid transactions of total that does not exceed the limit.
		most, total int64
	}{
		{RejectLimit{}, 0, 10},
		{RejectLimit{Lines: 3}, 3, 10},
		{RejectLimit{Lines: 10}, 10, 10},
		{RejectLimit{Share: "0%"}, 0, 10},
		{RejectLimit{Share: "0.5%"}, 1, 200},
		{RejectLimit{Share: "0.5%"}, 0, 199},
		{RejectLimit{Share: "0.50%"}, 5, 1000},
		{RejectLimit{Share: "0.1%"}, 1_000_000, 1_000_000_000},
		{RejectLimit{Share: "0.3%"}, 3, 1000},
		{RejectLimit{Share: "33.333333333333333%"}, 333, 1000},
		{RejectLimit{Share: "0.000000000000001%"}, 10, 1_000_000_000_000_000_000},
		{RejectLimit{Share: "100%"}, 7, 7},
	} {
		for invalid, want := range map[int64]bool{tt.most - 1: false, tt.most: false, tt.most + 1: true} {
			difftest.Equal(t, fmt.Sprintf("%+v with %d of %d: got exceeded", tt.limit, invalid, tt.total), want,
				tt.limit.IsExceeded(invalid, tt.total))
		}
	}
}
