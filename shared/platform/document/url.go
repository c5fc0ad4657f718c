package document

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// MaxURL is the length of the longest URL of a virtual document, in characters.
const MaxURL = 2048

// URLProblem returns a message for the client that says why a text cannot be the URL of a virtual document; "" if it
// can. People and programs will follow the URL, so it must be unambiguous. Host names and private networks are allowed:
// the document may be on a machine of the institution.
func URLProblem(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || !isPort(u.Port()):
		return "The value must be an absolute https URL."
	case strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'<>`\\^{|}\x7f", r) || unicode.Is(unicode.Bidi_Control, r)
	}):
		return "The value must not contain quotes, angle brackets or other characters that a URL encodes."
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }):
		// Browsers turn some of these characters into ASCII: fullwidth digits become an address.
		return "The host must be written in ASCII; a name with other characters begins with xn--."
	case !isReachableHost(u.Hostname()):
		return "The host must not be an address that only one machine or network link knows, " +
			"such as localhost or 169.254.0.1."
	}
	return ""
}

// isPort reports whether a text is a port number or "", the default port.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil
}

// isReachableHost reports whether a host can be reached from other machines and networks. It refuses names whose last
// label begins with a digit: some programs read them as IP addresses.
func isReachableHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.Zone() == "" && !ip.IsLoopback() && !ip.IsUnspecified() && !ip.IsLinkLocalUnicast() &&
			!ip.IsMulticast() && ip != netip.AddrFrom4([4]byte{255, 255, 255, 255})
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "localhost" && last != "" && (last[0] < '0' || last[0] > '9')
}
