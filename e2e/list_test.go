package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// listAll returns the IDs of all pages that a query selects. between is called after each page.
func (s *session) listAll(q client.BatchQuery, between func()) []string {
	s.t.Helper()
	var ids []string
	for next := ""; ; {
		page, more, err := s.client.Batches(s.t.Context(), q, next)
		must(s.t, err)
		for _, b := range page {
			ids = append(ids, b.BatchID)
		}
		if next = more; next == "" {
			return ids
		}
		if between != nil {
			between()
		}
	}
}

// newNamedUpload creates a batch with a name and metadata.
func (s *session) newNamedUpload(name string, metadata map[string]string) string {
	s.t.Helper()
	u := ok(s.client.CreateUploadWith(s.t.Context(), client.UploadOptions{RejectOnInvalid: true, Name: name,
		Metadata: metadata}))(s.t)
	return u.BatchID
}

// Batches are listed newest first and found by each filter, by their own tenant only; pages are complete while batches
// are created.
func TestListOfBatches(t *testing.T) {
	t.Parallel()
	started := time.Now().Add(-time.Second)
	api := loginBatchTenant(t, environment)
	processed := api.expectProcess("PROCESSED", jsonLines(validLine())).BatchID
	failed := api.expectProcess("VALIDATION_FAILED", []byte("nonsense\n")).BatchID
	ids := []string{failed, processed} // newest first
	for i := range 5 {
		ids = slices.Insert(ids, 0, api.newNamedUpload([]string{"north 1", "north 2", "south", "", ""}[i],
			map[string]string{"half": []string{"a", "a", "b", "b", "b"}[i], "k.x": "é ü"}))
	}
	expect := func(name string, q client.BatchQuery, want ...string) {
		t.Helper()
		if got := api.listAll(q, nil); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	eventually(t, "all batches in the list", func() bool {
		return len(api.listAll(client.BatchQuery{}, nil)) == len(ids)
	})
	expect("all", client.BatchQuery{}, ids...)
	expect("two a page", client.BatchQuery{Limit: 2}, ids...)
	expect("status", client.BatchQuery{Statuses: []string{"PROCESSED"}}, processed)
	expect("statuses", client.BatchQuery{Statuses: []string{"PROCESSED", "VALIDATION_FAILED"}, Limit: 1}, failed,
		processed)
	expect("name", client.BatchQuery{NamePrefix: "north "}, ids[3], ids[4])
	expect("metadata", client.BatchQuery{Metadata: map[string]string{"half": "b", "k.x": "é ü"}}, ids[:3]...)
	expect("client", client.BatchQuery{ClientID: environment.ClientID})
	expect("after", client.BatchQuery{CreatedAfter: started}, ids...)
	expect("before", client.BatchQuery{CreatedBefore: started})

	// Pages while batches are created: those that were there are listed once each, and none of the new ones.
	got := api.listAll(client.BatchQuery{Limit: 2}, func() { api.newUpload(true) })
	assert(t, slices.Equal(got, ids), "while batches are created, %v are listed, want %v", got, ids)
	api.expect(422, "GET", transactionsPath+"batch?name=north&sort=name", "", "extra_forbidden")
	stranger := loginNewTenant(t).listAll(client.BatchQuery{}, nil)
	assert(t, len(stranger) == 0, "another tenant sees %v", stranger)
}

// Operators list, show and cancel batches of a tenant by commands.
func TestAdminBatches(t *testing.T) {
	api := beginBatchTenant(t)
	processed := api.expectProcess("PROCESSED", jsonLines(validLine())).BatchID
	waiting := api.newNamedUpload("by an operator", nil)
	type adminBatch struct {
		BatchID string `json:"batch_id"`
		Status  string `json:"status"`
		Chunks  *struct{ Planned, Ingested int }
		Message string `json:"error_message"`
		Note    string `json:"note"`
	}
	var list []adminBatch
	must(t, environment.admin(&list, "batch", "list", "--tenant", api.tenantID))
	assert(t, len(list) == 2 && list[0].BatchID == waiting && list[0].Status == "AWAITING_UPLOAD" &&
		list[1].Status == "PROCESSED", "the list is %+v", list)
	if environment.Data != "" {
		var status struct {
			OpenBatches []struct{ Status string } `json:"open_batches"`
			Slots       []struct{ Stage string }
			NotRead     map[string]string `json:"not_read"`
		}
		must(t, environment.admin(&status, "status", "--json", "--data", environment.Data))
		assert(t, len(status.OpenBatches) > 0 && status.OpenBatches[0].Status == "AWAITING_UPLOAD" &&
			len(status.Slots) == 4 && len(status.NotRead) == 0, "the status is %+v", status)
	}
	var shown, cancelled adminBatch
	if err := environment.admin(&shown, "batch", "show", processed); err != nil || shown.Chunks == nil ||
		shown.Chunks.Planned != 1 || shown.Chunks.Ingested != 1 {
		t.Errorf("the batch is shown as %+v, error %v", shown, err)
	}
	if err := environment.admin(&cancelled, "batch", "cancel", waiting); err != nil || cancelled.Note != "" ||
		cancelled.Status != "ERROR" || cancelled.Message != "Cancelled by the client." {
		t.Errorf("the cancelled batch is %+v, error %v", cancelled, err)
	}
	api.expectCancelled(waiting)
}

// expectCancelled cancels a batch and checks its status and its results.
func (s *session) expectCancelled(id string) client.Status {
	s.t.Helper()
	status := ok(s.client.CancelBatch(s.t.Context(), id))(s.t)
	assert(s.t, status.BatchID == id && status.Status == client.StatusError &&
		status.ErrorMessage == "Cancelled by the client.", "the cancelled batch %s is %+v", id, status)
	r := s.result(id)
	assert(s.t, r.Valid == nil && r.ErrorsFileURL == "" && r.Message == status.ErrorMessage,
		"the results of the cancelled batch are %+v, want valid null and the message", r)
	return status
}

// A batch is cancelled before its upload, which is then refused; several cancels at once agree; a batch that has ended,
// and one of another tenant, cannot be cancelled.
func TestCancel(t *testing.T) {
	api := beginBatchTenant(t)
	r := api.newReceiver()
	withReceivers := environment.supports(receivers, t.Name())
	if withReceivers {
		api.newWebhook(r.URL, client.WebhookSettings{})
	}
	u := api.newUpload(true)
	var cancels sync.WaitGroup
	statuses := make([]client.Status, 3)
	for i := range statuses {
		cancels.Go(func() { statuses[i], _ = api.client.CancelBatch(t.Context(), u.BatchID) })
	}
	cancels.Wait()
	first := api.expectCancelled(u.BatchID)
	for _, s := range statuses {
		assert(t, string(s.Reply) == string(first.Reply), "a cancel at the same time was answered with %s, want %s",
			s.Reply, first.Reply)
	}
	content := jsonLines(validLine())
	expectPut(t, 200, u, content)
	eventually(t, "the refusal of the upload", func() bool {
		return api.uploadTag(u.BatchID) == "refused"
	})
	if again := api.expectCancelled(u.BatchID); !again.UpdatedAt.Equal(first.UpdatedAt) {
		t.Errorf("the batch was updated at %v, want %v", again.UpdatedAt, first.UpdatedAt)
	}
	eventually(t, "the announcement of the end", func() bool {
		return !withReceivers || slices.ContainsFunc(r.requests(), func(d receivedRequest) bool {
			return strings.Contains(string(d.body), u.BatchID) && strings.Contains(string(d.body), "ingestionFailed")
		})
	})

	processed := api.expectProcess("PROCESSED", content)
	_, err := api.client.CancelBatch(t.Context(), processed.BatchID)
	expectRefused(t, http.StatusConflict, err)
	stranger := loginNewTenant(t)
	_, err = stranger.client.CancelBatch(t.Context(), u.BatchID)
	expectRefused(t, http.StatusNotFound, err)
}

// Cancels at the same time as the steps of a batch: each is answered with 200, and nothing is stored, or with 409, and
// the batch goes on.
func TestCancelWhileABatchRuns(t *testing.T) {
	api := beginBatchTenant(t)
	var group sync.WaitGroup
	for i := range 6 {
		l := validLine()
		id := api.startBatch(true, jsonLines(l))
		group.Go(func() {
			for range 4 * i { // each reading takes a while
				errtest.Is(t, "Status", errtest.Of(api.client.Status(t.Context(), id)), nil)
			}
			_, err := api.client.CancelBatch(t.Context(), id)
			last, followErr := api.client.Follow(t.Context(), id, pollingPace, nil)
			var refused *client.Error
			switch {
			case followErr != nil:
				t.Error(followErr)
			case err == nil && (last.Status != "ERROR" || last.ErrorMessage != "Cancelled by the client."):
				t.Errorf("the cancelled batch %s ended with %s (%q)", id, last.Status, last.ErrorMessage)
			case err != nil && (!errors.As(err, &refused) || refused.Status != 409 || last.Status != "PROCESSED"):
				t.Errorf("batch %s: the cancel was refused with %v, and the batch ended with %s (%q)", id, err,
					last.Status, last.ErrorMessage)
			}
			_, readErr := api.client.Transaction(t.Context(), l.transactionID())
			if isStored := readErr == nil; isStored != (last.Status == "PROCESSED") {
				t.Errorf("batch %s is %s; its transaction: %v", id, last.Status, readErr)
			}
		})
	}
	group.Wait()
}
