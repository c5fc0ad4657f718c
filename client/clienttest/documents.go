package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

const (
	documentCommands = "/documentmanagementcommand/api/v2/documentmanagement"
	documentQueries  = "/documentmanagementquery/api/documentmanagement"
)

// documentSignature is the query of the signed URLs of documents.
const documentSignature = "X-Amz-Signature=66666666"

// document is a document and its file. Its status advances by one each time it is read.
type document struct {
	wire.Document
	isUploaded bool
	content    []byte
	// isScanned means that the next reading has the result of the scan.
	isScanned bool
}

func (s *Server) createDocument(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Data client.NewDocument `json:"data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Data.FileName == "" || in.Data.EntityID == "" {
		replyPlatformError(w, http.StatusBadRequest, "fileName and entityId are needed.", "missing")
		return
	}
	d := &document{Document: wire.Document{
		ID: fmt.Sprintf("02980000-0000-7000-8000-%012d", len(s.documents)+1), EntityID: in.Data.EntityID,
		JourneyID: in.Data.JourneyID, DocumentType: in.Data.DocumentType, FileName: &in.Data.FileName,
		FriendlyName: &in.Data.FriendlyName, Status: client.DocumentProcessing, HasRequiredAccessLayers: true,
		UploadedByUserName: ClientID, UploadedOn: time.Now().UTC(),
	}}
	s.documents = append(s.documents, d)
	replyPlatform(w, http.StatusAccepted, map[string]any{
		"id": d.ID, "status": d.Status, "signedUrlToUpload": s.documentURL(d),
		"requiredHeaders": map[string]string{"If-None-Match": "*"},
	})
}

func (s *Server) documentURL(d *document) string {
	return s.URL + "/storage/documents/" + d.ID + "?" + documentSignature
}

// documentAt returns the position of a document; -1 if there is none.
func (s *Server) documentAt(id string) int {
	return slices.IndexFunc(s.documents, func(d *document) bool { return d != nil && d.ID == id })
}

func (s *Server) putDocument(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.documentAt(r.PathValue("id"))
	switch {
	case r.Header.Get("Authorization") != "":
		s.problem("an access token was sent to the storage")
		replyStorageError(w, http.StatusBadRequest, "InvalidArgument", "Only one auth mechanism allowed")
	case err != nil || int64(len(content)) != r.ContentLength:
		replyStorageError(w, http.StatusBadRequest, "IncompleteBody", "The body is shorter than declared.")
	case at < 0 || r.URL.RawQuery != documentSignature || r.Header.Get("If-None-Match") != "*":
		replyStorageError(w, http.StatusForbidden, "SignatureDoesNotMatch", "The request signature does not match.")
	case s.documents[at].isUploaded:
		replyStorageError(w, http.StatusPreconditionFailed, "PreconditionFailed",
			"At least one of the pre-conditions did not hold.")
	default:
		s.documents[at].isUploaded, s.documents[at].content = true, content
	}
}

// scan decides about the file of a document: one that contains Infected is infected, and one that is empty or has the
// extension .exe is of no use.
func (d *document) scan() {
	switch {
	case bytes.Contains(d.content, []byte(Infected)):
		d.fail(client.DocumentInfected, "INFECTED_FILE", "The malware scan refused the file (test).")
	case path.Ext(*d.FileName) == ".exe":
		d.fail(client.DocumentError, "INVALID_MIME_TYPE", "The extension is not supported.")
	case len(d.content) == 0:
		d.fail(client.DocumentError, "CLIENT_SIDE_ERROR", "The file is empty.")
	default:
		d.Status = client.DocumentCompleted
	}
}

func (d *document) fail(status, code, message string) {
	d.Status, d.ErrorCode, d.ErrorMessage = status, &code, &message
}

// findDocument returns the document that the request names. If there is none it answers the request and returns nil.
func (s *Server) findDocument(w http.ResponseWriter, r *http.Request) *document {
	at := s.documentAt(r.PathValue("id"))
	if at < 0 {
		replyPlatformError(w, http.StatusNotFound, "Document not found.", "document_not_found")
		return nil
	}
	return s.documents[at]
}

func (s *Server) readDocument(w http.ResponseWriter, r *http.Request) {
	d := s.findDocument(w, r)
	if d == nil {
		return
	}
	if d.isScanned && d.Status == client.DocumentProcessing {
		d.scan()
	}
	d.isScanned = d.isUploaded
	replyPlatform(w, http.StatusOK, d.Document)
}

func (s *Server) signDocument(w http.ResponseWriter, r *http.Request) {
	d := s.findDocument(w, r)
	switch {
	case d == nil:
	case d.Status != client.DocumentCompleted:
		replyPlatformError(w, http.StatusNotFound, "The document has no file that can be downloaded.", "no_file")
	default:
		replyPlatform(w, http.StatusOK, s.documentURL(d))
	}
}

func (s *Server) readDocumentFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.documentAt(r.PathValue("id"))
	if at < 0 || r.URL.RawQuery != documentSignature || r.Header.Get("Authorization") != "" {
		replyStorageError(w, http.StatusForbidden, "AccessDenied", "Access Denied")
		return
	}
	_, _ = w.Write(s.documents[at].content)
}

// deleteDocument leaves the place of a document empty, so that no other one gets its ID.
func (s *Server) deleteDocument(w http.ResponseWriter, r *http.Request) {
	at := s.documentAt(r.PathValue("id"))
	if at < 0 {
		replyPlatformError(w, http.StatusBadRequest, "Document not found.", "document_not_found")
		return
	}
	s.documents[at] = nil
	replyPlatform(w, http.StatusAccepted, map[string]any{})
}

// listDocuments returns one document a page, so that a client that does not read on sees too little.
func (s *Server) listDocuments(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Data struct {
			EntityID        string `json:"entityId"`
			Status          string `json:"status"`
			PageSize        *int   `json:"pageSize"`
			PaginationToken string `json:"paginationToken"`
		} `json:"data"`
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	if size := in.Data.PageSize; err != nil || in.Data.EntityID == "" || size != nil && (*size < 1 || *size > 500) {
		replyPlatformError(w, http.StatusBadRequest, "entityId is needed, and pageSize is 1 to 500.", "invalid")
		return
	}
	var found []wire.Document
	for _, d := range s.documents {
		if d != nil && d.EntityID == in.Data.EntityID && (in.Data.Status == "" || d.Status == in.Data.Status) {
			found = append(found, d.Document)
		}
	}
	at, _ := strconv.Atoi(in.Data.PaginationToken)
	page := map[string]any{"items": []any{}, "nextPageToken": nil}
	if at >= 0 && at < len(found) {
		page["items"] = found[at : at+1]
	}
	if at+1 < len(found) {
		page["nextPageToken"] = strconv.Itoa(at + 1)
	}
	replyPlatform(w, http.StatusOK, page)
}
