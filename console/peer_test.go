package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestUserOf(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the tables below are those of a little-endian machine")
	}
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:2116 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20 4 30 10 -1
   2: 0100007F:2116 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
   3: 00000000000000000000000001000000:9C41 00000000000000000000000001000000:2116 01 0:0 00:0 0 1002 0 4 1
   4: 0000000000000000FFFF00000100007F:9C42 0000000000000000FFFF00000100007F:2116 01 0:0 00:0 0 1003 0 4 1
   5: nonsense
`
	for _, test := range []struct {
		from, to string
		want     int
		found    bool
	}{
		{"127.0.0.1:40000", "127.0.0.1:8470", 1001, true},
		{"[::1]:40001", "[::1]:8470", 1002, true},
		{"127.0.0.1:40002", "127.0.0.1:8470", 1003, true},
		{"[::ffff:127.0.0.1]:40000", "127.0.0.1:8470", 1001, true},
		{"127.0.0.1:40003", "127.0.0.1:8470", 0, false},
		{"127.0.0.1:40000", "127.0.0.1:8471", 0, false},
	} {
		user, found := userOf(strings.NewReader(table), netip.MustParseAddrPort(test.from),
			netip.MustParseAddrPort(test.to))
		difftest.Equal(t, fmt.Sprintf("%s to %s", test.from, test.to), []any{test.want, test.found}, []any{user, found})
	}
}

// Linux says of a real connection who has made it.
func TestIsOfOther(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says whose a connection is")
	}
	own := os.Getuid()
	var asOwn, asOther bool
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asOwn, asOther = isOfOther(r, own), isOfOther(r, own+1)
	}))
	defer server.Close()
	resp := errtest.Must(server.Client().Get(server.URL))(t)
	resp.Body.Close()
	difftest.Equal(t, fmt.Sprintf("the connection is of another user than %d", own), []any{false, own != 0},
		[]any{asOwn, asOther})
}

// Another user can use neither the address nor the cookie, and whose a connection is, is looked up once.
func TestOtherUsersAreRefused(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	address := strings.TrimPrefix(s.NewAddress(), "http://"+consoleAddress)
	other := &connection{}
	other.once.Do(func() { other.isOther = true })
	as := func(c *connection) func(*http.Request) {
		return func(r *http.Request) { *r = *r.WithContext(context.WithValue(r.Context(), connectionKey{}, c)) }
	}
	for _, path := range []string{address, "/", "/api/x", "/console/session"} {
		w := ask(s, http.MethodGet, path, nil, fromPage(cookie), as(other))
		if w.Code != http.StatusForbidden || problemOf(t, w).Title != "This console is somebody else's" {
			t.Errorf("%s answers another user %d %s, want 403", path, w.Code, w.Body)
		}
	}
	if w := ask(s, http.MethodGet, address, nil, as(&connection{})); w.Code != http.StatusSeeOther {
		t.Errorf("the address answers its own user %d, want 303: it must not be used up", w.Code)
	}
	ctx := ConnContext(t.Context(), nil)
	if _, ok := ctx.Value(connectionKey{}).(*connection); !ok {
		t.Error("ConnContext notes no connection")
	}
}
