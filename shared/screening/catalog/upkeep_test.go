package catalog_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
)

func newUpkeep(m *catalogtest.Memory, c *clock, log *strings.Builder) *catalog.Upkeep {
	return &catalog.Upkeep{Store: m, Objects: m, MaxAge: 14 * 24 * time.Hour, Now: c.Now,
		Log: slog.New(slog.NewJSONHandler(log, nil))}
}

// Versions are removed in two steps, unless they are current, previous, among the last, pinned or needed again.
func TestPrune(t *testing.T) {
	t.Parallel()
	m, c := catalogtest.NewMemory(), &clock{now: catalogtest.Now}
	var log strings.Builder
	upkeep := newUpkeep(m, c, &log)
	var versions []catalog.Version
	for i := range 12 {
		i := catalog.Importer{Store: m, Files: m, Now: c.Now, By: fmt.Sprint(i)}
		p := plan(t, &i, c.Now(), persons(len(versions), 1)...)
		errtest.Fatal(t, i.Apply(t.Context(), p, true))
		versions = append(versions, p.Version)
		c.advance(time.Second)
	}
	errtest.Fatal(t, m.Pin(t.Context(), versions[1].VersionRef))
	left := func() (left string) {
		t.Helper()
		errtest.Fatal(t, upkeep.Run(t.Context()))
		for i, v := range versions {
			switch stored, err := m.Version(t.Context(), v.VersionRef); {
			case errors.Is(err, catalog.ErrNotFound):
			case !stored.CondemnedAt.IsZero():
				left += fmt.Sprintf("(%d)", i)
			default:
				left += fmt.Sprint(i)
			}
		}
		return left
	}
	expect := func(what, want string) {
		t.Helper()
		difftest.Equal(t, what+": is left", want, left())
	}
	expect("at once", "01234567891011")
	c.advance(24*time.Hour - 12*time.Second - 1)
	expect("just before a day has passed since the first import", "01234567891011")
	c.advance(12 * time.Second)
	expect("after a day", "(0)1(2)(3)(4)567891011")
	i := catalog.Importer{Store: m, Files: m, Now: c.Now, By: "again"}
	if _, _, err := i.Rollback(t.Context(), catalog.Shared, "un", versions[2].Version); !errors.Is(err,
		catalog.ErrNotFound) {
		t.Errorf("rolling back to a condemned version: %v, want ErrNotFound", err)
	}
	errtest.Fatal(t, m.AddVersion(t.Context(), versions[3]))
	c.advance(time.Hour - 1)
	expect("just before an hour has passed", "(0)1(2)(3)(4)567891011")
	c.advance(1)
	expect("after an hour", "1(3)567891011")
	difftest.Equal(t, "objects are left", 18, m.Objects())
	c.advance(time.Hour)
	expect("after another hour", "1567891011")
	if strings.Contains(log.String(), "a watchlist is old") {
		t.Errorf("a list of a day is reported as old:\n%s", log.String())
	}
}

// A list of any owner is reported from the age of the setting on.
func TestOldListsAreReported(t *testing.T) {
	t.Parallel()
	m, c := catalogtest.NewMemory(), &clock{now: catalogtest.Now}
	m.Import(t, catalog.Shared, "un", persons(0, 1)...) // it is a day older than its import
	m.Import(t, tenant, "own", persons(0, 1)...)
	var log strings.Builder
	upkeep := newUpkeep(m, c, &log)
	for _, test := range []struct {
		wait time.Duration
		want int
	}{{13*24*time.Hour - 1, 0}, {1, 2}} {
		c.advance(test.wait)
		errtest.Fatal(t, upkeep.Run(t.Context()))
		difftest.Equal(t, "reports: "+log.String(), test.want,
			strings.Count(log.String(), `"msg":"a watchlist is old"`))
	}
	difftest.Contains(t, "the log has no list or age", log.String(), `"list":"own"`, `"age_days":14`)
}
