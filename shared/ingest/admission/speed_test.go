package admission_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/ingest/admission/admissiontest"
)

// A gate admits 250 batches a second, whose writes compete, as soon as it admits a few: by the clock of the test, on
// which nothing but the calls takes time.
func TestGateAdmits250BatchesASecond(t *testing.T) {
	for _, perSecond := range []int{10, 50, 250, 500} {
		synctest.Test(t, func(t *testing.T) {
			queue, calls := admissiontest.NewMemory(), atomic.Int64{}
			queue.Before = func() {
				calls.Add(1)
				time.Sleep(admissiontest.CallTime)
			}
			batches := 4 * perSecond
			half, most := admissiontest.PassGate(t, queue, batches, perSecond, max(20, perSecond/2),
				100*time.Millisecond)
			each := float64(calls.Load()) / float64(batches)
			t.Logf("%3d batches a second: half wait %s at most, 99 of 100 %s; %.1f calls to the queue each", perSecond,
				half.Round(time.Millisecond), most.Round(time.Millisecond), each)
			if most > 100*time.Millisecond || each > 26 {
				t.Errorf("want waits below 100 ms, and 26 calls")
			}
		})
	}
}
