package batchhttp_test

import (
	"net/http"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
)

// The status of a batch that waits has its position, before it has a public status, too; that of any other batch has no
// position.
func TestQueuePosition(t *testing.T) {
	a := newAPI(t)
	var ids []batch.ID
	for i := range 3 {
		id := batch.ID(a.generateUploadURL(t, "")["batch_id"].(string))
		ids = append(ids, id)
		received := now.Add(time.Duration(i) * time.Second)
		b := errtest.Must(a.batches.Apply(t.Context(), id, batch.Transition{
			To: batch.Uploaded, At: now, Object: &batch.Object{Key: "k", Size: 1}, ReceivedAt: received}))(t)
		if i == 2 {
			break // this one does not wait
		}
		ticket := admission.Ticket{Pool: admission.LargeValidation, Place: admission.PlaceOf(b), Token: string(id)}
		errtest.Fatal(t, a.queue.Put(t.Context(), ticket))
	}
	expect := func(id batch.ID, wantStatus int, want any) {
		t.Helper()
		status, got := a.call(t, http.MethodGet, "/batch/status/"+string(id), "")
		position, exists := got["queue_position"]
		if status != wantStatus || !exists || position != want {
			t.Errorf("status %d with queue_position %v, want %d with %v", status, position, wantStatus, want)
		}
	}
	expect(ids[0], http.StatusAccepted, 1.0)
	expect(ids[1], http.StatusAccepted, 2.0)
	expect(ids[2], http.StatusAccepted, nil)

	gate, err := a.queue.Gate(t.Context(), admission.LargeValidation)
	if err == nil {
		b, _ := a.batches.Get(t.Context(), ids[0])
		_, err = a.queue.Admit(t.Context(), gate, now, admission.Ticket{Place: admission.PlaceOf(b)})
	}
	errtest.Fatal(t, err)
	expect(ids[1], http.StatusAccepted, 2.0) // positions are kept for two seconds
	a.now = a.now.Add(2 * time.Second)
	expect(ids[1], http.StatusAccepted, 1.0)
	expect(ids[0], http.StatusAccepted, nil) // it has a slot

	a.apply(t, string(ids[1]), batch.Transition{To: batch.ValidationStarted})
	expect(ids[1], http.StatusOK, nil) // it waits no more, although its position is still kept
	status, list := a.call(t, http.MethodGet, "/batch", "")
	for _, item := range list["batches"].([]any) {
		if position := item.(map[string]any)["queue_position"]; position != nil {
			t.Errorf("the list (%d) has %v, want no position", status, item)
		}
	}
	a.apply(t, string(ids[1]), batch.Transition{To: batch.Failed, ErrorMessage: "e"})
	expect(ids[1], http.StatusOK, nil)
}
