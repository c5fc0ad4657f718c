package screening_test

import (
	"testing"
	"time"

	"sluice/shared/screening"
)

func TestExpiry(t *testing.T) {
	t.Parallel()
	closed := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	validities := map[string]int{"short": 1, "long": 30}
	end := closed.AddDate(0, 0, 1)
	for _, test := range []struct {
		name      string
		providers []string
		closed    time.Time
		at        time.Time
		want      screening.ExpiryStatus
	}{
		{"no provider", nil, closed, end, screening.NotExpiring},
		{"open", []string{"short"}, time.Time{}, end, screening.NotExpiring},
		{"no setting", []string{"other"}, closed, end, screening.NotExpiring},
		{"a moment before its end", []string{"short"}, closed, end.Add(-1), screening.Valid},
		{"at its end", []string{"short"}, closed, end, screening.Expired},
		{"valid and none", []string{"other", "long"}, closed, end, screening.Valid},
		{"valid before expired", []string{"long", "short"}, closed, end, screening.Expired},
		{"expired before valid", []string{"short", "long"}, closed, end, screening.Expired},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := screening.Batch{ClosedAt: test.closed}
			for _, id := range test.providers {
				b.Providers = append(b.Providers, screening.ProviderRun{ID: id})
			}
			got, providers := b.Expiry(validities, test.at)
			if got != test.want || len(providers) != len(test.providers) {
				t.Errorf("got %s, %+v, want %s", got, providers, test.want)
			}
		})
	}
}
