package e2e

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/client"
)

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
		api.newWebhook(r.URL, "")
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
	reader := loginAs(t, environment, newClient(t, environment, api.tenantID, "--permission", "BatchRead"))
	_, err = reader.client.CancelBatch(t.Context(), u.BatchID)
	expectRefused(t, http.StatusForbidden, err)
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
				if _, err := api.client.Status(t.Context(), id); err != nil {
					t.Error(err)
				}
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
