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
	"strconv"
	"strings"
	"sync"
)

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
