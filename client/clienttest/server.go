// Package clienttest is a stand-in for Sluice: the whole wire of a batch in one HTTP server, strict about methods, headers and
// content types. It judges lines by their JSON and their modification IDs only.
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
	"sync"
	"time"
)

// Credentials that the server takes.
const (
	ClientID     = "client-1"
	ClientSecret = "secret-1"
	Scope        = "tenant/01980000-0000-7000-8000-000000000001"
)

const base = "/tm/realtime/api/transactions/"

// Server is the stand-in. Set its fields before the first request.
type Server struct {
	*httptest.Server
	TokenLifetime time.Duration
	MaxBytes      int64

	// Before, when set, sees each request first and may answer it, which it tells by true.
	Before func(http.ResponseWriter, *http.Request) bool
	// After, when set, may break the answer of a request that was served: true closes the connection instead.
	After func(*http.Request) bool

	mu       sync.Mutex
	tokens   map[string]time.Time // to when it ends
	batches  map[string]*batch
	problems []string
	requests []string
}

// New starts a server. Close ends it.
func New() *Server {
	s := &Server{TokenLifetime: time.Hour, MaxBytes: 1 << 31, tokens: map[string]time.Time{}, batches: map[string]*batch{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth2/token", s.token)
	mux.HandleFunc("POST "+base+"batch/generate-upload-url", s.authorized(s.newUpload))
	mux.HandleFunc("GET "+base+"batch/status/{id}", s.authorized(s.status))
	mux.HandleFunc("GET "+base+"batch/validation-result/{id}", s.authorized(s.result))
	mux.HandleFunc("GET "+base+"{id}", s.authorized(s.transaction))
	mux.HandleFunc("PUT /storage/uploads/{id}", s.put)
	mux.HandleFunc("GET /storage/reports/{id}", s.report)
	// Unstarted at first: the handler reads the server that it is part of.
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.EscapedPath())
		s.mu.Unlock()
		if s.Before != nil && s.Before(w, r) {
			return
		}
		if s.After == nil {
			mux.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		if s.After(r) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = answer.Body.WriteTo(w)
	}))
	s.Server.Start()
	return s
}

// Requests returns the method and path of every request so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// Problems returns what clients did that no client should do.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Revoke makes all tokens invalid before their time.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

func (s *Server) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
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

// authorized checks what holds for every call of the API, and serves it alone.
func (s *Server) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var token string
		_, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %s", &token)
		if end, ok := s.tokens[token]; err != nil || !ok || time.Now().After(end) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			reply(w, http.StatusUnauthorized, map[string]any{"message": "Unauthorized"})
			return
		}
		if r.ContentLength > 0 && r.Header.Get("Content-Type") != "application/json" {
			s.problem("%s with content type %q", r.URL.Path, r.Header.Get("Content-Type"))
			reply(w, http.StatusUnsupportedMediaType, map[string]any{"message": "Unsupported content type."})
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

// refuse answers as S3 does.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: message})
}
