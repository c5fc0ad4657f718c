// Package outboundtest provides real TLS servers with certificates of every kind, for tests of outbound calls.
package outboundtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
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
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	errtest.Fatal(a.t, err)
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	errtest.Fatal(a.t, err)
	certificate, err := x509.ParseCertificate(der)
	errtest.Fatal(a.t, err)
	return certificate
}

func authorityTemplate(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: Now.AddDate(-1, 0, 0), NotAfter: Now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	errtest.Fatal(t, err)
	return key
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
