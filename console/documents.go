package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sluice/client"
)

const (
	// documentsPath is the path of the interface at which documents are created, and below which they are changed.
	documentsPath = "/documentmanagementcommand/api/v2/documentmanagement"
	// maxDocumentBytes is the length of the longest description of a document: the service takes no longer ones, and the
	// address of a request must hold it.
	maxDocumentBytes = 64 << 10
	// maxReplyBytes bounds what is read of one answer of the service.
	maxReplyBytes = 1 << 20
)

// createdDocument is a new document as the service answers it.
type createdDocument struct {
	Data struct {
		ID                string            `json:"id"`
		SignedURLToUpload string            `json:"signedUrlToUpload"`
		RequiredHeaders   map[string]string `json:"requiredHeaders"`
	} `json:"data"`
	// Messages are the warnings of the service, for the page.
	Messages json.RawMessage `json:"messages"`
}

// uploadDocument creates a document as the query describes it, in the words of the interface, and stores the body of the
// request as its file. A page cannot do so itself: files go to the storage, which is of another origin. The file is copied
// to the spool first, so that one that does not arrive makes no document; a document whose file cannot be stored is
// deleted again. An answer of the service that is not one of success is passed on as it is.
func (s *Server) uploadDocument(w http.ResponseWriter, r *http.Request) {
	description := []byte(r.URL.Query().Get("document"))
	var members map[string]json.RawMessage
	if len(description) > maxDocumentBytes || json.Unmarshal(description, &members) != nil || members == nil {
		writeProblem(w, problem{Status: http.StatusBadRequest,
			Detail: "The parameter document is not a JSON object of at most 64 KiB."})
		return
	}
	x := &file{size: r.ContentLength}
	defer s.files.release(x)
	if x.size > maxFileBytes {
		writeFileProblem(w, documentTooLarge())
		return
	}
	if err := s.files.store(r.Context(), x, r.Body); err != nil {
		if r.Context().Err() == nil {
			writeFileProblem(w, s.problemOfDocument(x, err))
		}
		return
	}
	created, err := s.createDocument(r.Context(), description)
	var refused *refusedReply
	if errors.As(err, &refused) {
		refused.pass(w)
		return
	}
	if err == nil {
		upload := client.Upload{URL: created.Data.SignedURLToUpload, RequiredHeaders: created.Data.RequiredHeaders}
		if err = s.config.Client.UploadFile(r.Context(), upload, x.content, x.size, nil); err != nil {
			s.deleteDocument(r.Context(), created.Data.ID)
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusCreated, map[string]any{"id": created.Data.ID, "messages": created.Messages})
}

// problemOfDocument explains why the file of a document was not received.
func (s *Server) problemOfDocument(x *file, err error) *fileProblem {
	if errors.Is(err, errTooLarge) {
		return documentTooLarge()
	}
	return s.files.problemOfReceiving(x, err)
}

func documentTooLarge() *fileProblem {
	return &fileProblem{Code: "too_large", Title: "The file is too large",
		Detail: fmt.Sprintf("The console uploads files of %d bytes at most.", maxFileBytes)}
}

// refusedReply is an answer of the service that is not one of success.
type refusedReply struct {
	status int
	header http.Header
	body   []byte
}

func (e *refusedReply) Error() string { return fmt.Sprintf("the service answers %d", e.status) }

// pass answers a request as the service has.
func (e *refusedReply) pass(w http.ResponseWriter) {
	for _, name := range []string{"Content-Type", "Retry-After", "X-Correlation-Id", "X-Request-Id"} {
		if value := e.header.Get(name); value != "" {
			w.Header().Set(name, value)
		}
	}
	w.Header().Set("Content-Security-Policy", contentPolicy+"; sandbox")
	w.WriteHeader(e.status)
	_, _ = w.Write(e.body) // the browser has gone
}

// createDocument creates a document. The error is a *refusedReply if the service does not want it.
func (s *Server) createDocument(ctx context.Context, description []byte) (created createdDocument, err error) {
	body, err := json.Marshal(map[string]json.RawMessage{"data": description})
	if err != nil {
		return created, err
	}
	reply, err := s.callPlatform(ctx, http.MethodPost, documentsPath, body)
	if err != nil {
		return created, err
	}
	if err = json.Unmarshal(reply, &created); err == nil && created.Data.ID == "" {
		err = errors.New("the service's answer is not that of a new document")
	}
	return created, err
}

// deleteDocument deletes a document whose file could not be stored, also if the browser has gone meanwhile. It does what
// it can: without its file the document ends as Error.
func (s *Server) deleteDocument(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	_, _ = s.callPlatform(ctx, http.MethodDelete, documentsPath+"/"+url.PathEscape(id), nil)
}

// callPlatform calls a path of the platform and returns the answer's body. The error is a *refusedReply for an answer that
// is not one of success.
func (s *Server) callPlatform(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.config.Client.APIURL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "sluice-console/"+s.config.Info.Version)
	r.Header.Set("X-Tenant-Id", s.config.Client.Tenant())
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	reply, err := s.config.Client.Transport().RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReplyBytes))
	if err != nil {
		return nil, err
	}
	if reply.StatusCode/100 != 2 {
		return nil, &refusedReply{status: reply.StatusCode, header: reply.Header, body: text}
	}
	return text, nil
}
