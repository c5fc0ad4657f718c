// Package outboundtest provides real TLS servers with certificates of every kind, for tests of outbound calls.
package outboundtest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// Now is the time at which the certificates of this package are valid unless a test gives them other dates.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Authority is a CA.
type Authority struct {
	Certificate *x509.Certificate

	t   testing.TB
	key crypto.Signer
	// chain leads from the authority's own certificate to that below its root.
	chain [][]byte
}

// NewRoot returns a new root.
func NewRoot(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t)}
	template := authorityTemplate(name)
	a.Certificate = a.sign(template, template, a.key.Public())
	return a
}

// NewIntermediate returns a new CA whose certificate the authority has signed.
func (a *Authority) NewIntermediate(name string) *Authority {
	a.t.Helper()
	key := newKey(a.t)
	certificate := a.sign(authorityTemplate(name), a.Certificate, key.Public())
	return &Authority{Certificate: certificate, t: a.t, key: key, chain: append([][]byte{certificate.Raw}, a.chain...)}
}

// Leaf describes the certificate of a host. Zero fields have usual values.
type Leaf struct {
	// Hosts are names and IP addresses; none means ReceiverHost.
	Hosts []string
	// NotBefore and NotAfter are a day before and a year after Now by default.
	NotBefore, NotAfter time.Time
	// Usage is ServerAuth by default.
	Usage x509.ExtKeyUsage
}

// ReceiverHost is the name of receivers in tests.
const ReceiverHost = "receiver.test"

// Issue returns a certificate of a host with its chain, as a server presents it.
func (a *Authority) Issue(l Leaf) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	return tls.Certificate{Certificate: a.chainOf(a.IssueFor(l, key.Public())), PrivateKey: key}
}

// IssueFor returns a certificate of a host for a public key.
func (a *Authority) IssueFor(l Leaf, public crypto.PublicKey) *x509.Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "leaf"}, NotBefore: l.NotBefore, NotAfter: l.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if l.NotBefore.IsZero() {
		template.NotBefore = Now.AddDate(0, 0, -1)
	}
	if l.NotAfter.IsZero() {
		template.NotAfter = Now.AddDate(1, 0, 0)
	}
	if l.Usage != 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{l.Usage}
	}
	if l.Hosts == nil {
		l.Hosts = []string{ReceiverHost}
	}
	for _, host := range l.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.sign(template, a.Certificate, public)
}

// chainOf returns the chain that is presented with a certificate that the authority has signed.
func (a *Authority) chainOf(leaf *x509.Certificate) [][]byte {
	return append([][]byte{leaf.Raw}, a.chain...)
}

func (a *Authority) sign(template, parent *x509.Certificate, public crypto.PublicKey) *x509.Certificate {
	a.t.Helper()
	serial := errtest.Must(rand.Int(rand.Reader, big.NewInt(1<<62)))(a.t)
	template.SerialNumber = serial
	der := errtest.Must(x509.CreateCertificate(rand.Reader, template, parent, public, a.key))(a.t)
	return errtest.Must(x509.ParseCertificate(der))(a.t)
}

func authorityTemplate(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: Now.AddDate(-1, 0, 0), NotAfter: Now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	return errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
}

// PEM returns a certificate in PEM.
func PEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Pool returns a pool of certificates.
func Pool(authorities ...*Authority) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a.Certificate)
	}
	return pool
}

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
	errtest.Fatal(t, err)
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
