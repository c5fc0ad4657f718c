package console

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// guard decides which requests are answered. A browser sends requests to this server on behalf of any page that it
// shows, and any program of the machine can send some; so a request must be addressed to the console under its own name
// (a foreign name that resolves to this machine is DNS rebinding), come from no other site and no other user, and have
// the cookie of a session.
type guard struct {
	// hosts are the values of Host that are the console's own.
	hosts    []string
	sessions *sessions
	// isOtherUser reports whether a request is known to come from a program of another user.
	isOtherUser func(*http.Request) bool
}

// writeHeader is the header that every request that may change something must have. A page of another site cannot send
// it without being asked for permission by the browser, which it does not get.
const writeHeader = "Sluice-Console"

// Values of problem.ErrorCode.
const (
	// codeSession means that the request has no session: the page must be opened anew.
	codeSession = "session_over"
	// codeForeign means that the request comes from elsewhere than the page.
	codeForeign = "foreign_request"
)

// check returns why a request is refused, nil if it is not.
func (g *guard) check(r *http.Request) *problem {
	if p := g.checkOrigin(r); p != nil {
		return p
	}
	if !g.sessions.has(r) {
		return &problem{Status: http.StatusUnauthorized, Title: "The console is not open in this browser",
			Detail: "Open the address that 'sluice console' has printed, or start it again.", ErrorCode: codeSession}
	}
	isReading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !isReading && r.Header.Get(writeHeader) != "1" {
		return &problem{Status: http.StatusForbidden, Detail: "The header " + writeHeader + ": 1 is missing.",
			ErrorCode: codeForeign}
	}
	return nil
}

// checkOrigin is the part of check that needs no session.
func (g *guard) checkOrigin(r *http.Request) *problem {
	if !slices.Contains(g.hosts, strings.ToLower(r.Host)) {
		return &problem{Status: http.StatusMisdirectedRequest,
			Detail: "The console answers at http://" + g.hosts[0] + " only.", ErrorCode: codeForeign}
	}
	if g.isOtherUser(r) {
		return &problem{Status: http.StatusForbidden, Title: "This console is somebody else's",
			Detail: "Only programs of the user who has started it can use it.", ErrorCode: codeForeign}
	}
	isForeign := false
	for _, origin := range r.Header.Values("Origin") {
		isForeign = isForeign || origin != "http://"+r.Host
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		isForeign = isForeign || site != "same-origin" && site != "none"
	}
	if isForeign {
		return &problem{Status: http.StatusForbidden, Title: "The request comes from another page",
			Detail: "Only the console's own page may ask for this. To open the console, copy its address to the " +
				"browser's address line.", ErrorCode: codeForeign}
	}
	return nil
}

// hostsOf returns the values of Host under which the console is reached, the first one that of its address. Only
// addresses of this machine can also be reached as localhost.
func hostsOf(host, port string) []string {
	names := []string{host}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		names = append(names, "localhost")
	}
	var hosts []string
	for _, name := range names {
		hosts = append(hosts, strings.ToLower(net.JoinHostPort(name, port)))
	}
	if port == "80" { // browsers leave out the port of the scheme
		for _, name := range names {
			hosts = append(hosts, strings.TrimSuffix(strings.ToLower(net.JoinHostPort(name, port)), ":80"))
		}
	}
	return hosts
}

// The address that opens the console is on the command line of the browser, where other users of the machine can see
// it, and the browser sends the cookie to whatever listens at another port of the same address. So neither may be used
// by other users. Linux says whose a connection is; on other systems that is not known.

// peerTables are where Linux lists connections.
var peerTables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// overflowUser is the number of users that a container does not know.
const overflowUser = 65534

// connection is what is known of a connection of the server. The user is looked up with its first request.
type connection struct {
	once    sync.Once
	isOther bool
}

type connectionKey struct{}

// ConnContext is for the http.Server that serves a console: whose a connection is, is then looked up once for all its
// requests.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{})
}

// isOtherUser reports whether a request is known to come from a program of another user of this machine.
func isOtherUser(r *http.Request) bool {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return isOfOther(r, os.Getuid())
	}
	c.once.Do(func() { c.isOther = isOfOther(r, os.Getuid()) })
	return c.isOther
}

// isOfOther reports whether the connection of a request is known to be that of another user than own. The superuser,
// who passes connections on, does not count.
func isOfOther(r *http.Request, own int) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, name := range peerTables {
		file, err := os.Open(name)
		if err != nil {
			continue
		}
		user, found := userOf(file, peer, here)
		file.Close()
		if found {
			return user != own && user != 0 && user != overflowUser
		}
	}
	return false
}

// userOf returns the user who has made a connection from one address to another, by a table of connections.
func userOf(table io.Reader, from, to netip.AddrPort) (user int, found bool) {
	const fromField, toField, userField = 1, 2, 7
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= userField {
			continue
		}
		a, okFrom := parsePeer(fields[fromField])
		b, okTo := parsePeer(fields[toField])
		if !okFrom || !okTo || a != unmapped(from) || b != unmapped(to) {
			continue
		}
		if user, err := strconv.Atoi(fields[userField]); err == nil {
			return user, true
		}
	}
	return 0, false
}

// parsePeer reads an address as the tables have it: words of the machine, in hexadecimal digits.
func parsePeer(text string) (netip.AddrPort, bool) {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	number, errPort := strconv.ParseUint(port, 16, 16)
	if err != nil || errPort != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return unmapped(netip.AddrPortFrom(ip, uint16(number))), ok
}

func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
