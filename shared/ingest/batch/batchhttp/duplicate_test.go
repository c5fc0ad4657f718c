package batchhttp_test

import (
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestOnDuplicate(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string]batch.OnDuplicate{
		`{}`: "", `{"on_duplicate":null}`: "", `{"on_duplicate":"accept"}`: batch.AcceptDuplicate,
		`{"on_duplicate":"reject"}`: batch.RejectDuplicate, `{"on_duplicate":"reject_open"}`: batch.RejectOpenDuplicate,
	} {
		id := batch.ID(a.generateUploadURL(t, body)["batch_id"].(string))
		difftest.Equal(t, body, want, errtest.Must(a.batches.Get(t.Context(), id))(t).OnDuplicate)
	}
	for _, body := range []string{`{"on_duplicate":"Reject"}`, `{"on_duplicate":""}`, `{"on_duplicate":true}`} {
		difftest.Reply(t, body, 422)(a.call(t, "POST", "/batch/generate-upload-url", body))
	}
}

// A batch that is rejected as a duplicate names the other one. Its results have a report only if lines are invalid.
func TestRejectedDuplicate(t *testing.T) {
	a := newAPI(t)
	const other = batch.ID("0193a0b4-7c00-7000-8000-000000000001")
	object, plan := batch.Object{Key: "k", ETag: "e", Size: 1}, chunk.NewPlan(1, 1)
	for _, invalid := range []int64{0, 1} {
		id := a.generateUploadURL(t, `{"on_duplicate":"reject"}`)["batch_id"].(string)
		a.apply(t, id, batch.Transition{To: batch.Uploaded, Object: &object, ReceivedAt: now},
			batch.Transition{To: batch.ValidationStarted, Plan: &plan},
			batch.Transition{To: batch.ValidationFailed, DuplicateOf: other,
				ErrorMessage: batch.DuplicateMessage(other), Verdict: &batch.Verdict{Total: 2, Accepted: 2 - invalid,
					Invalid: invalid, ReportKey: "report", SummaryKey: "s"}})
		const message = "This file was processed as batch " + string(other) + "."
		status, reply := a.call(t, "GET", "/batch/status/"+id, "")
		if status != 200 || reply["status"] != "VALIDATION_FAILED" || reply["duplicate_of"] != string(other) ||
			reply["error_message"] != message {
			t.Errorf("the status is %d %v, want VALIDATION_FAILED, and the other batch", status, reply)
		}
		status, reply = a.call(t, "GET", "/batch/validation-result/"+id, "")
		if _, hasURL := reply["errors_file_url"]; status != 200 || reply["valid"] != false ||
			reply["message"] != message || hasURL != (invalid > 0) {
			t.Errorf("with %d invalid lines the results are %d %v, want valid false, and the message", invalid, status,
				reply)
		}
	}
}
