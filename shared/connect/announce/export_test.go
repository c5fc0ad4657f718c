package announce_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/shared/connect/announce"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// exports records the exports that are asked for; the first request fails.
type exports struct{ asked []batch.ID }

func (e *exports) RequestWork(_ context.Context, id batch.ID) error {
	e.asked = append(e.asked, id)
	if len(e.asked) == 1 {
		return errors.New("no answer")
	}
	return nil
}

// An export is asked for until it is recorded. It does not keep the receivers waiting, and is not a receiver itself.
func TestExportsAreRequested(t *testing.T) {
	f := newFixture(t)
	asked := &exports{}
	f.Workers = map[batch.Receiver]announce.WorkRequester{batch.Export: asked}
	b := batchtest.NewBatch(t, "a tenant")
	b.Status = batch.InProgress
	errtest.Fatal(t, f.store.Create(t.Context(), b))
	processed := batch.Transition{To: batch.Processed, At: endedAt, Export: true}
	errtest.Fatal(t, errtest.Of(f.store.Apply(t.Context(), b.ID, processed)))
	for i, fails := range []bool{true, false, false} {
		f.clock = f.clock.Add(time.Hour)
		if i == 2 {
			errtest.Fatal(t, f.store.MarkExported(t.Context(), b.ID, "parquet/b"))
		}
		if _, err := f.Handle(t.Context(), announce.Input{Batch: b.ID}); (err != nil) != fails {
			t.Errorf("request %d: got error %v, want one: %v", i, err, fails)
		}
		difftest.Equal(t, fmt.Sprintf("request %d: messages on the bus", i), 1, len(f.bus.sent))
		owed := []batch.Receiver{batch.Export}
		if i == 2 {
			owed = nil
		}
		if got := f.unannounced(t, b.ID); !slices.Equal(got, owed) {
			t.Errorf("request %d: the batch owes %v, want %v", i, got, owed)
		}
	}
	difftest.Equal(t, "exports asked for", []batch.ID{b.ID, b.ID}, asked.asked)
}
