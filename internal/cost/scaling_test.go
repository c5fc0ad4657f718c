package cost

import (
	"math/rand/v2"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// For any day: nothing is lost, the units stay within their limits, decreases are as rare as AWS allows, and what is
// used is at most what is paid.
func TestDaysKeepTheRules(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 4))
		d := Day{Peak: random.Float64(), Min: 1 + random.Float64()*2000, Target: 0.2 + random.Float64()*0.7}
		d.Max = d.Min * (1 + random.Float64()*40)
		units := random.Float64() * 1e9
		errtest.Fatal(t, d.Check())
		got := d.Pass(units)
		if written := got.Used * got.UnitHours * 3600; !near(written+got.Left, units) || got.Used > 1+1e-9 {
			t.Errorf("seed %d: %g units written and %g left of %g: %+v", seed, written, got.Left, units, got)
		}
		if hours := got.UnitHours / 24; hours < d.Min-1e-6 || hours > d.Max+1e-6 || got.Highest > d.Max ||
			got.Highest < d.Min {
			t.Errorf("seed %d: %+v is not within %+v", seed, got, d)
		}
		if got.Decreases > freeDecreases+24 || got.Throttled > 86400 || got.Left > 0 && got.Highest < d.Max {
			t.Errorf("seed %d: %+v of %+v", seed, got, d)
		}
	}
}

// A rate up to the target of the least units is never scaled and never waits.
func TestFlatDays(t *testing.T) {
	d := Day{Min: 1000, Max: 4000, Target: 0.7}
	for rate, want := range map[float64]float64{0: 1000, 699: 1000, 700: 1000, 2100: 3000, 2800: 4000, 4000: 4000} {
		got := d.Pass(rate * 86400)
		difftest.Equal(t, "hours, waits and changes", []float64{24 * want, 0, 0},
			[]float64{got.UnitHours, got.Throttled, float64(got.Increases + got.Decreases)})
	}
}

// A peak is followed with steps of at most 1 / target, each after two minutes, while writes wait; it ends with the
// alarm of a quarter of an hour.
func TestPeaks(t *testing.T) {
	d := Day{Min: 100, Max: 40_000, Target: 0.7, Peak: 1}
	got := d.Pass(4 * 3600 * 1400) // 1,400 units a second
	if got.Increases < 8 || got.Throttled < 8*minutesAbove*60 || got.Left != 0 || got.Decreases < 1 ||
		got.Decreases > 4 {
		t.Errorf("%+v", got)
	}
	warm := d
	warm.Min = 2000
	if got := warm.Pass(4 * 3600 * 1400); got.Throttled != 0 || got.Increases != 0 || got.UnitHours != 24*2000 {
		t.Errorf("with units for the peak: %+v", got)
	}
	short := d
	short.Max = 1000
	if got := short.Pass(4 * 3600 * 1400); got.Left != 0 || got.LongestWait < 4*3600*0.4 {
		t.Errorf("with fewer units than the peak: %+v", got)
	}
}

func TestCheckRefusesWrongDays(t *testing.T) {
	for _, d := range []Day{
		{Peak: 1.1, Min: 1, Max: 1, Target: 0.7}, {Min: 0, Max: 1, Target: 0.7}, {Min: 2, Max: 1, Target: 0.7},
		{Min: 1, Max: 1, Target: 0.19}, {Min: 1, Max: 1, Target: 0.91},
	} {
		errtest.Fails(t, "a day", d.Check(), "must be")
	}
}
