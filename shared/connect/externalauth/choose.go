package externalauth

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Errors of CanonicalURL. Their texts are for clients.
var (
	ErrURLForm  = errors.New("the value must be an absolute https URL")
	ErrURLUser  = errors.New("the URL must not contain a user name or a password")
	ErrURLQuery = errors.New("the URL must not have a query or a fragment")
	ErrURLHost  = errors.New("the host of the URL must be a host name in ASCII or an IP address, and a port must be " +
		"from 1 to 65535")
)

// CanonicalURL returns the one spelling of an https URL that all its equivalent spellings share (RFC 3986, section
// 6.2): scheme and host in lower case, no default port, no dot at the end of the host, percent-encoding only where
// needed, dot segments resolved, no slash at the end. An encoded slash is part of its segment. The URL of a
// configuration has no user, query or fragment.
func CanonicalURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || !strings.EqualFold(u.Scheme, "https") || u.Opaque != "" || u.Host == "" ||
		!utf8.ValidString(text):
		return "", ErrURLForm
	case u.User != nil:
		return "", ErrURLUser
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#"):
		return "", ErrURLQuery
	}
	return canonical(u)
}

// CheckTokenURL returns one of the errors of CanonicalURL for a text that cannot be the address of a token endpoint.
// Such an address may have a query.
func CheckTokenURL(text string) error {
	withoutQuery, _, _ := strings.Cut(text, "?")
	if strings.Contains(text, "#") {
		return ErrURLQuery
	}
	_, err := CanonicalURL(withoutQuery)
	return err
}

// canonical returns the canonical spelling of scheme, host and path.
func canonical(u *url.URL) (string, error) {
	host, err := canonicalHost(u)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("https://" + host)
	for _, s := range pathSegments(u) {
		b.WriteString("/" + escapeSegment(s))
	}
	return b.String(), nil
}

// canonicalHost returns host and port in lower case, without the default port.
func canonicalHost(u *url.URL) (string, error) {
	host := strings.TrimSuffix(u.Hostname(), ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", ErrURLHost // in lower case, some of these characters are ASCII
	}
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return "", ErrURLHost
		}
		host = ip.Unmap().String()
	} else if !isHostName(host) {
		return "", ErrURLHost
	}
	port := 443
	if text := u.Port(); text != "" {
		var err error
		if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return "", ErrURLHost
		}
	}
	switch {
	case port != 443:
		return net.JoinHostPort(host, strconv.Itoa(port)), nil
	case strings.Contains(host, ":"):
		return "[" + host + "]", nil
	}
	return host, nil
}

// isHostName reports whether host consists of labels of letters, digits, hyphens and underscores, the last of which is
// not a number: some programs read such a host as an IP address.
func isHostName(host string) bool {
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if !(r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z') {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return len(host) <= 253 && (last[0] < '0' || last[0] > '9')
}

// pathSegments returns the decoded segments of a path, with dot segments resolved and empty segments at the end left
// out.
func pathSegments(u *url.URL) []string {
	var segments []string
	for raw := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		s, err := url.PathUnescape(raw)
		if err != nil {
			s = raw // not possible in what EscapedPath returns
		}
		switch s {
		case ".":
		case "..":
			segments = segments[:max(0, len(segments)-1)]
		default:
			segments = append(segments, s)
		}
	}
	for len(segments) > 0 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	return segments
}

// escapeSegment percent-encodes all bytes of a segment but those that RFC 3986 calls unreserved.
func escapeSegment(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// Choose returns the configuration that serves a URL: of those whose URL is the beginning of it, on whole path
// segments, the longest. ok is false if there is no such prefix. The URL may have a query. If it has no canonical form,
// the error is one of those of CanonicalURL: whether a configuration serves it cannot be told, so it must not be
// called.
func Choose(configurations []Configuration, target string) (chosen Configuration, ok bool, err error) {
	u, err := url.Parse(target)
	if err != nil || !strings.EqualFold(u.Scheme, "https") || u.Host == "" {
		return Configuration{}, false, ErrURLForm
	}
	wanted, err := canonical(u)
	if err != nil {
		return Configuration{}, false, err
	}
	longest := 0
	for _, c := range configurations {
		prefix, err := CanonicalURL(c.URL)
		if err == nil && (wanted == prefix || strings.HasPrefix(wanted, prefix+"/")) && len(prefix) > longest {
			chosen, ok, longest = c, true, len(prefix)
		}
	}
	return chosen, ok, nil
}
