package batchhttp_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/batch"
	"sluice/shared/batch/batchdb"
	"sluice/shared/batch/batchhttp"
	"sluice/shared/chunk"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/httpapi"
	"sluice/shared/objects"
	"sluice/shared/transaction"
	"sluice/shared/transaction/transactiondb"
)

const base = "/tm/realtime/api/transactions"

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the monitoring interface over real stores, for one caller.
type api struct {
	batches      *batchdb.Store
	transactions *transactiondb.Store
	caller       httpapi.Caller
	now          time.Time // of the batch endpoints
	serve        map[string]httpapi.API
}

func newAPI(t *testing.T) *api {
	t.Helper()
	db := dynamotest.Start(t)
	stored, err := transactiondb.New(db, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), BaseEndpoint: aws.String("http://s3.test")}
	bucket := func(name string) *objects.Bucket {
		return objects.New(cfg, name, objects.Options{PathStyle: true, Now: clock})
	}
	a := &api{batches: batchdb.New(db, "test-batches"), transactions: stored, now: now}
	a.caller = httpapi.Caller{
		Tenant: "t1", Client: "c1", Permissions: []string{batchhttp.BatchUpload, batchhttp.BatchRead, batchhttp.TransactionRead},
		Features: []string{httpapi.FeatureBatch}, Expires: now.Add(time.Hour),
		Settings: batch.Settings{MaxFuture: time.Hour, MainEntity: transaction.ByPaymentType},
	}
	b := &batchhttp.Batches{
		Store: a.batches, Uploads: bucket("uploads"), Reports: bucket("work"), UploadLifetime: 15 * time.Minute, DownloadLifetime: time.Minute,
		MaxBytes: 1000, ReportDays: 30, Now: func() time.Time { return a.now }, NewID: batch.NewID, NewKey: func() [16]byte { return [16]byte{1, 2, 3} },
	}
	r := &batchhttp.Transactions{Store: stored, Batches: a.batches}
	group := func(routes []httpapi.Route) httpapi.API {
		return httpapi.API{Routes: routes, Errors: httpapi.MonitoringErrors, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: clock}
	}
	a.serve = map[string]httpapi.API{"batch": group(b.Routes()), "transaction": group(r.Routes())}
	return a
}

// call sends a request as the caller and decodes the reply.
func (a *api) call(t *testing.T, function, method, path, body string) (int, map[string]any) {
	t.Helper()
	r := a.invoke(t, function, method, path, nil, body)
	var out map[string]any
	if err := json.Unmarshal([]byte(r.Body), &out); err != nil {
		t.Fatalf("%d %q", r.StatusCode, r.Body)
	}
	return r.StatusCode, out
}

// invoke sends a request as the caller and returns what the function answers with.
func (a *api) invoke(t *testing.T, function, method, path string, query map[string]string, body string) events.APIGatewayProxyResponse {
	t.Helper()
	e := events.APIGatewayProxyRequest{HTTPMethod: method, Path: base + path, QueryStringParameters: query, Body: body,
		Headers: map[string]string{"Content-Type": "application/json"}}
	e.RequestContext.Authorizer = a.caller.Context()
	r, err := httpapi.Lambda(a.serve[function].Handler())(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (a *api) upload(t *testing.T, body string) map[string]any {
	t.Helper()
	status, reply := a.call(t, "batch", "POST", "/batch/generate-upload-url", body)
	if status != 200 {
		t.Fatalf("%q: %d %v", body, status, reply)
	}
	return reply
}

func (a *api) move(t *testing.T, id string, changes ...batch.Transition) {
	t.Helper()
	for _, c := range changes {
		c.At = now
		if _, err := a.batches.Apply(t.Context(), batch.ID(id), c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUploadURL(t *testing.T) {
	a := newAPI(t)
	for body, reject := range map[string]bool{"": true, "{}": true, `{"reject_on_invalid":true}`: true, `{"reject_on_invalid":false}`: false,
		`{"reject_on_invalid":null}`: true, `{"other":1}`: true} {
		got := a.upload(t, body)
		id := got["batch_id"].(string)
		u, err := url.Parse(got["url"].(string))
		if err != nil || u.Host != "s3.test" || u.Path != "/uploads/uploads/t1/"+id || u.Query().Get("X-Amz-Expires") != "900" {
			t.Errorf("%v %v", u, err)
		}
		if got := u.Query().Get("X-Amz-SignedHeaders"); got != "host;if-none-match" {
			t.Errorf("signed headers %s", got)
		}
		delete(got, "url")
		want := map[string]any{"batch_id": id, "method": "PUT", "required_headers": map[string]any{"If-None-Match": "*"},
			"expires_at": "2026-11-26T08:30:00Z", "max_bytes": 1000.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		b, err := a.batches.Get(t.Context(), batch.ID(id))
		if err != nil || b.RejectOnInvalid != reject || b.Tenant != "t1" || b.Client != "c1" || b.Settings != a.caller.Settings || b.Status != batch.AwaitingUpload {
			t.Errorf("%q: %+v %v", body, b, err)
		}
	}
	for _, body := range []string{`{"reject_on_invalid":"no"}`, `{"reject_on_invalid":0}`, `[]`, `{`, `true`} {
		if status, reply := a.call(t, "batch", "POST", "/batch/generate-upload-url", body); status != 422 || reply["detail"] == nil {
			t.Errorf("%q: %d %v", body, status, reply)
		}
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
		return then(batch.Transition{To: batch.PendingIngestion, Verdict: v}, batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress}, batch.Transition{To: batch.Processed})
	}
	const valid, invalid = "Batch validated successfully.", "Batch validated with errors."
	tests := []struct {
		name    string
		changes []batch.Transition
		status  int
		state   string // or the message of a 202
		why     string
		result  int
		says    string
		valid   any
		url     bool
	}{
		{"awaiting upload", nil, 202, "Batch not yet uploaded completely.", "", 202, "Batch not yet uploaded completely.", nil, false},
		{"uploaded", started[:1], 202, "Batch not yet processed.", "", 202, "Batch not yet validated.", nil, false},
		{"validation started", started, 200, "VALIDATION_STARTED", "", 202, "Batch not yet validated.", nil, false},
		{"validation failed", then(batch.Transition{To: batch.ValidationFailed, Verdict: mixed, ErrorMessage: "One line is wrong."}),
			200, "VALIDATION_FAILED", "One line is wrong.", 200, invalid, false, true},
		{"pending ingestion", then(batch.Transition{To: batch.PendingIngestion, Verdict: good}), 200, "PENDING_INGESTION", "", 200, valid, true, false},
		{"initialized with dropped lines", then(batch.Transition{To: batch.PendingIngestion, Verdict: mixed}, batch.Transition{To: batch.Initialized}),
			200, "INITIALIZED", "", 200, invalid, false, true},
		{"in progress", toEnd(good)[:5], 200, "IN_PROGRESS", "", 200, valid, true, false},
		{"processed", toEnd(good), 200, "PROCESSED", "", 200, valid, true, false},
		{"processed with dropped lines", toEnd(mixed), 200, "PROCESSED", "", 200, invalid, false, true},
		{"error before validation", append(started[:1:1], batch.Transition{To: batch.Failed, ErrorMessage: "The file is infected."}),
			200, "ERROR", "The file is infected.", 200, "The file is infected.", false, false},
		{"error after validation", append(toEnd(good)[:5:5], batch.Transition{To: batch.Failed, ErrorMessage: "It broke."}),
			200, "ERROR", "It broke.", 200, "It broke.", false, false},
	}
	a := newAPI(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := a.upload(t, "")["batch_id"].(string)
			a.move(t, id, tt.changes...)
			status, reply := a.call(t, "batch", "GET", "/batch/status/"+strings.ToUpper(id), "")
			if status != tt.status || reply["batch_id"] != id {
				t.Fatalf("%d %v", status, reply)
			}
			if status == 200 && (reply["status"] != tt.state || reply["error_message"] != tt.why || reply["received_at"] != "2026-11-26T08:15:00Z") ||
				status == 202 && reply["message"] != tt.state {
				t.Errorf("%v", reply)
			}
			for _, gone := range []string{"failed_transaction_modification_ids", "progress_percentage"} {
				if _, there := reply[gone]; there {
					t.Errorf("%s is back", gone)
				}
			}
			status, reply = a.call(t, "batch", "GET", "/batch/validation-result/"+id, "")
			isValid, there := reply["valid"]
			if status != tt.result || reply["message"] != tt.says || isValid != tt.valid || !there {
				t.Errorf("%d %v", status, reply)
			}
			if _, has := reply["errors_file_url"]; has != tt.url {
				t.Errorf("url: %v", reply)
			}
		})
	}
}

// A report is offered for as long as the bucket keeps it, and what it said in numbers for ever.
func TestAReportThatIsGone(t *testing.T) {
	a := newAPI(t)
	id := a.upload(t, "")["batch_id"].(string)
	plan := chunk.NewPlan(100, 60)
	a.move(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 10},
		batch.Transition{To: batch.ValidationFailed, Verdict: &batch.Verdict{Total: 1, Invalid: 1, ReportKey: "k"}, ErrorMessage: "x"})
	for _, tt := range []struct {
		at  time.Time
		url bool
		say string
	}{
		{now.AddDate(0, 0, 30), true, "Batch validated with errors."},
		{now.AddDate(0, 0, 30).Add(1), false, "Batch validated with errors. Its report was kept for 30 days and is gone."},
	} {
		a.now = tt.at
		_, reply := a.call(t, "batch", "GET", "/batch/validation-result/"+id, "")
		if _, url := reply["errors_file_url"]; url != tt.url || reply["message"] != tt.say || reply["valid"] != false || reply["counts"].(map[string]any)["invalid"] != 1.0 {
			t.Errorf("%v: %v", tt.at, reply)
		}
	}
}

// Progress is what the chunks say: of validation first, of ingestion then.
func TestProgress(t *testing.T) {
	a := newAPI(t)
	id := a.upload(t, "")["batch_id"].(string)
	plan := chunk.NewPlan(100, 60)
	a.move(t, id, batch.Transition{To: batch.Uploaded, ReceivedAt: now, Object: &batch.Object{Key: "k", Size: 100}},
		batch.Transition{To: batch.ValidationStarted, Plan: &plan, MaxLineBytes: 10})
	check := func(done float64, counts map[string]any) {
		t.Helper()
		_, reply := a.call(t, "batch", "GET", "/batch/status/"+id, "")
		if reply["bytes_done"] != done || reply["bytes_total"] != 100.0 || !cmp.Equal(counts, reply["counts"]) {
			t.Errorf("%v, want %v %v", reply, done, counts)
		}
	}
	unknown := map[string]any{"total": nil, "accepted": nil, "invalid": nil, "ingested": nil}
	check(0, unknown)
	if _, err := a.batches.CommitValidated(t.Context(), batch.ID(id), 1, batch.ValidateResult{Lines: 2, Transactions: 2, Bytes: 40}); err != nil {
		t.Fatal(err)
	}
	check(40, unknown)
	a.move(t, id, batch.Transition{To: batch.PendingIngestion, Verdict: &batch.Verdict{Total: 5, Accepted: 5}}, batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress})
	if _, err := a.batches.AdvanceCursor(t.Context(), batch.ID(id), 1, batch.IngestCursor{Offset: 30, Line: 1, Stored: 1}); err != nil {
		t.Fatal(err)
	}
	check(30, map[string]any{"total": 5.0, "accepted": 5.0, "invalid": 0.0, "ingested": 1.0})
	a.move(t, id, batch.Transition{To: batch.Processed})
	check(100, map[string]any{"total": 5.0, "accepted": 5.0, "invalid": 0.0, "ingested": 5.0})
}

func TestBatchesOfOthers(t *testing.T) {
	a := newAPI(t)
	id := a.upload(t, "")["batch_id"].(string)
	for _, path := range []string{"/batch/status/", "/batch/validation-result/"} {
		a.caller.Tenant = "t2"
		for _, other := range []string{id, uuid.NewString()} {
			if status, reply := a.call(t, "batch", "GET", path+other, ""); status != 404 || reply["message"] != "Batch not found." {
				t.Errorf("%d %v", status, reply)
			}
		}
		for _, wrong := range []string{"x", id[1:], id + "0", "{" + id + "}", strings.ReplaceAll(id, "-", ""), "%00", strings.Repeat("x", 3000)} {
			status, reply := a.call(t, "batch", "GET", path+wrong, "")
			want := []any{map[string]any{"loc": []any{"path", "batch_id"}, "msg": "Not a UUID.", "type": "uuid"}}
			if status != 422 || !cmp.Equal(want, reply["detail"]) {
				t.Errorf("%q: %d %v", wrong, status, reply)
			}
		}
		a.caller.Tenant = "t1"
		if status, _ := a.call(t, "batch", "GET", path+id, ""); status != 202 {
			t.Errorf("%d", status)
		}
	}
}

// Each route wants its permission, and the batch interface its feature.
func TestPermissions(t *testing.T) {
	a := newAPI(t)
	id := a.upload(t, "")["batch_id"].(string)
	all := a.caller
	for _, r := range []struct {
		function, method, path, permission string
		feature                            bool
	}{
		{"batch", "POST", "/batch/generate-upload-url", batchhttp.BatchUpload, true},
		{"batch", "GET", "/batch/status/" + id, batchhttp.BatchRead, true},
		{"batch", "GET", "/batch/validation-result/" + id, batchhttp.BatchRead, true},
		{"transaction", "GET", "/x", batchhttp.TransactionRead, false},
	} {
		a.caller = all
		a.caller.Permissions = []string{r.permission}
		if status, _ := a.call(t, r.function, r.method, r.path, ""); status == 403 {
			t.Errorf("%s is not enough for %s", r.permission, r.path)
		}
		a.caller.Permissions = nil
		for _, p := range all.Permissions {
			if p != r.permission {
				a.caller.Permissions = append(a.caller.Permissions, p)
			}
		}
		if status, reply := a.call(t, r.function, r.method, r.path, ""); status != 403 || !strings.Contains(reply["message"].(string), r.permission) {
			t.Errorf("%s without %s: %d %v", r.path, r.permission, status, reply)
		}
		a.caller = all
		a.caller.Features = nil
		if status, reply := a.call(t, r.function, r.method, r.path, ""); (status == 403) != r.feature || r.feature && !strings.Contains(reply["message"].(string), "batch feature") {
			t.Errorf("%s without the feature: %d %v", r.path, status, reply)
		}
	}
}
