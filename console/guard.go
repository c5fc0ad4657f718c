package console

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
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
