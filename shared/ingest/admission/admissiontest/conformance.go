package admissiontest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Conform tests a queue against the contract of admission.Queue. Each call of open returns an empty queue.
func Conform(t *testing.T, open func(t *testing.T) admission.Queue) {
	for name, test := range map[string]func(*testing.T, admission.Queue){
		"tickets":     testTickets,
		"attempts":    testAttempts,
		"order":       testOrder,
		"gate":        testGate,
		"races":       testOneWinsARace,
		"release":     testRelease,
		"first gate":  testReleaseBeforeFirstAdmit,
		"other pools": testPoolsAreApart,
		"changes":     testChanges,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var received = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// NewTicket returns the ticket of a first attempt for validation: of the n-th batch of a tenant, by the time of its
// receipt in seconds.
func NewTicket(tenant string, n int) admission.Ticket {
	id := batch.ID(fmt.Sprintf("%s-batch-%03d", tenant, n))
	return admission.Ticket{
		Pool: admission.LargeValidation, Token: "token of " + string(id), Attempt: admission.Attempt{Entered: received},
		Place: admission.Place{Tenant: tenant, ReceivedAt: received.Add(time.Duration(n) * time.Second), Batch: id},
	}
}

// must ends a test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	errtest.Fatal(t, err)
}

// expectTickets checks which tickets of validation are at the places of some.
func expectTickets(t *testing.T, q admission.Queue, at []admission.Ticket, want ...admission.Ticket) {
	t.Helper()
	var places []admission.Place
	for _, ticket := range at {
		places = append(places, ticket.Place)
	}
	got, err := q.Tickets(t.Context(), admission.LargeValidation, places)
	must(t, err)
	compare := func(a, b admission.Ticket) int { return comparePlaces(a.Place, b.Place) }
	slices.SortFunc(got, compare)
	slices.SortFunc(want, compare)
	difftest.Equal(t, "tickets", want, got)
}

func testTickets(t *testing.T, q admission.Queue) {
	a, b := NewTicket("a", 1), NewTicket("b", 1)
	for range 2 {
		must(t, q.Put(t.Context(), a))
	}
	expectTickets(t, q, []admission.Ticket{a, b}, a)
	must(t, q.Put(t.Context(), b))
	expectTickets(t, q, []admission.Ticket{a, b}, a, b)
	for range 2 {
		must(t, q.Remove(t.Context(), a))
		must(t, q.Withdraw(t.Context(), admission.LargeValidation, b.Place))
	}
	expectTickets(t, q, []admission.Ticket{a, b})
	expectTickets(t, q, nil)
}

// Of two attempts of one batch, the later one's ticket stays, in whatever order they come.
func testAttempts(t *testing.T, q admission.Queue) {
	first := NewTicket("a", 1)
	retry, again := first, first
	retry.Attempt.Retry, retry.Token = 2, "token of the retry"
	again.Attempt = admission.Attempt{Entered: received.Add(time.Millisecond)}
	again.Token = "token of the execution that began anew"
	for i, late := range []admission.Ticket{first, retry, again} {
		must(t, q.Put(t.Context(), late))
		expectTickets(t, q, []admission.Ticket{first}, late)
		for _, early := range []admission.Ticket{first, retry, again}[:i] {
			errtest.Is(t, "an earlier attempt", q.Put(t.Context(), early), admission.ErrSuperseded)
			must(t, q.Remove(t.Context(), early))
		}
		expectTickets(t, q, []admission.Ticket{first}, late)
	}
	must(t, q.Withdraw(t.Context(), admission.LargeValidation, first.Place))
	expectTickets(t, q, []admission.Ticket{first})
}

func testOrder(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	want := []admission.Ticket{NewTicket("a", 9), NewTicket("a", 10), NewTicket("ab", 1), NewTicket("b", 5)}
	// Fractions of a second of different lengths are in order, too, and the ID decides about equal times.
	want[0].ReceivedAt = received.Add(100 * time.Millisecond)
	want[1].ReceivedAt = received.Add(100*time.Millisecond + time.Nanosecond)
	last := NewTicket("b", 6)
	last.ReceivedAt = want[3].ReceivedAt
	want = append(want, last)
	for _, i := range []int{3, 1, 4, 0, 2} {
		must(t, q.Put(ctx, want[i]))
	}
	some, err := q.Waiting(ctx, admission.LargeValidation, 2)
	if err != nil || len(some) != 2 || some[1] != want[1].Place {
		t.Errorf("the first two places are %+v, error %v", some, err)
	}
	places, err := q.Waiting(ctx, admission.LargeValidation, 0)
	must(t, err)
	for i, p := range places {
		if p != want[i].Place {
			t.Errorf("place %d is %+v, want %+v", i, p, want[i].Place)
		}
	}
	difftest.Equal(t, "places", len(want), len(places))
	after := func(p admission.Place, atMost int, want ...admission.Ticket) {
		t.Helper()
		got := errtest.Must(q.After(ctx, admission.LargeValidation, p, atMost))(t)
		difftest.Equal(t, fmt.Sprintf("at most %d tickets after %+v", atMost, p), slices.Concat(want),
			slices.Concat(got))
	}
	for i := range want {
		after(want[i].Place, 9, want[i+1:]...)
	}
	for tenant, first := range map[string]int{"": 0, "a": 2, "ab": 3, "aa": 2, "0": 0, "b": 5, "c": 5} {
		for atMost := 1; atMost <= 6; atMost++ {
			after(admission.Place{Tenant: tenant}, atMost, want[first:min(first+atMost, 5)]...)
		}
	}
}

func testGate(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	g, err := q.Gate(ctx, admission.LargeValidation)
	must(t, err)
	empty := admission.Gate{Pool: admission.LargeValidation, Holders: map[batch.ID]admission.Holder{}}
	difftest.Equal(t, "the first gate", empty, g)
	a, b, c, at := NewTicket("a", 1), NewTicket("b", 1), NewTicket("c", 1), received.Add(time.Hour)
	b.Round = 3
	n := 0
	for _, tickets := range [][]admission.Ticket{{a}, {c, b}} {
		g = errtest.Must(q.Admit(ctx, g, at, tickets...))(t)
		stored := errtest.Must(q.Gate(ctx, admission.LargeValidation))(t)
		n += len(tickets)
		last := tickets[len(tickets)-1]
		if diff := cmp.Diff(stored, g); diff != "" || g.Turn != last.Tenant || len(g.Holders) != n {
			t.Errorf("the gate after an admission (-stored +returned), turn %s:\n%s", g.Turn, diff)
		}
		for _, p := range tickets {
			difftest.Equal(t, "holder", admission.Holder{Place: p.Place, Round: p.Round, Since: at, LookAt: at},
				g.Holders[p.Batch])
		}
	}
	must(t, q.Postpone(ctx, admission.LargeValidation, a.Batch, at.Add(time.Minute)))
	must(t, q.Postpone(ctx, admission.LargeValidation, b.Batch, time.Time{}))
	must(t, q.Postpone(ctx, admission.LargeValidation, "nobody", at))
	stored, err := q.Gate(ctx, admission.LargeValidation)
	must(t, err)
	if got := stored.Holders[a.Batch]; !got.LookAt.Equal(at.Add(time.Minute)) || !got.Since.Equal(at) {
		t.Errorf("a postponed holder is %+v", got)
	}
	if got := stored.Holders[b.Batch]; !got.LookAt.IsZero() || len(stored.Holders) != 3 {
		t.Errorf("got %+v, want three holders and the second one to be looked at now", stored.Holders)
	}
}

// Of several admissions by the same gate, one is made.
func testOneWinsARace(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	for round := range 5 { // the first round creates the gate
		g, err := q.Gate(ctx, admission.LargeValidation)
		must(t, err)
		var group sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			group.Go(func() { _, errs[i] = q.Admit(ctx, g, received, NewTicket("a", 10*round+i)) })
		}
		group.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, admission.ErrContended) {
				t.Errorf("an admission failed: %v, want ErrContended", err)
			}
		}
		after, err := q.Gate(ctx, admission.LargeValidation)
		must(t, err)
		if won != 1 || len(after.Holders) != round+1 || after.Version <= g.Version {
			t.Errorf("round %d: %d of %d admissions were made, the gate has %d holders", round, won, len(errs),
				len(after.Holders))
		}
	}
}

// A release leaves decisions under way that are not about its batch, and prevents those that may be.
func testRelease(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	gate := func() admission.Gate {
		t.Helper()
		return errtest.Must(q.Gate(ctx, admission.LargeValidation))(t)
	}
	a, b, c, d := NewTicket("a", 1), NewTicket("b", 1), NewTicket("c", 1), NewTicket("d", 1)
	before := errtest.Must(q.Admit(ctx, gate(), received, a, b))(t)
	must(t, q.Release(ctx, admission.LargeValidation, a.Batch))
	difftest.Equal(t, "version after the release of a slot", before.Version, gate().Version)
	errtest.Is(t, "the end of a round of a batch that has left",
		errtest.Of(q.EndRound(ctx, before, a.Batch)), admission.ErrContended)
	after := errtest.Must(q.Admit(ctx, before, received, c))(t)
	difftest.Equal(t, "version", before.Version+1, after.Version)
	want := map[batch.ID]admission.Holder{
		b.Batch: admission.HolderOf(b, received), c.Batch: admission.HolderOf(c, received),
	}
	difftest.Equal(t, "holders after an admission by the gate before the release", want, gate().Holders)
	before = gate()
	must(t, q.Release(ctx, admission.LargeValidation, a.Batch))
	errtest.Is(t, "an admission by the gate before a release of no slot",
		errtest.Of(q.Admit(ctx, before, received, d)), admission.ErrContended)
	difftest.Equal(t, "holders", want, gate().Holders)
	errtest.Is(t, "a batch that left gets no slot again", errtest.Of(q.Admit(ctx, gate(), received, a)), nil)
}

// A release before the first admission prevents one that is under way, too.
func testReleaseBeforeFirstAdmit(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	g, err := q.Gate(ctx, admission.LargeValidation)
	must(t, err)
	must(t, q.Postpone(ctx, admission.LargeValidation, "nobody", received))
	p := NewTicket("a", 1)
	must(t, q.Release(ctx, admission.LargeValidation, p.Batch))
	errtest.Is(t, "an admission by the gate before the release", errtest.Of(q.Admit(ctx, g, received, p)),
		admission.ErrContended)
	if g, err = q.Gate(ctx, admission.LargeValidation); err != nil || len(g.Holders) != 0 || g.Version == 0 {
		t.Errorf("the gate is %+v, error %v; want a stored one without holders", g, err)
	}
}

func testPoolsAreApart(t *testing.T, q admission.Queue) {
	ctx := t.Context()
	ticket := NewTicket("a", 1)
	must(t, q.Put(ctx, ticket))
	others := errtest.Must(q.After(ctx, admission.LargeIngestion, admission.Place{}, 1))(t)
	difftest.Equal(t, "tickets for validation that wait for ingestion", 0, len(others))
	g, err := q.Gate(ctx, admission.LargeValidation)
	must(t, err)
	_ = errtest.Must(q.Admit(ctx, g, received, ticket))(t)
	must(t, q.Release(ctx, admission.LargeIngestion, ticket.Batch))
	if g, err = q.Gate(ctx, admission.LargeValidation); err != nil || len(g.Holders) != 1 {
		t.Errorf("validation has the holders %+v, error %v; want one", g.Holders, err)
	}
}

// The end of a round and an adaptation are made by the current gate alone, and refused writes are recorded beside both.
func testChanges(t *testing.T, q admission.Queue) {
	ctx, at := t.Context(), received.Add(time.Hour)
	must(t, q.SetRefused(ctx, admission.LargeValidation, at)) // there is no gate
	old := errtest.Must(q.Gate(ctx, admission.LargeValidation))(t)
	difftest.Equal(t, "version without a gate", int64(0), old.Version)
	a, b := NewTicket("a", 1), NewTicket("b", 1)
	g := errtest.Must(q.Admit(ctx, old, received, a))(t)
	g = errtest.Must(q.Admit(ctx, g, received, b))(t)
	must(t, q.SetRefused(ctx, admission.LargeValidation, at))
	adapted := errtest.Must(q.Adapt(ctx, g, 7, at.Add(time.Second)))(t)
	for name, change := range map[string]func() (admission.Gate, error){
		"the end of a round": func() (admission.Gate, error) { return q.EndRound(ctx, g, a.Batch) },
		"an adaptation":      func() (admission.Gate, error) { return q.Adapt(ctx, g, 8, at) },
	} {
		errtest.Is(t, name+" by an old gate", errtest.Of(change()), admission.ErrContended)
	}
	left := errtest.Must(q.EndRound(ctx, adapted, a.Batch))(t)
	stored := errtest.Must(q.Gate(ctx, admission.LargeValidation))(t)
	want := admission.Gate{
		Pool: admission.LargeValidation, Version: g.Version + 2, Turn: "b", Slots: 7, AdaptedAt: at.Add(time.Second),
		RefusedAt: at, Holders: map[batch.ID]admission.Holder{b.Batch: g.Holders[b.Batch]},
	}
	difftest.Equal(t, "the stored gate", want, stored)
	left.RefusedAt = at // which the gate that was given did not know
	difftest.Equal(t, "the returned gate", want, left)
}
