package clienttest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

const (
	// Infected is a text that makes a batch end in ERROR if its file contains it.
	Infected = "X5O!P%@AP"
	// NotUploaded is the status message of a batch that has no file yet.
	NotUploaded = client.MessageNotUploaded
)

const (
	// urlLifetime is how long the server says that the URLs of uploads and reports are valid.
	urlLifetime = 15 * time.Minute
)

// batch is a batch and what will become of it.
type batch struct {
	client.UploadOptions
	// signature is the query of the batch's signed URLs.
	signature string

	// parts is the upload in parts; nil for a single PUT.
	parts      *parts
	uploaded   bool
	content    []byte
	receivedAt time.Time

	// statuses are still to come; status is the current one.
	statuses     []string
	status       string
	errorMessage string
	valid        bool
	total        int64
	invalid      int64
	report       []byte
	// csv and rejected are the report as CSV and the rejected lines.
	csv, rejected []byte
}

func (s *Server) createUpload(w http.ResponseWriter, r *http.Request) {
	var request struct {
		client.UploadOptions
		RejectOnInvalid *bool `json:"reject_on_invalid"`
	}
	if text, _ := io.ReadAll(r.Body); len(text) > 0 {
		if err := json.Unmarshal(text, &request); err != nil {
			replyInvalid(w, client.Detail{Loc: []any{"body"}, Msg: "Not the expected JSON.", Type: "json_invalid"})
			return
		}
	}
	if s.refuseScreening(w, request.Screening) {
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if earlier, ok := s.keyed[key]; ok && key != "" {
		w.Header().Set("Idempotency-Replayed", "true")
		reply(w, http.StatusOK, earlier)
		return
	}
	id := fmt.Sprintf("01980000-0000-7000-8000-%012d", len(s.batches)+1)
	b := &batch{UploadOptions: request.UploadOptions, signature: "X-Amz-Signature=" + strings.Repeat("5", 8)}
	b.RejectOnInvalid = request.MaxRejected == nil && (request.RejectOnInvalid == nil || *request.RejectOnInvalid)
	s.batches[id] = b
	s.keyed[key] = s.describeUpload(id, b)
	if b.Upload == client.UploadMultipart && b.ContentLength != nil {
		s.keyed[key] = s.startParts(id, b)
	}
	reply(w, http.StatusOK, s.keyed[key])
}

// describeUpload returns where the file of a batch goes.
func (s *Server) describeUpload(id string, b *batch) client.Upload {
	headers := map[string]string{"If-None-Match": "*"}
	if b.ChecksumSHA256 != "" {
		headers["X-Amz-Checksum-Sha256"] = b.ChecksumSHA256
	}
	return client.Upload{
		BatchID: id, URL: s.URL + "/storage/uploads/" + id + "?" + b.signature, Method: http.MethodPut,
		RequiredHeaders: headers, MaxBytes: s.MaxBytes, ExpiresAt: time.Now().Add(urlLifetime).UTC(),
	}
}

// signUpload signs the URL of a batch again.
func (s *Server) signUpload(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	b := s.findBatch(w, r)
	switch {
	case b == nil:
	case b.parts != nil:
		replyMessage(w, http.StatusConflict,
			"The file of this batch is uploaded in parts; ask for their URLs with POST upload-parts.")
	case b.uploaded || b.status != "":
		replyMessage(w, http.StatusConflict, "The batch awaits no upload: it is "+b.status+".")
	default:
		reply(w, http.StatusOK, s.describeUpload(id, b))
	}
}

func (s *Server) putFile(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches[r.PathValue("id")]
	switch {
	case r.Header.Get("Authorization") != "":
		s.problem("an access token was sent to the storage")
		replyStorageError(w, http.StatusBadRequest, "InvalidArgument", "Only one auth mechanism allowed")
	case r.ContentLength < 0:
		s.problem("upload without Content-Length")
		replyStorageError(w, http.StatusLengthRequired, "MissingContentLength",
			"You must provide the Content-Length HTTP header.")
	case err != nil || int64(len(content)) != r.ContentLength:
		replyStorageError(w, http.StatusBadRequest, "IncompleteBody", "The body is shorter than declared.")
	case b == nil || r.URL.RawQuery != b.signature || r.Header.Get("If-None-Match") != "*":
		replyStorageError(w, http.StatusForbidden, "SignatureDoesNotMatch", "The request signature does not match.")
	case b.ContentLength != nil && *b.ContentLength != r.ContentLength:
		replyStorageError(w, http.StatusForbidden, "SignatureDoesNotMatch", "The request signature does not match.")
	case b.ChecksumSHA256 != "" && b.ChecksumSHA256 != sha256Of(content):
		replyStorageError(w, http.StatusBadRequest, "BadDigest", "The checksum does not match.")
	case b.uploaded:
		replyStorageError(w, http.StatusPreconditionFailed, "PreconditionFailed",
			"At least one of the pre-conditions did not hold.")
	default:
		b.uploaded, b.content, b.receivedAt = true, content, s.receiptTime()
		b.decide()
	}
}

// receiptTime returns when an upload that is complete now is received.
func (s *Server) receiptTime() time.Time {
	if s.ReceivedAt.IsZero() {
		return time.Now().UTC()
	}
	return s.ReceivedAt.UTC()
}

// counts returns the numbers that are known in the batch's current status.
func (b *batch) counts() client.Counts {
	switch b.status {
	case "", client.StatusValidationStarted, client.StatusError:
		return client.Counts{}
	}
	total, accepted, invalid, ingested := b.total, b.total-b.invalid, b.invalid, int64(0)
	if b.status == client.StatusProcessed && !b.ValidateOnly {
		ingested = accepted
	}
	return client.Counts{Total: &total, Accepted: &accepted, Invalid: &invalid, Ingested: &ingested}
}

// findBatch returns the batch that the request names. If there is none it answers the request and returns nil.
func (s *Server) findBatch(w http.ResponseWriter, r *http.Request) *batch {
	id := r.PathValue("id")
	b := s.batches[id]
	switch {
	case len(id) != 36:
		replyInvalid(w, client.Detail{Loc: []any{"path", "batch_id"}, Msg: "The value must be a UUID.", Type: "uuid"})
	case b == nil:
		replyMessage(w, http.StatusNotFound, "Batch not found.")
	}
	return b
}

func (s *Server) readStatus(w http.ResponseWriter, r *http.Request) {
	b := s.findBatch(w, r)
	if b == nil {
		return
	}
	id := r.PathValue("id")
	if !b.uploaded && b.status == "" {
		reply(w, http.StatusAccepted, map[string]any{"message": NotUploaded, "batch_id": id, "queue_position": nil})
		return
	}
	if len(b.statuses) > 0 {
		b.status, b.statuses = b.statuses[0], b.statuses[1:]
	}
	if b.status == "" {
		reply(w, http.StatusAccepted,
			map[string]any{"message": "Batch not yet processed.", "batch_id": id, "queue_position": nil})
		return
	}
	reply(w, http.StatusOK, b.record(id))
}

func (s *Server) readResult(w http.ResponseWriter, r *http.Request) {
	b := s.findBatch(w, r)
	if b == nil {
		return
	}
	switch {
	case b.status == "" || b.status == client.StatusValidationStarted:
		reply(w, http.StatusAccepted, map[string]any{"message": "Batch not yet validated.", "valid": nil})
	case b.status == client.StatusError:
		reply(w, http.StatusOK, map[string]any{"message": b.errorMessage, "valid": nil})
	case b.valid:
		reply(w, http.StatusOK, wire.ValidationResult{
			Message: "Batch validated successfully.", Valid: &b.valid, Counts: new(b.counts()),
			ValidateOnly: b.ValidateOnly, Name: &b.Name, Metadata: b.Metadata,
		})
	default:
		reply(w, http.StatusOK, wire.ValidationResult{
			Message: "Batch validated with errors.", Valid: &b.valid, Counts: new(b.counts()),
			ValidateOnly: b.ValidateOnly, Name: &b.Name, Metadata: b.Metadata,
			ErrorsFileURL:          s.URL + "/storage/reports/" + r.PathValue("id") + "?" + b.signature,
			ErrorsFileURLExpiresAt: time.Now().Add(urlLifetime).UTC(),
			ErrorsCSVURL:           new(s.URL + "/storage/csv/" + r.PathValue("id") + "?" + b.signature),
			RejectedFileURL:        new(s.URL + "/storage/rejected/" + r.PathValue("id") + "?" + b.signature),
			RejectedLeftOut:        new(int64),
		})
	}
}

// readFile returns a handler that serves what file returns of a batch.
func (s *Server) readFile(file func(*batch) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		b := s.batches[r.PathValue("id")]
		if b == nil || r.URL.RawQuery != b.signature || r.Header.Get("Authorization") != "" {
			replyStorageError(w, http.StatusForbidden, "AccessDenied", "Access Denied")
			return
		}
		_, _ = w.Write(file(b))
	}
}

// readTransaction returns one modification a page, so that a client that does not read on sees too little.
func (s *Server) readTransaction(w http.ResponseWriter, r *http.Request) {
	id := cmp.Or(r.PathValue("id"), r.URL.Query().Get("transaction_external_id"))
	all := s.modifications(id)
	if len(all) == 0 {
		replyMessage(w, http.StatusNotFound, "Transaction not found.")
		return
	}
	first := slices.IndexFunc(all, func(m wire.StoredModification) bool {
		return m.ModificationExternalID > r.URL.Query().Get("after")
	})
	page := wire.StoredTransaction{TransactionExternalID: id, Modifications: all[first : first+1]}
	if first+1 < len(all) {
		page.NextAfter = all[first].ModificationExternalID
	}
	reply(w, http.StatusOK, page)
}

// modifications returns the lines of all PROCESSED batches that have a transaction ID, in the order of their IDs.
func (s *Server) modifications(transactionID string) []wire.StoredModification {
	var found []wire.StoredModification
	for batchID, b := range s.batches {
		if b.status != client.StatusProcessed || b.ValidateOnly {
			continue
		}
		number := int64(0)
		for line := range bytes.Lines(b.content) {
			number++
			var ids lineIDs
			if json.Unmarshal(line, &ids) != nil || ids.TransactionExternalID != transactionID {
				continue
			}
			found = append(found, wire.StoredModification{
				ModificationExternalID: ids.Modification.ExternalID,
				BatchID:                new(batchID),
				Line:                   new(number),
				ReceivedAt:             b.receivedAt,
				MainEntity:             &client.MainEntity{Role: "sender", ByExternalID: "e-1"},
				Transaction:            bytes.TrimSuffix(line, []byte("\n")),
			})
		}
	}
	slices.SortFunc(found, func(a, b wire.StoredModification) int {
		return cmp.Compare(a.ModificationExternalID, b.ModificationExternalID)
	})
	return found
}
