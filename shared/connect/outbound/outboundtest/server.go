package outboundtest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// Server is a receiver on this machine, which its URL calls by the name ReceiverHost.
type Server struct {
	// URL has no path.
	URL string
	// Port is the port of the URL.
	Port string
	http *httptest.Server
}

// NewServer starts a receiver that presents a certificate. Options change its TLS settings.
func NewServer(t testing.TB, certificate tls.Certificate, handler http.Handler, options ...func(*tls.Config)) *Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	for _, option := range options {
		option(s.TLS)
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	// httptest puts a certificate of its own beside the given one only if none is given.
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &Server{URL: "https://" + net.JoinHostPort(ReceiverHost, port), Port: port, http: s}
}

// CloseConnections closes the connections that clients have open.
func (s *Server) CloseConnections() { s.http.CloseClientConnections() }

// Resolver answers look-ups. The n-th look-up of a name gets the n-th list of its addresses; the last one is repeated.
type Resolver struct {
	mu    sync.Mutex
	names map[string][][]netip.Addr
	count map[string]int
}

// NewResolver returns a resolver that knows ReceiverHost as an address of this machine.
func NewResolver() *Resolver {
	r := &Resolver{names: map[string][][]netip.Addr{}, count: map[string]int{}}
	r.Set(ReceiverHost, "127.0.0.1")
	return r
}

// Set gives a name its addresses: each string has the addresses of one look-up, separated by spaces.
func (r *Resolver) Set(name string, lookups ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[name] = nil
	for _, lookup := range lookups {
		var addresses []netip.Addr
		for text := range strings.FieldsSeq(lookup) {
			addresses = append(addresses, netip.MustParseAddr(text))
		}
		r.names[name] = append(r.names[name], addresses)
	}
}

// LookupNetIP implements outbound.Resolver.
func (r *Resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lookups := r.names[host]
	if len(lookups) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	n := min(r.count[host], len(lookups)-1)
	r.count[host]++
	return lookups[n], nil
}
