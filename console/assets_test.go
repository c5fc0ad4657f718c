package console

import (
	"net/http"
	"testing"
	"testing/fstest"

	"sluice/shared/kit/errtest"
)

func TestPages(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	for _, test := range []struct {
		path, accept string
		status       int
		contentType  string
		cache        string
	}{
		{"/", "*/*", 200, "text/html; charset=utf-8", "no-store"},
		{"/batches/0199a1c2?code=x", "text/html", 200, "text/html; charset=utf-8", "no-store"},
		{"/entities/acme.inc", "text/html", 200, "text/html; charset=utf-8", "no-store"},
		{"/favicon.ico", "image/*", 404, "application/problem+json", "no-store"},
		{"/assets/main-ABCDEF12.js", "*/*", 200, "text/javascript; charset=utf-8",
			"private, max-age=31536000, immutable"},
		{"/assets/chunks/a-0123456F.js", "*/*", 200, "text/javascript; charset=utf-8",
			"private, max-age=31536000, immutable"},
		{"/assets/main.css", "*/*", 200, "text/css; charset=utf-8", "no-store"},
		{"/assets/none.js", "text/html", 404, "application/problem+json", "no-store"},
		{"/assets/secret.exe", "*/*", 404, "application/problem+json", "no-store"},
		{"/assets/", "*/*", 404, "application/problem+json", "no-store"},
		{"/assets/chunks", "*/*", 404, "application/problem+json", "no-store"},
		{"/assets/../index.html", "*/*", 404, "application/problem+json", "no-store"},
		{"/assets/%2e%2e/server.go", "*/*", 404, "application/problem+json", "no-store"},
	} {
		t.Run(test.path, func(t *testing.T) {
			w := ask(s, http.MethodGet, test.path, nil, fromPage(cookie), with("Accept", test.accept))
			if w.Code != test.status || w.Header().Get("Content-Type") != test.contentType ||
				w.Header().Get("Cache-Control") != test.cache {
				t.Errorf("got %d %v, want %+v", w.Code, w.Header(), test)
			}
		})
	}
}

// A program that was built without the page says so, and how to build it.
func TestPageIsMissing(t *testing.T) {
	s, err := New(Config{Client: newFakeService(t).client(t, ""), Address: consoleAddress, Assets: fstest.MapFS{}})
	errtest.Fatal(t, err)
	w := ask(s, http.MethodGet, "/", nil, fromPage(beginSession(t, s)), with("Accept", "text/html"))
	if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("got %d %v, want 404 with a page", w.Code, w.Header())
	}
}
