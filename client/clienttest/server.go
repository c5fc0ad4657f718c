// Package clienttest provides a stand-in for Sluice, for tests of programs that use package client: one HTTP server
// with the token endpoint, the calls of the interface about batches, stored transactions, what became of transactions,
// entities and documents, and the object storage that takes uploads and serves reports.
//
// The server is strict about methods, headers and content types, and records what no client should do. It judges lines
// by their JSON and their modification IDs only, and a batch advances by one status each time its status is read.
package clienttest

import (
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
)

// Credentials that the server accepts.
const (
	ClientID     = "client-1"
	ClientSecret = "secret-1"
	Scope        = "tenant/01980000-0000-7000-8000-000000000001"
)

const basePath = "/tm/realtime/api/transactions/"

// Server is the stand-in. Set its fields before the first request; SetBefore changes one later.
type Server struct {
	*httptest.Server
	// TokenLifetime is how long a token is valid; an hour unless changed.
	TokenLifetime time.Duration
	// MaxBytes is the largest file that the server says it accepts; 2 GiB unless changed.
	MaxBytes int64
	// ReceivedAt is when uploads are received; zero unless changed, which means the present.
	ReceivedAt time.Time
	// Entities are those of the tenant, in the order of lists. Their name is the property legalEntityName.
	Entities []wire.Entity

	// Before, if not nil, sees each request first. If it answers the request itself it returns true.
	Before func(http.ResponseWriter, *http.Request) bool
	// After, if not nil, is called when a request was served and before its answer is sent. If it returns true the
	// connection is closed instead, so that the answer is lost.
	After func(*http.Request) bool

	mu sync.Mutex
	// tokens says when each access token expires.
	tokens  map[string]time.Time
	batches map[string]*batch
	// keyed has the answers to requests by their idempotency keys.
	keyed map[string]client.Upload
	// documents are in the order of their creation.
	documents []*document
	problems  []string
	requests  []string
	// ended counts the requests that are not being answered any more.
	ended int
}

// New starts a server on a free port of this machine. The caller closes it.
func New() *Server {
	s := &Server{
		TokenLifetime: time.Hour, MaxBytes: 1 << 31, tokens: map[string]time.Time{}, batches: map[string]*batch{},
		keyed: map[string]client.Upload{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/token", s.issueToken)
	mux.HandleFunc("POST "+basePath+"batch/generate-upload-url", s.authorized(s.createUpload))
	mux.HandleFunc("GET "+basePath+"batch/status/{id}", s.authorized(s.readStatus))
	mux.HandleFunc("GET "+basePath+"batch/validation-result/{id}", s.authorized(s.readResult))
	mux.HandleFunc("GET "+basePath+"batch/screening-result/{id}", s.authorized(s.readScreening))
	mux.HandleFunc("POST "+basePath+"batch/upload-url/{id}", s.authorized(s.signUpload))
	mux.HandleFunc("GET "+basePath+"batch/upload-parts/{id}", s.authorized(s.listParts))
	mux.HandleFunc("POST "+basePath+"batch/upload-parts/{id}", s.authorized(s.signParts))
	mux.HandleFunc("DELETE "+basePath+"batch/upload-parts/{id}", s.authorized(s.giveUpParts))
	mux.HandleFunc("POST "+basePath+"batch/complete-upload/{id}", s.authorized(s.completeParts))
	mux.HandleFunc("PUT /storage/parts/{id}/{number}", s.putPart)
	mux.HandleFunc("POST "+basePath+"batch/cancel/{id}", s.authorized(s.cancel))
	mux.HandleFunc("GET "+basePath+"batch", s.authorized(s.list))
	mux.HandleFunc("GET /storage/alerts/{id}", s.readAlerts)
	mux.HandleFunc("GET "+basePath+"{id}", s.authorized(s.readTransaction))
	mux.HandleFunc("GET "+strings.TrimSuffix(basePath, "/"), s.authorized(s.readTransaction))
	mux.HandleFunc("GET "+observabilityPath+"summary", s.authorized(s.summarize))
	mux.HandleFunc("GET "+observabilityPath+"failed-modifications", s.authorized(s.listFailed))
	mux.HandleFunc("GET "+observabilityPath+"events", s.authorized(s.listEvents))
	mux.HandleFunc("GET "+entityQueries, s.platform(s.listEntities))
	mux.HandleFunc("GET "+entityQueries+"/{id}", s.platform(s.readEntity))
	mux.HandleFunc("POST "+documentCommands, s.platform(s.createDocument))
	mux.HandleFunc("DELETE "+documentCommands+"/{id}", s.platform(s.deleteDocument))
	mux.HandleFunc("GET "+documentQueries+"/{id}", s.platform(s.readDocument))
	mux.HandleFunc("GET "+documentQueries+"/signedurl/{id}", s.platform(s.signDocument))
	mux.HandleFunc("POST "+documentQueries+"/entity/paged/lite/v2", s.platform(s.listDocuments))
	mux.HandleFunc("PUT /storage/documents/{id}", s.putDocument)
	mux.HandleFunc("GET /storage/documents/{id}", s.readDocumentFile)
	mux.HandleFunc("GET /v1/webhooks", s.authorized(s.listWebhooks))
	mux.HandleFunc("GET /policyquery/api/v4/policies", s.platform(s.listPolicies))
	mux.HandleFunc("PUT /storage/uploads/{id}", s.putFile)
	mux.HandleFunc("GET /storage/reports/{id}", s.readFile(func(b *batch) []byte { return b.report }))
	mux.HandleFunc("GET /storage/csv/{id}", s.readFile(func(b *batch) []byte { return b.csv }))
	mux.HandleFunc("GET /storage/rejected/{id}", s.readFile(func(b *batch) []byte { return b.rejected }))
	// The handler reads the Server of which the httptest.Server is a part, so the latter starts when both are complete.
	s.Server = httptest.NewUnstartedServer(s.handler(mux))
	s.Server.Start()
	return s
}

// handler records each request and gives Before and After their say. The end of a request is recorded before the client
// can notice that its answer is lost, so that hooks see what those of earlier requests have written.
func (s *Server) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, after := s.begin(r)
		defer s.end()
		if before != nil && before(w, r) {
			return
		}
		if after == nil {
			next.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		if after(r) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(w)
	})
}

// begin records the beginning of a request, and returns the hooks that see it.
func (s *Server) begin(r *http.Request) (before func(http.ResponseWriter, *http.Request) bool,
	after func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.EscapedPath())
	return s.Before, s.After
}

// end records the end of a request, whose connection is still open.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
}

// SetBefore replaces Before once there were requests; some of them may still be answered.
func (s *Server) SetBefore(before func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Before = before
}

// Config returns the settings of a client that the server accepts.
func (s *Server) Config() client.Config {
	return client.Config{
		APIURL: s.URL, TokenURL: s.URL + "/oauth2/token", ClientID: ClientID, ClientSecret: ClientSecret, Scope: Scope,
	}
}

// Requests returns the method and path of every request so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Problems returns what clients did that no client should do, such as an upload with an access token.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Revoke makes all tokens invalid that were issued so far.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// problem records a mistake of the client. The caller holds s.mu.
func (s *Server) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// issueToken is the token endpoint.
func (s *Server) issueToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		s.problem("token request with content type %q", r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	text, _ := io.ReadAll(r.Body)
	form, err := url.ParseQuery(string(text))
	code := ""
	switch {
	case err != nil || len(form) != 4:
		code = "invalid_request"
	case form.Get("grant_type") != "client_credentials":
		code = "unsupported_grant_type"
	case form.Get("client_id") != ClientID || form.Get("client_secret") != ClientSecret:
		code = "invalid_client"
	case form.Get("scope") != Scope:
		code = "invalid_scope"
	}
	if code != "" {
		reply(w, http.StatusBadRequest, map[string]any{"error": code})
		return
	}
	token := rand.Text()
	s.tokens[token] = time.Now().Add(s.TokenLifetime)
	reply(w, http.StatusOK, map[string]any{
		"access_token": token, "expires_in": int(s.TokenLifetime.Seconds()), "token_type": "Bearer",
	})
}

// authorized checks the token and content type of a call of the interface. It serves calls one at a time, under s.mu.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var token string
		_, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %s", &token)
		if expiry, ok := s.tokens[token]; err != nil || !ok || time.Now().After(expiry) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			replyMessage(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		if r.ContentLength > 0 && r.Header.Get("Content-Type") != "application/json" {
			s.problem("%s with content type %q", r.URL.Path, r.Header.Get("Content-Type"))
			replyMessage(w, http.StatusUnsupportedMediaType, "Unsupported content type.")
			return
		}
		next(w, r)
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func replyMessage(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"message": message})
}

// replyInvalid answers 422 with one validation error.
func replyInvalid(w http.ResponseWriter, d client.Detail) {
	reply(w, http.StatusUnprocessableEntity, map[string]any{"detail": []client.Detail{d}})
}

// replyStorageError answers as S3 does.
func replyStorageError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message})
}
