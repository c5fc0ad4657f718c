package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sluice/client"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// consoleAddress is that of the console in tests. Nothing listens there.
const consoleAddress = "127.0.0.1:8470"

// testAssets are the files of a page.
var testAssets = fstest.MapFS{
	"index.html":           {Data: []byte("<!doctype html><title>Sluice</title>")},
	"main-ABCDEF12.js":     {Data: []byte("export {}")},
	"chunks/a-0123456F.js": {Data: []byte("export {}")},
	"main.css":             {Data: []byte("body {}")},
	"secret.exe":           {Data: []byte("MZ")},
}

// fakeService is a service with a token endpoint. It records what it is asked.
type fakeService struct {
	*httptest.Server
	// answer answers everything but requests for tokens.
	answer http.HandlerFunc

	mu sync.Mutex
	// tokens is how many tokens were given; the n-th is token-n.
	tokens int
	// refuseTokens has the token endpoint refuse the credentials.
	refuseTokens bool
	seen         []*http.Request
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	s := &fakeService{answer: func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) }}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *fakeService) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oauth2/token" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuseTokens {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		s.tokens++
		fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":3600}`, s.tokens)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
	s.answer(w, r)
}

// requests returns what was asked but for tokens.
func (s *fakeService) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// client returns a client of the service, below a path of it.
func (s *fakeService) client(t *testing.T, path string) *client.Client {
	t.Helper()
	c := errtest.Must(client.New(client.Config{
		APIURL: s.URL + path, TokenURL: s.URL + "/oauth2/token", ClientID: "c", ClientSecret: "the-secret",
		Scope: "tenant/t",
	}))(t)
	return c
}

// newConsole returns a console of a service and the cookie of a session.
func newConsole(t *testing.T, service *fakeService) (*Server, *http.Cookie) {
	t.Helper()
	s := errtest.Must(New(Config{
		Client: service.client(t, "/base"), Address: consoleAddress, Assets: testAssets,
		Info: Info{Version: "v1", APIURL: service.URL, Connection: "flags", TenantID: "t", ClientID: "c"},
	}))(t)
	return s, beginSession(t, s)
}

// beginSession opens the console in a new browser.
func beginSession(t *testing.T, s *Server) *http.Cookie {
	t.Helper()
	w := ask(s, http.MethodGet, strings.TrimPrefix(s.NewAddress(), "http://"+consoleAddress), nil)
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("opening the console answers %d with %d cookies, want 303 with 1", w.Code, len(cookies))
	}
	return cookies[0]
}

// ask sends a request to the console as a program would, changed by the given functions.
func ask(s http.Handler, method, target string, body io.Reader,
	change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, body)
	r.Host = consoleAddress
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// with adds a header to a request.
func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

// withCookie adds a cookie to a request.
func withCookie(c *http.Cookie) func(*http.Request) { return func(r *http.Request) { r.AddCookie(c) } }

// fromPage makes a request one of the console's page in a browser with a session.
func fromPage(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) {
		r.AddCookie(c)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if r.Method != http.MethodGet {
			r.Header.Set("Origin", "http://"+consoleAddress)
			r.Header.Set(writeHeader, "1")
		}
	}
}

// problemOf returns the problem details of an answer.
func problemOf(t *testing.T, w *httptest.ResponseRecorder) problem {
	t.Helper()
	var p problem
	difftest.Equal(t, fmt.Sprintf("the answer %d has the content type: %s", w.Code, w.Body),
		"application/problem+json", w.Header().Get("Content-Type"))
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("read %s: %v", w.Body, err)
	}
	return p
}
