package batchhttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/idempotency/idempotencytest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/errtest"
)

// useKeys lets an API decide about idempotency keys, and returns the store of them.
func (a *api) useKeys() *idempotencytest.Memory {
	store := idempotencytest.NewMemory()
	a.Idempotency = &idempotency.Keys{Store: store, Now: func() time.Time { return a.now }, NewRun: uuid.NewString}
	return store
}

// askWithKey asks for an upload URL with an idempotency key, and returns the status, the reply and whether it is
// replayed.
func (a *api) askWithKey(t *testing.T, key, body string) (status int, reply map[string]any, isReplayed bool) {
	t.Helper()
	e := events.APIGatewayProxyRequest{HTTPMethod: "POST", Path: base + "/batch/generate-upload-url", Body: body,
		Headers: map[string]string{"Content-Type": "application/json", "Idempotency-Key": key}}
	e.RequestContext.Authorizer = a.caller.Context()
	r, err := httpapi.Lambda(a.Handler())(t.Context(), e)
	if err == nil {
		err = json.Unmarshal([]byte(r.Body), &reply)
	}
	errtest.Is(t, fmt.Sprintf("%d %s", r.StatusCode, r.Body), err, nil)
	return r.StatusCode, reply, len(r.MultiValueHeaders["Idempotency-Replayed"]) == 1
}

// recent returns the batches of a tenant.
func (a *api) recent(t *testing.T, tenant string) []batch.Batch {
	t.Helper()
	batches, _, err := a.batches.List(t.Context(), tenant, batch.Filter{}, "", 100)
	errtest.Fatal(t, err)
	return batches
}

func TestUploadURLAgain(t *testing.T) {
	a := newAPI(t)
	keys := a.useKeys()
	status, first, isReplayed := a.askWithKey(t, "k", `{"reject_on_invalid":false}`)
	if status != 200 || isReplayed {
		t.Fatalf("got %d %v, replayed %t", status, first, isReplayed)
	}
	id := first["batch_id"].(string)

	a.now = now.Add(23 * time.Hour)
	status, again, isReplayed := a.askWithKey(t, "k", `{"reject_on_invalid":false}`)
	u, err := url.Parse(again["url"].(string))
	if status != 200 || !isReplayed || again["batch_id"] != id || err != nil ||
		u.Query().Get("X-Amz-Expires") != "900" {
		t.Errorf("again: got %d %v, replayed %t; want batch %s and a URL for 900 s", status, again, isReplayed, id)
	}
	want := a.now.Add(15 * time.Minute)
	if got := a.recent(t, "t1"); len(got) != 1 || got[0].RejectOnInvalid || !got[0].UploadBy.Equal(want) {
		t.Errorf("after two requests with one key the tenant has %+v, want one batch, to be uploaded by %v", got, want)
	}
	if status, reply, _ := a.askWithKey(t, "k", `{}`); status != 422 {
		t.Errorf("another body: got %d %v, want 422", status, reply)
	}
	record := keys.Record(idempotency.Key{Tenant: "t1", Client: a.caller.Client, Name: "k",
		Path: base + "/batch/generate-upload-url"})
	if record.Answer == nil || record.Answer.Body != nil {
		t.Errorf("the record is %+v, want an answer without the signed URL", record)
	}

	object := batch.Object{Key: "k", ETag: "e", Size: 1}
	a.apply(t, id, batch.Transition{To: batch.Uploaded, Object: &object, ReceivedAt: now})
	status, uploaded, isReplayed := a.askWithKey(t, "k", `{"reject_on_invalid":false}`)
	if _, hasURL := uploaded["url"]; status != 200 || !isReplayed || hasURL || uploaded["batch_id"] != id ||
		uploaded["message"] != "The batch awaits no upload: its file has arrived and is not processed yet." {
		t.Errorf("after the upload: got %d %v, replayed %t; want the batch without a URL", status, uploaded, isReplayed)
	}

	other := a.caller
	a.caller.Client = "c2"
	if status, reply, isReplayed := a.askWithKey(t, "k", `{}`); status != 200 || isReplayed || reply["batch_id"] == id {
		t.Errorf("the key of another client: got %d %v, replayed %t; want a batch of its own", status, reply,
			isReplayed)
	}
	if status, reply, isReplayed := a.askWithKey(t, "k", ""); status != 200 || !isReplayed {
		t.Errorf("no body after {}: got %d %v, replayed %t; want the same batch", status, reply, isReplayed)
	}
	a.caller.Tenant = "t2"
	if status, reply, isReplayed := a.askWithKey(t, "k", `{}`); status != 200 || isReplayed || reply["batch_id"] == id {
		t.Errorf("the key of another tenant: got %d %v, replayed %t; want a batch of its own", status, reply,
			isReplayed)
	}
	a.caller = other
	a.caller.Permissions = nil
	if status, reply, _ := a.askWithKey(t, "k", `{"reject_on_invalid":false}`); status != 403 {
		t.Errorf("a client without the permission: got %d %v, want 403", status, reply)
	}
}

// A function that is killed after it has created the batch leaves a key that is not answered. The request again gets
// the same batch, in any later state of that batch and of the tenant's limits.
func TestUploadURLAfterAKill(t *testing.T) {
	a := newAPI(t)
	keys := a.useKeys()
	isKilled := true
	keys.Fault = func(method string) (before, after error) {
		if isKilled && method == "Finish" {
			return errors.New("killed"), nil
		}
		return nil, nil
	}
	_, first, _ := a.askWithKey(t, "k", "")
	isKilled = false
	if status, reply, _ := a.askWithKey(t, "k", ""); status != 409 {
		t.Errorf("while the first may still run: got %d %v, want 409", status, reply)
	}
	a.now = now.Add(time.Minute)
	a.caller.Attributes["limits"] = "open_batches=1"
	status, again, isReplayed := a.askWithKey(t, "k", "")
	if status != 200 || isReplayed || again["batch_id"] != first["batch_id"] || len(a.recent(t, "t1")) != 1 {
		t.Errorf("got %d %v, replayed %t, %d batches; want the batch %v", status, again, isReplayed,
			len(a.recent(t, "t1")), first["batch_id"])
	}
}

// Of twenty requests at once with one key, each gets the same batch or is told to come again.
func TestUploadURLsAtOnce(t *testing.T) {
	a := newAPI(t)
	a.useKeys()
	ids := make([]any, 20)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() {
			switch status, reply, _ := a.askWithKey(t, "k", ""); status {
			case 200:
				ids[i] = reply["batch_id"]
			case 409:
			default:
				t.Errorf("got %d %v, want 200 or 409", status, reply)
			}
		})
	}
	group.Wait()
	_, last, _ := a.askWithKey(t, "k", "")
	for _, id := range ids {
		if id != nil && id != last["batch_id"] {
			t.Errorf("got the batches %v, want only %v", ids, last["batch_id"])
		}
	}
	if got := a.recent(t, "t1"); len(got) != 1 {
		t.Errorf("%d batches were created, want 1", len(got))
	}
}

// The URL of a batch that awaits its upload can be had again, which puts off the end of the upload.
func TestUploadURLSignedAgain(t *testing.T) {
	a := newAPI(t)
	first := a.generateUploadURL(t, `{"content_length":7}`)
	id := first["batch_id"].(string)
	path := "/batch/upload-url/" + id
	for _, minutes := range []int{10, 24 * 60} {
		a.now = now.Add(time.Duration(minutes) * time.Minute)
		status, again := a.call(t, "POST", path, "")
		signedAt, _ := time.Parse(time.RFC3339, fmt.Sprint(again["expires_at"]))
		if status != 200 || again["batch_id"] != id || again["url"] == nil ||
			!signedAt.Equal(a.now.Add(15*time.Minute)) ||
			!cmp.Equal(again["required_headers"], first["required_headers"]) {
			t.Errorf("after %d minutes: got %d %v, want a new URL for 15 minutes", minutes, status, again)
		}
		_, pending := a.call(t, "GET", "/batch/status/"+id, "")
		if pending["expires_at"] != again["expires_at"] ||
			pending["upload_by"] != a.now.Add(24*time.Hour+15*time.Minute).Format(time.RFC3339) {
			t.Errorf("after %d minutes: the status is %v, want the times of the new URL", minutes, pending)
		}
	}
	a.expect(t, "a body", "POST", path, `{"a":1}`, 422, "")

	// A batch that counts no more counts again with a new URL.
	a.now = a.now.Add(time.Hour)
	a.caller.Attributes["limits"] = "open_batches=1"
	other := a.createBatch(t)
	status, reply := a.call(t, "POST", path, "")
	if status != 429 || !strings.Contains(fmt.Sprint(reply["message"]), "as it may have: 1.") {
		t.Errorf("beyond the limit: got %d %v, want 429", status, reply)
	}
	a.expect(t, "one that counts", "POST", "/batch/upload-url/"+other, "", 200, "")
	a.expect(t, "cancel", "POST", "/batch/cancel/"+other, "", 200, "")
	a.expect(t, "within the limit", "POST", path, "{}", 200, "")

	a.expect(t, "cancelled", "POST", "/batch/upload-url/"+other, "", 409,
		"The batch awaits no upload: it is ERROR. Cancelled by the client.")
	plan := chunk.NewPlan(7, 7)
	a.apply(t, id, batch.Transition{To: batch.Uploaded, Object: &batch.Object{Key: "k", Size: 7}, ReceivedAt: now})
	a.expect(t, "uploaded", "POST", path, "", 409,
		"The batch awaits no upload: its file has arrived and is not processed yet.")
	a.apply(t, id, batch.Transition{To: batch.ValidationStarted, Plan: &plan})
	a.expect(t, "validating", "POST", path, "", 409, "The batch awaits no upload: it is VALIDATION_STARTED.")
	_, pending := a.call(t, "GET", "/batch/status/"+id, "")
	if _, exists := pending["upload_by"]; exists {
		t.Errorf("the status record is %v, want it without upload_by", pending)
	}
}
