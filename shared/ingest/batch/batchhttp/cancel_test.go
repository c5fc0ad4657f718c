package batchhttp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/permission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// closer records the batches whose slots are to be left.
type closer struct {
	asked []batch.ID
	err   error
}

func (c *closer) LeaveSlots(_ context.Context, id batch.ID) error {
	c.asked = append(c.asked, id)
	return c.err
}

// A batch is cancelled until its ingestion begins, and no later.
func TestCancel(t *testing.T) {
	a := newAPI(t)
	steps := append(transitions(batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, ReportKey: "r"}),
		batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress},
		batch.Transition{To: batch.Processed})
	refusals := map[batch.Status]string{
		batch.Initialized: "The batch is INITIALIZED: it can be cancelled only until its ingestion begins.",
		batch.InProgress:  "The batch is IN_PROGRESS: it can be cancelled only until its ingestion begins.",
		batch.Processed:   "The batch has ended: it is PROCESSED.",
	}
	for n := range len(steps) + 1 {
		id := a.createBatch(t)
		a.apply(t, id, steps[:n]...)
		before := errtest.Must(a.batches.Get(t.Context(), batch.ID(id)))(t)
		t.Run(string(before.Status), func(t *testing.T) {
			a.closer.asked = nil
			for range 2 {
				status, reply := a.call(t, http.MethodPost, "/batch/cancel/"+id, "")
				if refusal := refusals[before.Status]; refusal != "" {
					if status != 409 || cmp.Diff(map[string]any{"message": refusal}, reply) != "" {
						t.Errorf("got %d %v, want 409 %q", status, reply, refusal)
					}
					continue
				}
				if status != 200 || reply["status"] != "ERROR" ||
					reply["error_message"] != "Cancelled by the client." || reply["batch_id"] != id ||
					reply["bytes_done"] != 0.0 || reply["queue_position"] != nil {
					t.Errorf("got %d %v, want 200 with the status record of the cancelled batch", status, reply)
				}
				if status, again := a.call(t, http.MethodGet, "/batch/status/"+id, ""); status != 200 ||
					cmp.Diff(reply, again) != "" {
					t.Errorf("the status is %d %v, want the reply of the cancel", status, again)
				}
				want := map[string]any{"message": "Cancelled by the client.", "valid": nil, "summary": nil,
					"errors_csv_url": nil, "rejected_file_url": nil, "rejected_left_out": nil,
					"receipt_url": "https:///tm/realtime/api/transactions/batch/receipt/" + id, "parquet_url": nil,
					"name": nil, "metadata": nil}
				if status, result := a.call(t, http.MethodGet, "/batch/validation-result/"+id, ""); status != 200 ||
					cmp.Diff(want, result) != "" {
					t.Errorf("the result is %d %v, want 200 %v", status, result, want)
				}
			}
			if wantAsked := 2; refusals[before.Status] == "" {
				if !slices.Equal(a.closer.asked, slices.Repeat([]batch.ID{batch.ID(id)}, wantAsked)) {
					t.Errorf("the slots of %v were asked for, want those of the batch, with each cancel",
						a.closer.asked)
				}
			} else if len(a.closer.asked) != 0 {
				t.Errorf("the slots of %v were asked for, want none", a.closer.asked)
			}
		})
	}
}

// A batch that has ended otherwise cannot be cancelled.
func TestCancelOfAnEndedBatch(t *testing.T) {
	a := newAPI(t)
	for _, end := range []batch.Transition{
		{To: batch.ValidationFailed, ErrorMessage: "rejected"}, {To: batch.Failed,
			ErrorMessage: batch.TechnicalFailure},
	} {
		id := a.createBatch(t)
		a.apply(t, id, append(transitions(batch.Verdict{})[:2], end)...)
		want := map[string]any{"message": "The batch has ended: it is " + string(end.To) + "."}
		if status, reply := a.call(t, http.MethodPost, "/batch/cancel/"+id, "{}"); status != 409 ||
			cmp.Diff(want, reply) != "" {
			t.Errorf("%s: got %d %v, want 409 %v", end.To, status, reply, want)
		}
	}
}

// That nobody can be asked for the slots does not undo the cancel: the sweep takes them back.
func TestCancelWithoutCloser(t *testing.T) {
	a := newAPI(t)
	a.closer.err = errors.New("no function")
	id := a.createBatch(t)
	if status, reply := a.call(t, http.MethodPost, "/batch/cancel/"+id, ""); status != 200 ||
		reply["status"] != "ERROR" {
		t.Errorf("got %d %v, want 200 and ERROR", status, reply)
	}
}

func TestCancelIsRefused(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t)
	expect := func(want int, path, body string) {
		t.Helper()
		difftest.Reply(t, path+" "+body, want)(a.call(t, http.MethodPost, "/batch/cancel/"+path, body))
	}
	expect(422, "not-a-uuid", "")
	expect(404, "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", "")
	expect(422, id, `{"reason":"x"}`)
	expect(422, id, `[]`)
	expect(422, id, `{`)
	a.caller.Permissions = []string{permission.BatchRead}
	expect(403, id, "")
	a.caller.Permissions = []string{permission.BatchUpload}
	a.caller.Tenant = "t2"
	expect(404, id, "")
	a.caller.Tenant = "t1"
	a.caller.Features = nil // existing batches can be ended without the batch feature
	difftest.Len(t, "the slots of were asked for", 0, a.closer.asked)
	expect(200, id, "{}")
}
