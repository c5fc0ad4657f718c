package console

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

func TestGuard(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	page := fromPage(cookie)
	for name, test := range map[string]struct {
		method string
		change []func(*http.Request)
		status int
		code   string
	}{
		"page":             {"GET", []func(*http.Request){page}, 200, ""},
		"page, changing":   {"POST", []func(*http.Request){page}, 200, ""},
		"localhost":        {"GET", []func(*http.Request){page, host("localhost:8470")}, 200, ""},
		"typed address":    {"GET", []func(*http.Request){withCookie(cookie), with("Sec-Fetch-Site", "none")}, 200, ""},
		"older browser":    {"GET", []func(*http.Request){withCookie(cookie)}, 200, ""},
		"DNS rebinding":    {"GET", []func(*http.Request){page, host("attacker.example:8470")}, 421, codeForeign},
		"other port":       {"GET", []func(*http.Request){page, host("127.0.0.1:8471")}, 421, codeForeign},
		"no port":          {"GET", []func(*http.Request){page, host("127.0.0.1")}, 421, codeForeign},
		"no host":          {"GET", []func(*http.Request){page, host("")}, 421, codeForeign},
		"trailing dot":     {"GET", []func(*http.Request){page, host("localhost.:8470")}, 421, codeForeign},
		"other loopback":   {"GET", []func(*http.Request){page, host("[::1]:8470")}, 421, codeForeign},
		"rebound, by name": {"GET", []func(*http.Request){page, host("127.0.0.1.nip.io:8470")}, 421, codeForeign},
		"cross-site": {"GET", []func(*http.Request){withCookie(cookie), with("Sec-Fetch-Site", "cross-site")},
			403, codeForeign},
		"other port's page": {"GET", []func(*http.Request){withCookie(cookie), with("Sec-Fetch-Site", "same-site")},
			403,
			codeForeign},
		"two sites": {"GET", []func(*http.Request){page, with("Sec-Fetch-Site", "cross-site")}, 403, codeForeign},
		"form of another site": {"POST", []func(*http.Request){withCookie(cookie),
			with("Origin", "https://attacker.example"),
			with("Content-Type", "application/x-www-form-urlencoded")}, 403, codeForeign},
		"sandboxed frame": {"POST", []func(*http.Request){withCookie(cookie), with("Origin", "null"),
			with(writeHeader, "1")}, 403, codeForeign},
		"origin of localhost, host 127.0.0.1": {"POST", []func(*http.Request){withCookie(cookie),
			with("Origin", "http://localhost:8470"), with(writeHeader, "1")}, 403, codeForeign},
		"origin with https": {"POST", []func(*http.Request){withCookie(cookie),
			with("Origin", "https://"+consoleAddress),
			with(writeHeader, "1")}, 403, codeForeign},
		"change without header": {"POST", []func(*http.Request){withCookie(cookie)}, 403, codeForeign},
		"delete without header": {"DELETE", []func(*http.Request){withCookie(cookie)}, 403, codeForeign},
		"preflight": {"OPTIONS", []func(*http.Request){withCookie(cookie),
			with("Origin", "https://attacker.example")}, 403, codeForeign},
		"no cookie": {"GET", nil, 401, codeSession},
		"cookie of another port": {"GET", []func(*http.Request){withCookie(&http.Cookie{
			Name: "sluice-console-9000", Value: cookie.Value})}, 401, codeSession},
		"wrong cookie": {"GET", []func(*http.Request){withCookie(&http.Cookie{Name: cookie.Name, Value: "x"})}, 401,
			codeSession},
		"empty cookie": {"GET", []func(*http.Request){withCookie(&http.Cookie{Name: cookie.Name})}, 401, codeSession},
		"cookie that another port has added": {"GET", []func(*http.Request){
			withCookie(&http.Cookie{Name: cookie.Name, Value: "x"}), withCookie(cookie)}, 200, ""},
	} {
		for _, path := range []string{"/console/session", "/api/x"} {
			if test.status == 200 && test.method != "GET" && path != "/api/x" {
				continue // the session can only be read
			}
			t.Run(name+path, func(t *testing.T) {
				w := ask(s, test.method, path, nil, test.change...)
				if w.Code != test.status {
					t.Fatalf("%s %s answers %d %s, want %d", test.method, path, w.Code, w.Body, test.status)
				}
				if test.code == "" {
					return
				}
				difftest.Equal(t, "the error code", test.code, problemOf(t, w).ErrorCode)
				difftest.Equal(t, "another site is allowed", "", w.Header().Get("Access-Control-Allow-Origin"))
			})
		}
	}
}

// What the guard refuses does not reach the service.
func TestRefusedRequestsReachNothing(t *testing.T) {
	service := newFakeService(t)
	s, cookie := newConsole(t, service)
	ask(s, "POST", "/api/x", strings.NewReader("{}"), withCookie(cookie), with("Origin", "https://attacker.example"))
	ask(s, "POST", "/api/x", strings.NewReader("{}"), withCookie(cookie))
	ask(s, "GET", "/api/x", nil)
	if n := len(service.requests()); n != 0 || service.tokens != 0 {
		t.Errorf("the service had %d requests and gave %d tokens, want none", n, service.tokens)
	}
}

// Each address opens the console in one browser, once.
func TestAddressIsGoodOnce(t *testing.T) {
	s, _ := newConsole(t, newFakeService(t))
	path := strings.TrimPrefix(s.NewAddress(), "http://"+consoleAddress)
	for name, change := range map[string]func(*http.Request){
		"HEAD":        func(r *http.Request) { r.Method = http.MethodHead },
		"cross-site":  with("Sec-Fetch-Site", "cross-site"),
		"DNS rebound": func(r *http.Request) { r.Host = "attacker.example" },
	} {
		if w := ask(s, http.MethodGet, path, nil, change); w.Code < 400 || len(w.Result().Cookies()) > 0 {
			t.Errorf("%s: %d with %v, want an error without a cookie", name, w.Code, w.Result().Cookies())
		}
	}
	w := ask(s, http.MethodGet, path, nil, with("Sec-Fetch-Site", "none"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
		t.Fatalf("the first use answers %d to %q, want 303 to /", w.Code, w.Header().Get("Location"))
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" ||
		cookie.MaxAge != 0 || cookie.Name != "sluice-console-8470" {
		t.Errorf("the cookie is %v", cookie)
	}
	if strings.Contains(path, cookie.Value) {
		t.Errorf("the cookie has the token of the address")
	}
	if w := ask(s, http.MethodGet, path, nil); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("a second browser gets %d, want 401 without a cookie", w.Code)
	}
	if w := ask(s, http.MethodGet, path, nil, withCookie(cookie)); w.Code != http.StatusSeeOther ||
		len(w.Result().Cookies()) > 0 {
		t.Errorf("the same browser gets %d, want 303 without a new cookie", w.Code)
	}
	if w := ask(s, http.MethodGet, "/open/", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("no token answers %d, want 401", w.Code)
	}
}

// A person who is refused reads a page, which has nothing of the request in it.
func TestNoticeForPeople(t *testing.T) {
	s, _ := newConsole(t, newFakeService(t))
	w := ask(s, http.MethodGet, "/batches/<script>alert(1)</script>", nil, with("Accept", "text/html"))
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "sluice console") ||
		strings.Contains(w.Body.String(), "alert") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestSecurityHeaders(t *testing.T) {
	service := newFakeService(t)
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public")
		w.Header().Set("Content-Security-Policy", "default-src *")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Request-Id", "r-1")
	}
	s, cookie := newConsole(t, service)
	for path, change := range map[string]func(*http.Request){
		"/": fromPage(cookie), "/batches": with("Accept", "text/html"), "/open/x": fromPage(cookie),
		"/api/x":           fromPage(cookie),
		"/assets/main.css": fromPage(cookie), "/assets/none": fromPage(cookie), "/console/session": fromPage(cookie),
		"/console/none": fromPage(cookie), "/none": with("X", "y"),
	} {
		h := ask(s, http.MethodGet, path, nil, change).Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff",
			"Referrer-Policy":            "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-store",
		} {
			if got := h.Values(name); len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%s has %s %q, want %q", path, name, got, want)
			}
		}
		if h.Get("Set-Cookie") != "" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s has headers of the service: %v", path, h)
		}
	}
}

func TestHostsOf(t *testing.T) {
	for _, test := range []struct {
		host, port string
		want       []string
	}{
		{"127.0.0.1", "8470", []string{"127.0.0.1:8470", "localhost:8470"}},
		{"::1", "8470", []string{"[::1]:8470", "localhost:8470"}},
		{"127.0.0.1", "80", []string{"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}},
	} {
		if got := hostsOf(test.host, test.port); !slices.Equal(got, test.want) {
			t.Errorf("hostsOf(%s, %s) = %v, want %v", test.host, test.port, got, test.want)
		}
	}
}

// A request for an absolute address has the host of that address, whatever the header says.
func TestAbsoluteAddress(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	r := httptest.NewRequest(http.MethodGet, "http://attacker.example/api/x", nil)
	r.AddCookie(cookie)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	difftest.Equal(t, "Code", http.StatusMisdirectedRequest, w.Code)
}
