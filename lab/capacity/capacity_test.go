package main

import (
	"bytes"
	"math"
	"testing"
)

// without returns assumptions without admission and with Maps of one width, as they were before there was any.
func without(t *testing.T, change func(*assumptions)) assumptions {
	t.Helper()
	a := defaults()
	change(&a)
	if err := usePreset(&a, "none"); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFailures requires about the numbers of failures that a review of the service simulated before there was
// admission, and none with it.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		batches  int
		from, to int
	}{{"30 at once", 30, 1, 10}, {"50 at once", 50, 20, 32}, {"100 at once", 100, 60, 80}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := without(t, func(a *assumptions) { a.Batches = tt.batches })
			r := simulate(a)
			if n := r.failures(); n < tt.from || n > tt.to {
				t.Errorf("without admission %d of %d batches failed, want %d to %d", n, tt.batches, tt.from, tt.to)
			}
			a = defaults()
			a.Batches = tt.batches
			if r = simulate(a); r.failures() > 0 {
				t.Errorf("with admission %d of %d batches failed, want none", r.failures(), tt.batches)
			}
			if r.throttled > 0 || len(r.batches) != tt.batches {
				t.Errorf("%d invocations of %d batches were throttled, want none", r.throttled, len(r.batches))
			}
		})
	}
}

// TestFreshAccount requires that three batches turn each other into failures in a new account, and not with admission.
func TestFreshAccount(t *testing.T) {
	t.Parallel()
	fresh := defaults()
	if err := usePreset(&fresh, "fresh"); err != nil {
		t.Fatal(err)
	}
	fresh.Batches = 5
	crowded := without(t, func(a *assumptions) { *a = fresh })
	if r := simulate(crowded); r.failures() < 2 {
		t.Errorf("without admission %d of 5 batches failed, want 2 at least", r.failures())
	}
	fresh.ValidationSlots, fresh.IngestionSlots = 1, 2
	if r := simulate(fresh); r.failures() > 0 {
		t.Errorf("with admission %d of 5 batches failed, want none", r.failures())
	}
}

// small returns assumptions of a few batches that are quickly simulated.
func small() assumptions {
	a := defaults()
	a.Batches, a.Tenants, a.Bytes, a.Spread, a.Hours = 12, 3, 200e6, 0.5, 0.01
	return a
}

func TestSameFlagsGiveTheSameOutput(t *testing.T) {
	t.Parallel()
	var outputs [2]bytes.Buffer
	for i := range outputs {
		r := simulate(small())
		r.print(&outputs[i], true)
	}
	if outputs[0].String() != outputs[1].String() {
		t.Errorf("two outputs differ:\n%s\n%s", &outputs[0], &outputs[1])
	}
	a := small()
	a.Seed = 2
	var other bytes.Buffer
	r := simulate(a)
	r.print(&other, true)
	if other.String() == outputs[0].String() {
		t.Error("another seed gives the same output")
	}
}

// TestEveryLineIsStoredOnce adds up the write units, with functions that must be invoked again and a table that grows.
func TestEveryLineIsStoredOnce(t *testing.T) {
	t.Parallel()
	a := small()
	a.StartUnits, a.MaxUnits, a.WarmUp, a.Budget = 1000, 4000, 60, 5
	r := simulate(a)
	units, want := 0.0, 0.0
	for second, u := range r.uses {
		units += u.units
		if u.units > 4000*1.001 {
			t.Errorf("in second %d %.0f units were used, and the table takes 4000", second, u.units)
		}
	}
	for _, b := range r.batches {
		want += b.lines * a.LineUnits
		if b.failed || b.ended == 0 {
			t.Errorf("batch %d did not end as PROCESSED", b.id)
		}
	}
	if math.Abs(units-want) > want/1e6 {
		t.Errorf("%.0f write units were used, want %.0f", units, want)
	}
	if r.resumed == 0 || r.finalUnits != 4000 {
		t.Errorf("%d functions were invoked again and the table takes %.0f units, want some and 4000", r.resumed,
			r.finalUnits)
	}
}

// TestSlots requires that no tenant has more batches in a stage than it may, and that tenants take turns.
func TestSlots(t *testing.T) {
	t.Parallel()
	a := small()
	a.Hours, a.Spread, a.ValidationSlots, a.ValidationPerTenant = 0, 0, 2, 1
	r := simulate(a)
	for _, b := range r.batches {
		at, tenant := 0, 0
		for _, other := range r.batches {
			if other.admitted <= b.admitted && other.verdict > b.admitted {
				at++
				if other.tenant == b.tenant {
					tenant++
				}
			}
		}
		if at > 2 || tenant > 1 {
			t.Errorf("at the beginning of batch %d, %d batches were validated, %d of them of its tenant; want 2 and "+
				"1 at most",
				b.id, at, tenant)
		}
	}
	// The batches belong to the tenants in turn, so that they begin in the order in which they came.
	for i, b := range r.batches[1:] {
		if b.admitted < r.batches[i].admitted {
			t.Errorf("batch %d began before batch %d", b.id, r.batches[i].id)
		}
	}
}
