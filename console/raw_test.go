package console

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// What no browser sends and other programs can: bytes on the connection. None of it reaches the service other than as
// one request with the path, the body and the headers that the guard has seen.
func TestRawRequests(t *testing.T) {
	service := newFakeService(t)
	server, cookie := serveConsole(t, service)
	host := server.Listener.Addr().String()
	head := "Host: " + host + "\r\nCookie: " + cookie.String() + "\r\nSluice-Console: 1\r\nConnection: close\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
		// seen is what the service is asked for; "" for nothing.
		seen string
	}{
		"as the page sends it":     {"GET /api/x HTTP/1.1\r\n" + head + "\r\n", 200, "GET /x"},
		"no host":                  {"GET /api/x HTTP/1.0\r\nCookie: " + cookie.String() + "\r\n\r\n", 421, ""},
		"two hosts":                {"GET /api/x HTTP/1.1\r\nHost: attacker.example\r\n" + head + "\r\n", 400, ""},
		"foreign absolute address": {"GET http://attacker.example/api/x HTTP/1.1\r\n" + head + "\r\n", 421, ""},
		"own absolute address":     {"GET http://" + host + "/api/x HTTP/1.1\r\n" + head + "\r\n", 200, "GET /x"},
		"proxy":                    {"CONNECT attacker.example:443 HTTP/1.1\r\n" + head + "\r\n", 421, ""},
		"proxy to itself":          {"CONNECT " + host + " HTTP/1.1\r\n" + head + "\r\n", 405, ""},
		// Package http itself answers this one.
		"everything": {"OPTIONS * HTTP/1.1\r\n" + head + "\r\n", 200, ""},
		"two lengths": {"POST /api/x HTTP/1.1\r\n" + head + "Content-Length: 1\r\nContent-Length: " +
			"2\r\n\r\nab", 400, ""},
		"length and chunks": {"POST /api/x HTTP/1.1\r\n" + head + "Content-Length: 4\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n0\r\n\r\nGET /api/smuggled HTTP/1.1\r\n" + head + "\r\n", 200, "POST /x"},
		"unknown coding": {"POST /api/x HTTP/1.1\r\n" + head + "Transfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n",
			501, ""},
		"line in a path":      {"GET /api/x%0d%0aX-A:%20b HTTP/1.1\r\n" + head + "\r\n", 200, "GET /x%0d%0aX-A:%20b"},
		"line in a header":    {"GET /api/x HTTP/1.1\r\n" + head + "Accept: a\r\n b\r\n\r\n", 200, "GET /x"},
		"path with a control": {"GET /api/\x01 HTTP/1.1\r\n" + head + "\r\n", 400, ""},
		"dots":                {"GET /api/../oauth2/token HTTP/1.1\r\n" + head + "\r\n", 400, ""},
		"dots at the start":   {"GET /console/../api/x HTTP/1.1\r\n" + head + "\r\n", 307, ""},
		"no slash":            {"GET api/x HTTP/1.1\r\n" + head + "\r\n", 400, ""},
		"headers of the connection": {"GET /api/x HTTP/1.1\r\n" + head +
			"Connection: Sluice-Console, Cookie, Accept\r\nAccept: b\r\nKeep-Alive: 1\r\nTE: trailers\r\n\r\n", 200,
			"GET /x"},
		"upgrade to HTTP/2": {"GET /api/x HTTP/1.1\r\n" + head + "Connection: Upgrade, " +
			"HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", 400, ""},
		"trailers": {"POST /api/x HTTP/1.1\r\n" + head + "Trailer: Authorization\r\nTransfer-Encoding: " +
			"chunked\r\n\r\n1\r\na\r\n0\r\nAuthorization: Bearer other\r\n\r\n", 200, "POST /x"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(service.requests())
			conn := errtest.Must(net.Dial("tcp", host))(t)
			defer conn.Close()
			errtest.Fatal(t, errtest.Of(conn.Write([]byte(test.request))))
			method, _, _ := strings.Cut(test.request, " ")
			resp := errtest.Must(http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method}))(t)
			defer resp.Body.Close()
			difftest.Equal(t, "the answer", test.status, resp.StatusCode)
			var seen []string
			for _, r := range service.requests()[before:] {
				seen = append(seen, fmt.Sprint(r.Method, " ", r.URL.RequestURI()))
				if got := r.Header.Get("Authorization"); got != "Bearer token-1" ||
					len(r.Header.Values("Authorization")) != 1 {
					t.Errorf("the service was sent the token %q", r.Header.Values("Authorization"))
				}
				for _, name := range []string{"Cookie", "Connection", "Keep-Alive", "Te", "Upgrade", "Trailer",
					"Sluice-Console"} {
					difftest.Equal(t, "the service was sent "+name, "", r.Header.Get(name))
				}
			}
			difftest.Equal(t, "the service was asked for", test.seen, strings.Join(seen, ", "))
		})
	}
}
