package local

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/cmd/sluice/internal/commandtest"
	"sluice/shared/kit/difftest"
)

// The end of a period has a date if it is on another day than its beginning.
func TestFormatPeriod(t *testing.T) {
	from := time.Date(2026, 11, 26, 23, 59, 58, 0, time.UTC)
	for seconds, want := range map[int]string{
		1: "2026-11-26 23:59:58 to 23:59:59", 2: "2026-11-26 23:59:58 to 2026-11-27 00:00:00",
	} {
		difftest.Equal(t, fmt.Sprintf("after %d s", seconds), want,
			formatPeriod(from, from.Add(time.Duration(seconds)*time.Second)))
	}
}

func TestMetricsRefusesTheFuture(t *testing.T) {
	var stdout, stderr strings.Builder
	code := commandtest.Run(t.Context(), Commands(), []string{"metrics", "--since", "-10m", "--data", t.TempDir()},
		&stdout, &stderr)
	if code != 2 || !strings.Contains(stderr.String(), "--since is how long ago") {
		t.Errorf("exit code %d, %q; want 2 and what --since is", code, stderr.String())
	}
}
