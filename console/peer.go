package console

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// The address that opens the console is on the command line of the browser, where other users of the machine can see it.
// So a connection that another user has made must not use it. Linux says whose a connection is; on other systems that is not
// known, and everybody who has the address can use it once.

// peerTables are where Linux lists connections.
var peerTables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// overflowUser is the number of users that a container does not know.
const overflowUser = 65534

// isOtherUser reports whether a request is known to come from a program of another user of this machine. The superuser, who
// passes connections on, does not count.
func isOtherUser(r *http.Request, own int) bool {
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
