package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/lateend"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A request reaches the service with a token, with the headers of the interface and with nothing else of the browser's.
func TestRequestsArePassedOn(t *testing.T) {
	service := newFakeService(t)
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", "r-1")
		w.Header().Set("X-Rate-Limit-Remaining", "5")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprintf(w, `{"got":%q}`, body)
	}
	s, cookie := newConsole(t, service)
	w := ask(s, http.MethodPost, "/api/tm/x%2Fy/%E2%82%AC?a=1;b&c=%20", strings.NewReader(`{"a":1}`), fromPage(cookie),
		with("Content-Type", "application/json"), with("Idempotency-Key", "k"), with("Accept", "application/json"),
		with("Authorization", "Bearer mine"), with("X-Forwarded-For", "1.2.3.4"), with("Forwarded", "for=1.2.3.4"),
		with("X-Tenant-Id", "other"), with("Connection", "Idempotency-Key, X-A"), with("X-A", "b"),
		with("Te", "trailers"),
		with("Referer", "http://127.0.0.1:8470/open/x"), with("Proxy-Authorization", "x"),
		with("X-Http-Method-Override", "DELETE"))
	if w.Code != http.StatusTooManyRequests || w.Body.String() != `{"got":"{\"a\":1}"}` {
		t.Errorf("the answer is %d %s", w.Code, w.Body)
	}
	for name, want := range map[string]string{"Retry-After": "7", "X-Request-Id": "r-1",
		"X-Rate-Limit-Remaining": "5"} {
		difftest.Equal(t, name, want, w.Header().Get(name))
	}
	got := service.requests()[0]
	difftest.Equal(t, "the service was asked for",
		[]any{"/base/tm/x%2Fy/%E2%82%AC?a=1;b&c=%20", strings.TrimPrefix(service.URL, "http://")},
		[]any{got.URL.RequestURI(), got.Host})
	want := map[string]string{"Authorization": "Bearer token-1", "Content-Type": "application/json",
		"Idempotency-Key": "k",
		"X-Tenant-Id":     "t", "Accept": "application/json", "User-Agent": "sluice-console/v1", "Content-Length": "7",
		"Accept-Encoding": "gzip"}
	for name := range got.Header {
		difftest.Equal(t, "the service was sent "+name, want[name], got.Header.Get(name))
		delete(want, name)
	}
	difftest.Len(t, "the service was not sent", 0, want)
}

// Nothing that is asked below /api reaches another path or another host than those of the API.
func TestPathTricks(t *testing.T) {
	service := newFakeService(t)
	s, cookie := newConsole(t, service)
	for target, want := range map[string]string{
		"/api/../oauth2/token":                "",
		"/api/x/../../oauth2/token":           "",
		"/api/%2e%2e/oauth2/token":            "",
		"/api/.%2E/oauth2/token":              "",
		"/api/x%2f..%2f..%2foauth2":           "",
		"/api/..%5coauth2":                    "",
		"/api/x/./y":                          "",
		"/api/%252e%252e/x":                   "/base/%252e%252e/x",
		"/api//attacker.example/x":            "/base//attacker.example/x",
		"/api/http://attacker.example/x":      "/base/http://attacker.example/x",
		"/api/@attacker.example/x":            "/base/@attacker.example/x",
		"/api/x?u=http://attacker.example#/y": "/base/x?u=http://attacker.example",
		"/api/...":                            "/base/...",
		"/api/a%2Fb%3Fc":                      "/base/a%2Fb%3Fc",
	} {
		t.Run(target, func(t *testing.T) {
			before := len(service.requests())
			w := ask(s, http.MethodGet, "/", nil, fromPage(cookie), func(r *http.Request) {
				u := errtest.Must(r.URL.Parse("http://" + consoleAddress))(t)
				// As http.Server does it: nothing is cleaned.
				parsed := errtest.Must(http.ReadRequest(bufio.NewReader(strings.NewReader(
					"GET " + strings.SplitN(target, "#", 2)[0] + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"))))(t)
				r.URL, r.RequestURI = parsed.URL, parsed.RequestURI
			})
			seen := service.requests()[before:]
			switch {
			case want == "" && (len(seen) > 0 || w.Code != http.StatusBadRequest):
				t.Errorf("answers %d, and the service was asked %d times, want 400 and not at all", w.Code, len(seen))
			case want != "" && (len(seen) != 1 || seen[0].URL.RequestURI() != want):
				t.Errorf("the service was asked for %v (%d), want %s", seen, w.Code, want)
			}
		})
	}
}

func TestMethodsAndUpgrades(t *testing.T) {
	service := newFakeService(t)
	s, cookie := newConsole(t, service)
	for _, method := range []string{"CONNECT", "TRACE", "OPTIONS", "PROPFIND"} {
		w := ask(s, http.MethodGet, "/api/x", nil, func(r *http.Request) { r.Method = method }, fromPage(cookie))
		difftest.Equal(t, method+" answers", http.StatusMethodNotAllowed, w.Code)
	}
	w := ask(s, http.MethodGet, "/api/x", nil, fromPage(cookie), with("Connection", "Upgrade"),
		with("Upgrade", "websocket"))
	difftest.Equal(t, "an upgrade answers", http.StatusBadRequest, w.Code)
	difftest.Equal(t, "times that the service was asked", 0, len(service.requests()))
}

// An answer is passed on whole, however early it begins.
func TestEarlyAnswers(t *testing.T) {
	service := newFakeService(t)
	service.answer = lateend.Answer
	s, cookie := newConsole(t, service)
	for _, size := range []int{1, maxRepeatedBytes, maxRepeatedBytes + 1, 3 * maxRepeatedBytes} {
		lateend.Check(t, s, size, func(r *http.Request) {
			fromPage(cookie)(r)
			r.URL.Path, r.Host = "/api/x", consoleAddress
		})
	}
}

// A token that the service refuses is replaced, once; the page does not notice.
func TestTokenIsRenewed(t *testing.T) {
	for name, size := range map[string]int{"no body": 0, "small body": 10, "largest repeated": maxRepeatedBytes} {
		t.Run(name, func(t *testing.T) {
			service := newFakeService(t)
			service.answer = func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				if r.Header.Get("Authorization") == "Bearer token-1" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				fmt.Fprint(w, n)
			}
			s, cookie := newConsole(t, service)
			var body io.Reader
			if size > 0 {
				body = strings.NewReader(strings.Repeat("x", size))
			}
			w := ask(s, http.MethodPost, "/api/x", body, fromPage(cookie))
			if w.Code != http.StatusOK || w.Body.String() != fmt.Sprint(size) {
				t.Errorf("got %d %s, want 200 %d", w.Code, w.Body, size)
			}
		})
	}
	t.Run("refused twice", func(t *testing.T) {
		service := newFakeService(t)
		service.answer = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
		s, cookie := newConsole(t, service)
		if w := ask(s, http.MethodGet, "/api/x", nil, fromPage(cookie)); w.Code != http.StatusUnauthorized ||
			service.tokens != 2 {
			t.Errorf("got %d after %d tokens, want 401 after 2", w.Code, service.tokens)
		}
	})
}

// What the credentials and tokens are is in no answer, whatever fails.
func TestFailuresAreExplained(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*fakeService)
		code    string
	}{
		"credentials refused": {func(s *fakeService) { s.refuseTokens = true }, codeCredentials},
		"connection broken": {func(s *fakeService) {
			s.answer = func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
		}, codeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			service := newFakeService(t)
			test.prepare(service)
			s, cookie := newConsole(t, service)
			w := ask(s, http.MethodGet, "/api/x?X-Amz-Signature=abc", nil, fromPage(cookie))
			p := problemOf(t, w)
			if w.Code != http.StatusBadGateway || p.ErrorCode != test.code || p.Title == "" || p.Detail == "" {
				t.Errorf("got %d %+v, want 502 with the code %s", w.Code, p, test.code)
			}
			for _, secret := range []string{"the-secret", "token-1", "abc"} {
				if strings.Contains(w.Body.String(), secret) {
					t.Errorf("the answer has %s: %s", secret, w.Body)
				}
			}
		})
	}
}

// What a page sends reaches the service as it comes: each part is sent when the one before it has arrived.
func TestRequestBodiesAreStreamed(t *testing.T) {
	const part, parts = 1 << 16, 40 // more than is held in memory
	service := newFakeService(t)
	arrived := make(chan struct{})
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		for range parts {
			errtest.Is(t, "CopyN", errtest.Of(io.CopyN(io.Discard, r.Body, part)), nil)
			arrived <- struct{}{}
		}
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	}
	server, cookie := serveConsole(t, service)
	in, out := io.Pipe()
	go func() {
		for range parts {
			_, _ = out.Write(make([]byte, part))
			<-arrived
		}
		out.Close()
	}()
	if got := askServer(t, server, cookie, http.MethodPost, in); got != "0 <nil>" {
		t.Errorf("the service answers %q, want that the body ended after %d parts", got, parts)
	}
}

// What the service answers reaches the page as it comes: each part is sent when the one before it has arrived.
func TestAnswersAreStreamed(t *testing.T) {
	service := newFakeService(t)
	arrived := make(chan struct{})
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			fmt.Fprint(w, "part\n")
			_ = http.NewResponseController(w).Flush()
			<-arrived
		}
	}
	server, cookie := serveConsole(t, service)
	r := errtest.Must(http.NewRequest(http.MethodGet, server.URL+"/api/x", nil))(t)
	fromServer(r, server, cookie)
	resp := errtest.Must(server.Client().Do(r))(t)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 3 {
		if line, err := lines.ReadString('\n'); line != "part\n" {
			t.Fatalf("got %q, %v, want a part", line, err)
		}
		arrived <- struct{}{}
	}
}

// A browser that leaves ends the request to the service, too.
func TestLeavingEndsTheRequest(t *testing.T) {
	service := newFakeService(t)
	began, ended := make(chan struct{}), make(chan struct{})
	service.answer = func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	}
	server, cookie := serveConsole(t, service)
	ctx, leave := context.WithCancel(t.Context())
	r := errtest.Must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/x", nil))(t)
	fromServer(r, server, cookie)
	go func() {
		<-began
		leave()
	}()
	errtest.Is(t, "Do", errtest.Of(server.Client().Do(r)), context.Canceled)
	<-ended
}

// serveConsole serves a console of a service at an address of its own.
func serveConsole(t *testing.T, service *fakeService) (*httptest.Server, *http.Cookie) {
	t.Helper()
	return serveConsoleWith(t, service, func(*Config) {})
}

// serveConsoleWith is serveConsole with another configuration.
func serveConsoleWith(t *testing.T, service *fakeService, change func(*Config)) (*httptest.Server, *http.Cookie) {
	t.Helper()
	socket := errtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := Config{Client: service.client(t, ""), Address: socket.Addr().String(), Assets: testAssets}
	change(&c)
	s := errtest.Must(New(c))(t)
	server := &httptest.Server{Listener: socket, Config: &http.Server{Handler: s}}
	server.Start()
	t.Cleanup(server.Close)
	browser := server.Client()
	browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp := errtest.Must(browser.Get(s.NewAddress()))(t)
	resp.Body.Close()
	return server, resp.Cookies()[0]
}

// fromServer makes a request one of the page of a console that is served.
func fromServer(r *http.Request, server *httptest.Server, cookie *http.Cookie) {
	fromPage(cookie)(r)
	if r.Header.Get("Origin") != "" {
		r.Header.Set("Origin", server.URL)
	}
}

// askServer sends a request of the page to /api/x and returns the answer.
func askServer(t *testing.T, server *httptest.Server, cookie *http.Cookie, method string, body io.Reader) string {
	t.Helper()
	r := errtest.Must(http.NewRequest(method, server.URL+"/api/x", body))(t)
	fromServer(r, server, cookie)
	resp := errtest.Must(server.Client().Do(r))(t)
	defer resp.Body.Close()
	text := errtest.Must(io.ReadAll(resp.Body))(t)
	return string(text)
}
