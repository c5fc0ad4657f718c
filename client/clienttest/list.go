package clienttest

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/client"
	"sluice/openapi/wire"
)

// message says why a batch has no status; "" if it has one.
func (b *batch) message() string {
	switch {
	case b.status != "":
		return ""
	case !b.uploaded:
		return NotUploaded
	}
	return "Batch not yet processed."
}

// record returns the status record of a batch as it is now.
func (b *batch) record(id string) client.Status {
	size := int64(len(b.content))
	status := client.Status{Message: b.message(), BatchStatus: wire.BatchStatus{
		BatchID: id, Status: b.status, RejectOnInvalid: b.RejectOnInvalid, MaxRejected: b.MaxRejected,
		ValidateOnly: b.ValidateOnly, Name: &b.Name, Metadata: b.Metadata, ClientID: ClientID, Counts: b.counts(),
		CreatedAt: b.receivedAt, UpdatedAt: b.receivedAt, BytesTotal: size, BytesDone: size,
	}}
	if !b.receivedAt.IsZero() {
		status.ReceivedAt = &b.receivedAt
	}
	if b.Screening != nil && b.counts().Total != nil {
		names, alerts := b.screen()
		hits := int64(len(alerts))
		status.NamesScreened, status.Hits = &names, &hits
	}
	if b.status == client.StatusError || b.status == client.StatusValidationFailed {
		status.ErrorMessage = b.errorMessage
	}
	return status
}

// cancel ends a batch before its lines are stored.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	b := s.findBatch(w, r)
	if b == nil {
		return
	}
	const cancelled = "Cancelled by the client."
	switch b.status {
	case "", client.StatusValidationStarted, client.StatusPendingIngestion:
		b.status, b.statuses, b.errorMessage = client.StatusError, nil, cancelled
	case client.StatusInitialized, client.StatusInProgress:
		replyMessage(w, http.StatusConflict,
			"The batch is "+b.status+": it can be cancelled only until its ingestion begins.")
		return
	default:
		if b.errorMessage != cancelled {
			replyMessage(w, http.StatusConflict, "The batch has ended: it is "+b.status+".")
			return
		}
	}
	reply(w, http.StatusOK, b.record(r.PathValue("id")))
}

// isIn reports whether a batch is in one of some states; in any if there are none.
func (b *batch) isIn(states []string) bool {
	return len(states) == 0 || slices.ContainsFunc(states, func(state string) bool {
		switch state {
		case client.StateAwaitingUpload:
			return b.message() == NotUploaded
		case client.StateOpen:
			return !client.IsTerminal(b.status)
		}
		return client.IsTerminal(b.status)
	})
}

// list returns a page of batches, newest first. It knows the filters by status, state, name and metadata.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), "50"))
	after, notToken := base64.RawURLEncoding.DecodeString(query.Get("next"))
	if err != nil || notToken != nil || limit < 1 || limit > 200 {
		replyInvalid(w, client.Detail{Loc: []any{"query", "limit"}, Msg: "Not the expected value.",
			Type: "number_range"})
		return
	}
	page := struct {
		Batches []client.Status `json:"batches"`
		Next    *string         `json:"next"`
	}{Batches: []client.Status{}}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(s.batches))) {
		b := s.batches[id]
		if len(after) > 0 && id >= string(after) || !strings.HasPrefix(b.Name, query.Get("name")) ||
			query.Has("status") && !slices.Contains(query["status"], b.status) || !b.isIn(query["state"]) ||
			!b.hasMetadata(query) {
			continue
		}
		if len(page.Batches) == limit {
			next := base64.RawURLEncoding.EncodeToString([]byte(page.Batches[limit-1].BatchID))
			page.Next = &next
			break
		}
		page.Batches = append(page.Batches, b.record(id))
	}
	reply(w, http.StatusOK, page)
}

// hasMetadata reports whether a batch has all pairs that a query names.
func (b *batch) hasMetadata(query map[string][]string) bool {
	for name, values := range query {
		if key, found := strings.CutPrefix(name, "metadata."); found && b.Metadata[key] != values[0] {
			return false
		}
	}
	return true
}
