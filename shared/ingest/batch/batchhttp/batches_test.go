package batchhttp_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestUploadURL(t *testing.T) {
	a := newAPI(t)
	for body, rejectOnInvalid := range map[string]bool{"": true, "{}": true, `{"reject_on_invalid":true}`: true,
		`{"reject_on_invalid":false}`: false, `{"reject_on_invalid":null}`: true, `{"other":1}`: true} {
		t.Run(body, func(t *testing.T) {
			got := a.generateUploadURL(t, body)
			id := got["batch_id"].(string)
			u, err := url.Parse(got["url"].(string))
			if err != nil || u.Host != "s3.test" || u.Path != "/uploads/uploads/t1/"+id ||
				u.Query().Get("X-Amz-Expires") != "900" {
				t.Errorf("got the URL %v, %v, want /uploads/uploads/t1/%s at s3.test for 900 s", u, err, id)
			}
			if got := u.Query().Get("X-Amz-SignedHeaders"); got != "host;if-none-match" {
				t.Errorf("got the signed headers %s, want host;if-none-match", got)
			}
			delete(got, "url")
			want := map[string]any{"batch_id": id, "method": "PUT",
				"required_headers": map[string]any{"If-None-Match": "*"},
				"expires_at":       "2026-11-26T08:30:00Z", "max_bytes": 1000.0}
			if strings.Contains(body, "other") {
				want["ignored_parameters"] = []any{"other"}
			}
			difftest.Equal(t, "the result", want, got)
			b, err := a.batches.Get(t.Context(), batch.ID(id))
			if err != nil || b.RejectOnInvalid != rejectOnInvalid || b.Tenant != "t1" || b.Client != "c1" ||
				b.Settings != settings ||
				b.Status != batch.AwaitingUpload {
				t.Errorf("got the batch %+v, %v, want RejectOnInvalid %t of t1 and c1 with %+v", b, err,
					rejectOnInvalid, settings)
			}
		})
	}
	for _, body := range []string{`{"reject_on_invalid":"no"}`, `{"reject_on_invalid":0}`, `[]`, `{`, `true`} {
		t.Run("invalid "+body, func(t *testing.T) {
			status, reply := a.call(t, "POST", "/batch/generate-upload-url", body)
			if status != 422 || reply["detail"] == nil {
				t.Errorf("got %d %v, want 422 with detail", status, reply)
			}
		})
	}
}

// The status and the validation results answer as docs/contract/batch.md, Answers in each status, says.
func TestStatusAndResult(t *testing.T) {
	plan := chunk.NewPlan(100, 60)
	started := []batch.Transition{
		{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", ETag: `"e"`, Size: 100}},
		{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 4096},
	}
	good := &batch.Verdict{Total: 3, Accepted: 3, ReportKey: "reports/r", SummaryKey: "reports/s"}
	mixed := &batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, ReportKey: "reports/r", SummaryKey: "reports/s"}
	then := func(more ...batch.Transition) []batch.Transition {
		return append(append([]batch.Transition{}, started...), more...)
	}
	toEnd := func(v *batch.Verdict) []batch.Transition {
		return then(batch.Transition{To: batch.PendingIngestion, Verdict: v}, batch.Transition{To: batch.Initialized},
			batch.Transition{To: batch.InProgress}, batch.Transition{To: batch.Processed})
	}
	const valid, invalid = "Batch validated successfully.", "Batch validated with errors."
	tests := []struct {
		name        string
		transitions []batch.Transition
		// of the status endpoint
		statusCode   int
		status       string // or the message of a 202
		errorMessage string
		// of the validation result
		resultCode int
		message    string
		valid      any
		hasURL     bool
	}{
		{"awaiting upload", nil, 202, "Batch not yet uploaded completely.", "", 202,
			"Batch not yet uploaded completely.", nil, false},
		{"uploaded", started[:1], 202, "Batch not yet processed.", "", 202, "Batch not yet validated.", nil, false},
		{"validation started", started, 200, "VALIDATION_STARTED", "", 202, "Batch not yet validated.", nil, false},
		{"validation failed", then(batch.Transition{To: batch.ValidationFailed, Verdict: mixed,
			ErrorMessage: "One line is wrong."}),
			200, "VALIDATION_FAILED", "One line is wrong.", 200, invalid, false, true},
		{"pending ingestion", then(batch.Transition{To: batch.PendingIngestion, Verdict: good}), 200,
			"PENDING_INGESTION", "", 200, valid, true, false},
		{"initialized with dropped lines", then(batch.Transition{To: batch.PendingIngestion, Verdict: mixed},
			batch.Transition{To: batch.Initialized}),
			200, "INITIALIZED", "", 200, invalid, false, true},
		{"in progress", toEnd(good)[:5], 200, "IN_PROGRESS", "", 200, valid, true, false},
		{"processed", toEnd(good), 200, "PROCESSED", "", 200, valid, true, false},
		{"processed with dropped lines", toEnd(mixed), 200, "PROCESSED", "", 200, invalid, false, true},
		{"error before validation", append(started[:1:1],
			batch.Transition{To: batch.Failed, ErrorMessage: "The file is infected."}),
			200, "ERROR", "The file is infected.", 200, "The file is infected.", nil, false},
		{"error after validation", append(toEnd(good)[:5:5],
			batch.Transition{To: batch.Failed, ErrorMessage: "It broke."}),
			200, "ERROR", "It broke.", 200, "It broke.", true, false},
		{"error after validation with dropped lines", append(toEnd(mixed)[:5:5],
			batch.Transition{To: batch.Failed, ErrorMessage: "It broke."}),
			200, "ERROR", "It broke.", 200, "It broke.", false, true},
	}
	a := newAPI(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := a.createBatch(t)
			a.apply(t, id, tt.transitions...)
			code, reply := a.call(t, "GET", "/batch/status/"+strings.ToUpper(id), "")
			if code != tt.statusCode || reply["batch_id"] != id {
				t.Fatalf("status: got %d %v, want %d of %s", code, reply, tt.statusCode, id)
			}
			if code == 202 && reply["message"] != tt.status {
				t.Errorf("status: got the message %v, want %s", reply["message"], tt.status)
			}
			want := []any{tt.status, tt.errorMessage, "2026-11-26T08:15:00Z"}
			if got := []any{reply["status"], reply["error_message"], reply["received_at"]}; code == 200 &&
				!cmp.Equal(got, want) {
				t.Errorf("status: got %v, want %v", got, want)
			}
			for _, removed := range []string{"failed_transaction_modification_ids", "progress_percentage"} {
				if _, ok := reply[removed]; ok {
					t.Errorf("status: the reply has %s, which was removed from the interface", removed)
				}
			}
			code, reply = a.call(t, "GET", "/batch/validation-result/"+id, "")
			valid, hasValid := reply["valid"]
			if code != tt.resultCode || reply["message"] != tt.message || valid != tt.valid || !hasValid {
				t.Errorf("result: got %d %v, want %d with valid %v and the message %s", code, reply, tt.resultCode,
					tt.valid, tt.message)
			}
			if _, hasURL := reply["errors_file_url"]; hasURL != tt.hasURL {
				t.Errorf("result: got %v, want errors_file_url: %t", reply, tt.hasURL)
			}
		})
	}
}

// The URL of a report is given for as long as the bucket keeps the report, and the counts without end.
func TestExpiredReport(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t)
	plan := chunk.NewPlan(100, 60)
	a.apply(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 10},
		batch.Transition{To: batch.ValidationFailed, Verdict: &batch.Verdict{Total: 1, Invalid: 1, ReportKey: "k",
			SummaryKey: "s"}, ErrorMessage: "x"})
	for name, tt := range map[string]struct {
		now     time.Time
		hasURL  bool
		message string
	}{
		"last moment": {now.AddDate(0, 0, 30), true, "Batch validated with errors."},
		"after it": {now.AddDate(0, 0, 30).Add(1), false,
			"Batch validated with errors. Its report was kept for 30 days and has been deleted."},
	} {
		t.Run(name, func(t *testing.T) {
			a.now = tt.now
			_, reply := a.call(t, "GET", "/batch/validation-result/"+id, "")
			if _, hasURL := reply["errors_file_url"]; hasURL != tt.hasURL || reply["message"] != tt.message {
				t.Errorf("got %v, want errors_file_url: %t, and the message %s", reply, tt.hasURL, tt.message)
			}
			if reply["valid"] != false || reply["counts"].(map[string]any)["invalid"] != 1.0 {
				t.Errorf("got %v, want valid false and 1 invalid transaction", reply)
			}
		})
	}
}

// Progress is the sum of the committed results of the chunks: of validation first, then of ingestion.
func TestProgress(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t)
	plan := chunk.NewPlan(100, 60)
	a.apply(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 10})
	check := func(done float64, counts map[string]any) {
		t.Helper()
		_, reply := a.call(t, "GET", "/batch/status/"+id, "")
		if reply["bytes_done"] != done || reply["bytes_total"] != 100.0 || !cmp.Equal(counts, reply["counts"]) {
			t.Errorf("got %v, want %v of 100 bytes and %v", reply, done, counts)
		}
	}
	unknown := map[string]any{"total": nil, "accepted": nil, "invalid": nil, "ingested": nil}
	check(0, unknown)
	errtest.Fatal(t, errtest.Of(a.batches.CommitValidated(t.Context(), batch.ID(id), 1,
		batch.ValidateResult{Lines: 2, Transactions: 2, Bytes: 40})))
	check(40, unknown)
	a.apply(t, id, batch.Transition{To: batch.PendingIngestion, Verdict: &batch.Verdict{Total: 5, Accepted: 5,
		ReportKey: "r"}},
		batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress})
	errtest.Fatal(t, errtest.Of(a.batches.AdvanceCursor(t.Context(), batch.ID(id), 1,
		batch.IngestCursor{Offset: 30, Line: 1, Stored: 1})))
	check(30, map[string]any{"total": 5.0, "accepted": 5.0, "invalid": 0.0, "ingested": 1.0})
	a.apply(t, id, batch.Transition{To: batch.Processed})
	check(100, map[string]any{"total": 5.0, "accepted": 5.0, "invalid": 0.0, "ingested": 5.0})
}

// A batch of another tenant is not found; an ID that is not a UUID is a validation error.
func TestBatchesOfOthersAndBadIDs(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t)
	for _, path := range []string{"/batch/status/", "/batch/validation-result/"} {
		a.caller.Tenant = "t2"
		for _, other := range []string{id, uuid.NewString()} {
			if status, reply := a.call(t, "GET", path+other, ""); status != 404 ||
				reply["message"] != "Batch not found." {
				t.Errorf("%s%s: got %d %v, want 404", path, other, status, reply)
			}
		}
		for _, malformed := range []string{"x", id[1:], id + "0", "{" + id + "}", strings.ReplaceAll(id, "-", ""),
			"%00", strings.Repeat("x", 3000)} {
			status, reply := a.call(t, "GET", path+malformed, "")
			want := []any{map[string]any{"loc": []any{"path", "batch_id"}, "msg": "The value must be a UUID.",
				"type": "uuid"}}
			if status != 422 || !cmp.Equal(want, reply["detail"]) {
				t.Errorf("%s%.40q: got %d %v, want 422 %v", path, malformed, status, reply, want)
			}
		}
		a.caller.Tenant = "t1"
		difftest.Reply(t, path+" of the tenant's own", 202)(a.call(t, "GET", path+id, ""))
	}
}

// Each route needs its permission and the batch feature.
func TestPermissions(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t)
	full := a.caller
	for _, tt := range []struct{ method, path, permission string }{
		{"POST", "/batch/generate-upload-url", permission.BatchUpload},
		{"GET", "/batch/status/" + id, permission.BatchRead},
		{"GET", "/batch/validation-result/" + id, permission.BatchRead},
	} {
		t.Run(tt.path, func(t *testing.T) {
			a.caller = full
			a.caller.Permissions = []string{tt.permission}
			if status, reply := a.call(t, tt.method, tt.path, ""); status/100 != 2 {
				t.Errorf("with %s alone: got %d %v, want success", tt.permission, status, reply)
			}
			a.caller.Permissions = slices.DeleteFunc(permission.All(),
				func(p string) bool { return p == tt.permission })
			if status, reply := a.call(t, tt.method, tt.path, ""); status != 403 ||
				!strings.Contains(reply["message"].(string), tt.permission) {
				t.Errorf("without %s: got %d %v, want 403", tt.permission, status, reply)
			}
			a.caller = full
			a.caller.Features = nil
			status, reply := a.call(t, tt.method, tt.path, "")
			if tt.permission == permission.BatchUpload {
				if status != 403 || !strings.Contains(reply["message"].(string), "batch feature") {
					t.Errorf("without the feature: got %d %v, want 403", status, reply)
				}
			} else if status/100 != 2 {
				t.Errorf("without the feature: got %d %v, want success", status, reply)
			}
		})
	}
}

// A tenant with too much open gets no further upload URL until something of it has ended.
func TestOpenBatchesAreLimited(t *testing.T) {
	a := newAPI(t)
	a.caller.Attributes[ratelimit.Attribute] = "open_batches=2 unvalidated_bytes=1100"
	expectRefusal := func(message string) {
		t.Helper()
		r := a.invoke(t, "POST", "/batch/generate-upload-url", "")
		if r.StatusCode != 429 || !strings.Contains(r.Body, message) || r.MultiValueHeaders["Retry-After"] == nil {
			t.Errorf("got %d %s with %v, want 429 %q with Retry-After", r.StatusCode, r.Body, r.MultiValueHeaders,
				message)
		}
	}
	first := a.createBatch(t)
	a.apply(t, first, batch.Transition{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 99}, ReceivedAt: now})
	second := a.createBatch(t)
	expectRefusal("The tenant has as many batches that have not ended as it may have: 2. Awaiting their upload: 1 " +
		"(GET batch?state=awaiting_upload). Cancel one, which makes room at once, or wait until one has ended")
	a.apply(t, second, batch.Transition{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 1}, ReceivedAt: now})
	a.caller.Attributes[ratelimit.Attribute] = "open_batches=0 unvalidated_bytes=100"
	expectRefusal("The tenant has as many bytes not validated as it may have: 100. Of these, 0 batches that await " +
		"their upload hold 0: ")
	a.apply(t, second, batch.Transition{To: batch.Failed})
	third := a.createBatch(t)
	expectRefusal("Of these, 1 batches that await their upload hold 1000: ") // the size limit
	a.apply(t, third, batch.Transition{To: batch.Failed})
	for _, length := range []string{"0", "1"} { // 99 bytes are uploaded
		difftest.Reply(t, length+" bytes", 200)(
			a.call(t, "POST", "/batch/generate-upload-url", `{"content_length":`+length+`}`))
	}
	expectRefusal("Of these, 2 batches that await their upload hold 1: ")
	a.caller.Attributes[ratelimit.Attribute] = "open_batches=1 unvalidated_bytes=0"
	expectRefusal("may have: 1. ")
	a.caller.Attributes[ratelimit.Attribute] = "open_batches=0 unvalidated_bytes=0"
	a.createBatch(t)
	a.caller.Tenant, a.caller.Attributes[ratelimit.Attribute] = "another", "open_batches=1"
	forgotten := a.createBatch(t)
	a.now = now.Add(30 * time.Minute) // a quarter of an hour after the end of the URL
	expectRefusal("may have: 1. Awaiting their upload: 1")
	a.now = a.now.Add(1)
	last := a.createBatch(t)
	expectRefusal("may have: 1. Awaiting their upload: 1")
	a.apply(t, last, batch.Transition{To: batch.Failed})
	a.apply(t, forgotten, batch.Transition{To: batch.Uploaded, Object: &batch.Object{Key: "k"}, ReceivedAt: now})
	expectRefusal("may have: 1. Awaiting their upload: 0") // the upload has arrived nevertheless
}
