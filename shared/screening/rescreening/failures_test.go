package rescreening_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"sluice/shared/connect/event"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/rescreening"
)

// failing are batches; the entities of some cannot be read.
type failing struct {
	rescreening.Batches
	fails func(batchID string) bool
}

var errDamaged = errors.New("the row is damaged")

// GetEntities implements rescreening.Batches.
func (f failing) GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error) {
	if f.fails(batchID) {
		return nil, errDamaged
	}
	return f.Batches.GetEntities(ctx, tenant, batchID, ids)
}

// expectFailure rescreens and wants the error of a batch.
func (o *office) expectFailure() {
	o.t.Helper()
	errtest.Is(o.t, "Run", o.Run(o.t.Context()), errDamaged)
}

// expectCounts checks how many batches of rescreening entities have.
func (o *office) expectCounts(what string, want map[string]int) {
	o.t.Helper()
	for entity, n := range want {
		got := 0
		for _, b := range o.batches(entity) {
			if b.Type == screening.TypeRescreening {
				got++
			}
		}
		difftest.Equal(o.t, what+": batches of rescreening of "+entity, n, got)
	}
}

// A batch that cannot be rescreened keeps no other from it, is named in the log, and is rescreened as soon as that is
// possible. Until then the round has not ended, however often it is continued.
func TestBatchesThatFail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var log bytes.Buffer
	o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	const second, third, later = "Boris Testov", "Zinaida Orlovskaya", "Wilhelmina Quandt"
	o.update(catalogtest.Person("1", "Someone Known"))
	o.screen("first", asked)
	broken := o.screen("second", second)
	o.screen("third", third, later)
	o.must(o.Run(t.Context()))
	o.events = nil
	o.Batches = failing{o.store, func(id string) bool { return id == broken.ID }}

	o.update(catalogtest.Person("2", asked), catalogtest.Person("3", second), catalogtest.Person("4", third))
	for range 2 {
		o.expectFailure()
		o.expectCounts("while a batch fails", map[string]int{asked: 1, second: 0, third: 1})
	}
	if got := strings.Count(log.String(), `"msg":"a batch could not be rescreened"`); got != 2 ||
		!strings.Contains(log.String(), broken.ID) {
		t.Errorf("the log names the batch %d times, want 2:\n%s", got, &log)
	}
	o.update(catalogtest.Person("2", asked), catalogtest.Person("3", second), catalogtest.Person("4", third),
		catalogtest.Person("5", later))
	o.expectFailure()
	o.expectCounts("after another change", map[string]int{asked: 1, second: 0, third: 1, later: 1})
	ended := func(m event.Message) bool { return m.Type == event.RescreeningFinished }
	if slices.ContainsFunc(o.events, ended) {
		t.Errorf("the end of a round was announced that has not ended: %+v", o.events)
	}

	o.Batches = o.store
	o.must(o.Run(t.Context()))
	o.expectCounts("at the end", map[string]int{asked: 1, second: 1, third: 1, later: 1})
	if !slices.ContainsFunc(o.events, ended) {
		t.Errorf("the end of the round was not announced: %+v", o.events)
	}
	round, err := o.store.GetRound(t.Context(), tenant, catalog.Shared, "un")
	if err != nil || round.Next != "" || len(round.Failed) > 0 || round.Names != 4 || round.Matches != 2 {
		t.Errorf("the round is %+v, %v; want it ended, with 4 names and 2 new matches", round, err)
	}
}

// A failure that is hardly one of single batches stops the round; it continues where it was.
func TestManyBatchesThatFail(t *testing.T) {
	t.Parallel()
	const count, most = 120, 100
	o := newOffice(t)
	o.update(catalogtest.Person("1", "Someone Known"))
	for i := range count {
		o.screen(fmt.Sprint("journey ", i), "Boris Testov")
	}
	o.must(o.Run(t.Context()))
	o.update(catalogtest.Person("2", asked))
	reads := 0
	o.Batches = failing{o.store, func(string) bool { reads++; return true }}
	for run := range 2 {
		o.expectFailure()
		round, err := o.store.GetRound(t.Context(), tenant, catalog.Shared, "un")
		if err != nil || len(round.Failed) != most || round.IsThrough || reads != most+1+run {
			t.Errorf("after run %d and %d reads, %d batches have failed, at the end: %t, %v", run, reads,
				len(round.Failed), round.IsThrough, err)
		}
	}
	o.Batches = o.store
	o.must(o.Run(t.Context()))
	round, err := o.store.GetRound(t.Context(), tenant, catalog.Shared, "un")
	if err != nil || round.Next != "" || round.Names != count {
		t.Errorf("the round is %+v, %v; want it ended, with %d names", round, err, count)
	}
}
