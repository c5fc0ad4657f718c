package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Infected in a file makes its batch end in ERROR.
const Infected = "X5O!P%@AP"

// batch moves by one state each time its status is read.
type batch struct {
	reject   bool
	signed   string // of both URLs
	stored   bool
	content  []byte
	received time.Time
	states   []string // that are still to come
	status   string
	message  string
	valid    bool
	total    int64
	report   []byte
	invalid  int64
}

type uploadRequest struct {
	RejectOnInvalid *bool `json:"reject_on_invalid"`
}

func (s *Server) newUpload(w http.ResponseWriter, r *http.Request) {
	var in uploadRequest
	if text, _ := io.ReadAll(r.Body); len(text) > 0 {
		if err := json.Unmarshal(text, &in); err != nil {
			reply(w, http.StatusUnprocessableEntity, map[string]any{"detail": []map[string]any{
				{"loc": []any{"body"}, "msg": "Not the expected JSON.", "type": "json_invalid"}}})
			return
		}
	}
	id := fmt.Sprintf("01980000-0000-7000-8000-%012d", len(s.batches)+1)
	s.batches[id] = &batch{reject: in.RejectOnInvalid == nil || *in.RejectOnInvalid, signed: "X-Amz-Signature=" + strings.Repeat("5", 8)}
	reply(w, http.StatusOK, map[string]any{
		"url": s.URL + "/storage/uploads/" + id + "?" + s.batches[id].signed, "batch_id": id, "method": "PUT",
		"required_headers": map[string]string{"If-None-Match": "*"}, "max_bytes": s.MaxBytes,
		"expires_at": time.Now().Add(15 * time.Minute).UTC(),
	})
}

func (s *Server) put(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches[r.PathValue("id")]
	switch {
	case r.Header.Get("Authorization") != "":
		s.problem("a token was sent to the storage")
		refuse(w, http.StatusBadRequest, "InvalidArgument", "Only one auth mechanism allowed")
	case r.ContentLength < 0:
		s.problem("upload without a length")
		refuse(w, http.StatusLengthRequired, "MissingContentLength", "You must provide the Content-Length HTTP header.")
	case err != nil || int64(len(content)) != r.ContentLength:
		refuse(w, http.StatusBadRequest, "IncompleteBody", "The body is shorter than declared.")
	case b == nil || r.URL.RawQuery != b.signed || r.Header.Get("If-None-Match") != "*":
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", "The request signature does not match.")
	case b.stored:
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions did not hold.")
	default:
		b.stored, b.content, b.received = true, content, time.Now().UTC()
		b.judge()
	}
}

// judge decides what will become of the batch.
func (b *batch) judge() {
	if bytes.Contains(b.content, []byte(Infected)) {
		b.states, b.message = []string{"", "ERROR"}, "The malware scan refused the file (test)."
		return
	}
	b.examine()
	b.valid = b.invalid == 0 && b.total > 0
	if !b.valid && (b.reject || b.invalid == b.total) {
		b.states, b.message = []string{"", "VALIDATION_STARTED", "VALIDATION_FAILED"}, fmt.Sprintf("%d of %d transactions are not valid.", b.invalid, b.total)
		return
	}
	b.states = []string{"", "VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED", "IN_PROGRESS", "PROCESSED"}
}

// identity is what the server reads of a line.
type identity struct {
	TransactionExternalID string `json:"transaction_external_id"`
	Modification          struct {
		ExternalID string `json:"external_id"`
	} `json:"modification"`
}

type lineError struct {
	Loc        []any   `json:"loc"`
	Msg        string  `json:"msg"`
	Type       string  `json:"type"`
	Pointer    string  `json:"pointer"`
	Offset     int     `json:"offset"`
	OtherLines []int   `json:"other_lines,omitempty"`
	Total      int     `json:"other_lines_total,omitempty"`
	id         *string // of the modification
}

func (b *batch) examine() {
	lines := bytes.SplitAfter(b.content, []byte("\n"))
	users := map[string][]int{}
	found := make([]*lineError, len(lines))
	starts := make([]int, len(lines)+1)
	for i, line := range lines {
		start := starts[i]
		starts[i+1] = start + len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		b.total++
		var l identity
		var broken *json.SyntaxError
		switch err := json.Unmarshal(line, &l); {
		case errors.As(err, &broken):
			found[i] = &lineError{Loc: []any{}, Msg: "The line is not valid JSON.", Type: "json_invalid", Offset: start + int(broken.Offset) - 1}
		case err != nil:
			found[i] = &lineError{Loc: []any{}, Msg: "A line must be one JSON object: one transaction.", Type: "object_type", Offset: start}
		default:
			users[l.Modification.ExternalID] = append(users[l.Modification.ExternalID], i+1)
		}
	}
	for id, members := range users {
		for _, n := range members {
			if len(members) > 1 {
				found[n-1] = &lineError{[]any{"modification", "external_id"}, "This modification ID stands on other lines too.",
					"duplicate_modification_id", "/modification/external_id",
					starts[n-1] + bytes.Index(lines[n-1], []byte(`"`+id+`"`)), others(members, n), len(members) - 1, &id}
			}
		}
	}
	for i, e := range found {
		if e != nil {
			b.invalid++
			text, _ := json.Marshal(map[string]any{"line": i + 1, "request_uuid": nil, "transaction_external_id": nil,
				"modification_external_id": e.id, "errors": []*lineError{e}})
			b.report = append(append(b.report, text...), '\n')
		}
	}
}

// others returns the first ten members beside n.
func others(members []int, n int) []int {
	first := slices.Clone(members[:min(len(members), 11)])
	first = slices.DeleteFunc(first, func(m int) bool { return m == n })
	return first[:min(len(first), 10)]
}

func (b *batch) counts() map[string]any {
	counts := map[string]any{"total": nil, "accepted": nil, "invalid": nil, "ingested": nil}
	if b.status != "" && b.status != "VALIDATION_STARTED" && b.status != "ERROR" {
		counts["total"], counts["invalid"], counts["accepted"], counts["ingested"] = b.total, b.invalid, b.total-b.invalid, 0
	}
	if b.status == "PROCESSED" {
		counts["ingested"] = b.total - b.invalid
	}
	return counts
}

func (s *Server) find(w http.ResponseWriter, r *http.Request) *batch {
	id := r.PathValue("id")
	b := s.batches[id]
	switch {
	case len(id) != 36:
		reply(w, http.StatusUnprocessableEntity, map[string]any{"detail": []map[string]any{
			{"loc": []any{"path", "batch_id"}, "msg": "Not a UUID.", "type": "uuid"}}})
	case b == nil:
		reply(w, http.StatusNotFound, map[string]any{"message": "Batch not found."})
	}
	return b
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	b := s.find(w, r)
	switch {
	case b == nil:
		return
	case !b.stored:
		reply(w, http.StatusAccepted, map[string]any{"message": "Batch not yet uploaded completely.", "batch_id": r.PathValue("id")})
		return
	case len(b.states) > 0:
		b.status, b.states = b.states[0], b.states[1:]
	}
	if b.status == "" {
		reply(w, http.StatusAccepted, map[string]any{"message": "Batch not yet processed.", "batch_id": r.PathValue("id")})
		return
	}
	message := ""
	if b.status == "ERROR" || b.status == "VALIDATION_FAILED" {
		message = b.message
	}
	reply(w, http.StatusOK, map[string]any{
		"batch_id": r.PathValue("id"), "status": b.status, "error_message": message, "reject_on_invalid": b.reject,
		"created_at": b.received, "updated_at": b.received, "received_at": b.received, "counts": b.counts(),
		"bytes_total": len(b.content), "bytes_done": len(b.content),
	})
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) {
	b := s.find(w, r)
	switch {
	case b == nil:
	case b.status == "" || b.status == "VALIDATION_STARTED":
		reply(w, http.StatusAccepted, map[string]any{"message": "Batch not yet validated.", "valid": nil})
	case b.status == "ERROR":
		reply(w, http.StatusOK, map[string]any{"message": b.message, "valid": false})
	case b.valid:
		reply(w, http.StatusOK, map[string]any{"message": "Batch validated successfully.", "valid": true, "counts": b.counts()})
	default:
		reply(w, http.StatusOK, map[string]any{
			"message": "Batch validated with errors.", "valid": false, "counts": b.counts(),
			"errors_file_url":            s.URL + "/storage/reports/" + r.PathValue("id") + "?" + b.signed,
			"errors_file_url_expires_at": time.Now().Add(15 * time.Minute).UTC(),
		})
	}
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.batches[r.PathValue("id")]; b != nil && r.URL.RawQuery == b.signed && r.Header.Get("Authorization") == "" {
		_, _ = w.Write(b.report)
		return
	}
	refuse(w, http.StatusForbidden, "AccessDenied", "Access Denied")
}

func (s *Server) transaction(w http.ResponseWriter, r *http.Request) {
	var modifications []map[string]any
	for id, b := range s.batches {
		if b.status != "PROCESSED" {
			continue
		}
		for i, line := range bytes.Split(b.content, []byte("\n")) {
			var l identity
			if json.Unmarshal(line, &l) == nil && l.TransactionExternalID == r.PathValue("id") {
				modifications = append(modifications, map[string]any{
					"modification_external_id": l.Modification.ExternalID, "batch_id": id, "line": i + 1, "received_at": b.received,
					"main_entity": map[string]any{"role": "sender", "by_external_id": "e-1"}, "transaction": json.RawMessage(line),
				})
			}
		}
	}
	if modifications == nil {
		reply(w, http.StatusNotFound, map[string]any{"message": "Transaction not found."})
		return
	}
	// One modification a page: a client that does not read on sees too little.
	first := slices.IndexFunc(modifications, func(m map[string]any) bool {
		return m["modification_external_id"].(string) > r.URL.Query().Get("after")
	})
	page := map[string]any{"transaction_external_id": r.PathValue("id"), "modifications": modifications[first : first+1]}
	if first+1 < len(modifications) {
		page["next_after"] = modifications[first]["modification_external_id"]
	}
	reply(w, http.StatusOK, page)
}
