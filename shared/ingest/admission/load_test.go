package admission_test

import (
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

// The load of a stage is who waits, since when, and how many have slots; who has one is not waiting any more.
func TestLoad(t *testing.T) {
	received := time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	slots := admissiontest.NewSlots()
	slots.Limits = map[admission.Pool]admission.Limits{admission.LargeIngestion: {Slots: 2, PerTenant: 2}}
	expect := func(stage admission.Pool, atMost int, want admission.Load) {
		t.Helper()
		if got, err := slots.Load(t.Context(), stage, atMost); err != nil || got != want {
			t.Errorf("load of %s: got %+v, error %v, want %+v", stage, got, err, want)
		}
	}
	expect(admission.LargeIngestion, 0, admission.Load{})
	for i, id := range []batch.ID{"a", "b", "c", "d", "e"} {
		err := slots.Enter(t.Context(), admission.Ticket{
			Pool: admission.LargeIngestion, Token: string(id), Attempt: admission.Attempt{Entered: received},
			Place: admission.Place{Tenant: "t", ReceivedAt: received.Add(-time.Duration(i) * time.Second), Batch: id},
		})
		errtest.Fatal(t, err)
	}
	all := admission.Load{Waiting: 3, Since: received.Add(-4 * time.Second), Used: 2}
	expect(admission.LargeIngestion, 0, all)
	expect(admission.LargeIngestion, 4, all)
	all.IsCut = true
	expect(admission.LargeIngestion, 3, all)
	all.Waiting--
	expect(admission.LargeIngestion, 2, all)
	expect(admission.LargeValidation, 0, admission.Load{})
}
