package outbound_test

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// authorities are a root, an intermediate below it, and a root of somebody else.
type authorities struct{ root, intermediate, other *outboundtest.Authority }

func newAuthorities(t *testing.T) authorities {
	root := outboundtest.NewRoot(t, "root")
	return authorities{root, root.NewIntermediate("intermediate"), outboundtest.NewRoot(t, "other root")}
}

// okHandler answers every request with 204.
var okHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

// tlsCase is a row of the table of cases: the certificates of a receiver and of the configuration, and the decision of
// each mode.
type tlsCase struct {
	name string
	// presented is the certificate that the receiver presents.
	presented tls.Certificate
	// given and next are the certificates of the configuration.
	given, next *x509.Certificate
	// pinned and signed are the reasons for which the modes PinLeafThumbprint and SignerChainValidationOnly refuse,
	// "" if they connect.
	pinned, signed outbound.Reason
	// viaIP makes the URL name the receiver by its IP address.
	viaIP bool
}

func tlsCases(t *testing.T, a authorities) []tlsCase {
	const refused = outbound.CertificateRefused
	leaf := a.intermediate.Issue(outboundtest.Leaf{})
	parsed := func(c tls.Certificate) *x509.Certificate {
		t.Helper()
		return errtest.Must(x509.ParseCertificate(c.Certificate[0]))(t)
	}
	alone := func(c tls.Certificate) tls.Certificate {
		c.Certificate = c.Certificate[:1]
		return c
	}
	issue := func(l outboundtest.Leaf) tls.Certificate { return a.intermediate.Issue(l) }
	rotated, wrongHost := issue(outboundtest.Leaf{}), issue(outboundtest.Leaf{Hosts: []string{"other.test"}})
	expired := issue(outboundtest.Leaf{NotAfter: outboundtest.Now.Add(-time.Second)})
	early := issue(outboundtest.Leaf{NotBefore: outboundtest.Now.Add(time.Second)})
	forClients := issue(outboundtest.Leaf{Usage: x509.ExtKeyUsageClientAuth})
	ofOther := a.other.Issue(outboundtest.Leaf{})
	ofIP := issue(outboundtest.Leaf{Hosts: []string{"127.0.0.1"}})
	root, intermediate := a.root.Certificate, a.intermediate.Certificate
	return []tlsCase{
		{name: "the given certificate is the leaf", presented: leaf, given: parsed(leaf), signed: refused},
		{name: "the given certificate is the root", presented: leaf, given: root, pinned: refused},
		{name: "the given certificate is the intermediate", presented: leaf, given: intermediate, pinned: refused},
		{name: "the given certificate is the intermediate, which is not sent", presented: alone(leaf),
			given: intermediate, pinned: refused},
		{name: "the given certificate is the root, the intermediate is not sent", presented: alone(leaf), given: root,
			pinned: refused, signed: refused},
		{name: "the leaf was rotated, pinned before", presented: rotated, given: parsed(leaf), pinned: refused,
			signed: refused},
		{name: "the leaf was rotated, same signer", presented: rotated, given: intermediate, pinned: refused},
		{name: "the next certificate is the leaf", presented: rotated, given: parsed(leaf), next: parsed(rotated),
			signed: refused},
		{name: "the next certificate is the signer", presented: ofOther, given: root, next: a.other.Certificate,
			pinned: refused},
		{name: "the first certificate while there is a next one", presented: leaf, given: parsed(leaf),
			next: parsed(rotated), signed: refused},
		{name: "the first signer while there is a next one", presented: leaf, given: root, next: a.other.Certificate,
			pinned: refused},
		{name: "another root", presented: ofOther, given: root, pinned: refused, signed: refused},
		{name: "expired, given the leaf", presented: expired, given: parsed(expired), pinned: refused, signed: refused},
		{name: "expired, given the root", presented: expired, given: root, pinned: refused, signed: refused},
		{name: "not valid yet, given the leaf", presented: early, given: parsed(early), pinned: refused,
			signed: refused},
		{name: "wrong host, given the leaf", presented: wrongHost, given: parsed(wrongHost), pinned: refused,
			signed: refused},
		{name: "wrong host, given the root", presented: wrongHost, given: root, pinned: refused, signed: refused},
		{name: "a certificate for clients, given the root", presented: forClients, given: root, pinned: refused,
			signed: refused},
		{name: "by its IP address, given the leaf", presented: ofIP, given: parsed(ofIP), signed: refused, viaIP: true},
		{name: "by its IP address, given the root", presented: ofIP, given: root, pinned: refused, viaIP: true},
		{name: "by its IP address, wrong host, given the leaf", presented: leaf, given: parsed(leaf), pinned: refused,
			signed: refused, viaIP: true},
		{name: "by its IP address, wrong host, given the root", presented: leaf, given: root, pinned: refused,
			signed: refused, viaIP: true},
	}
}

var update = flag.Bool("update", false, "write the table of cases into the contract")

// The contract lists the cases with what each mode decides.
func TestCasesAreDocumented(t *testing.T) {
	const (
		page  = "../../../docs/contract/external-authentication.md"
		begin = "<!-- go test ./shared/connect/outbound -run TestCasesAreDocumented -update -->\n"
		end   = "<!-- end of the cases -->"
	)
	var table strings.Builder
	table.WriteString("| Case | PinLeafThumbprint | SignerChainValidationOnly |\n|---|---|---|\n")
	for _, c := range tlsCases(t, newAuthorities(t)) {
		word := func(reason outbound.Reason) string {
			if reason != "" {
				return "refused"
			}
			return "accepted"
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", c.name, word(c.pinned), word(c.signed))
	}
	text := errtest.Must(os.ReadFile(page))(t)
	before, rest, ok1 := strings.Cut(string(text), begin)
	present, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	if present == table.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not current: go test ./shared/connect/outbound -run TestCasesAreDocumented -update", page)
	}
	errtest.Fatal(t, os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644))
}

// certificateOf returns the certificate of a configuration.
func certificateOf(c tlsCase, mode externalauth.ValidationMode, isPublicCA bool) *externalauth.Certificate {
	out := &externalauth.Certificate{IsPublicCA: isPublicCA, Mode: mode}
	if c.given != nil {
		out.PEM = outboundtest.PEM(c.given.Raw)
	}
	if c.next != nil {
		out.NextPEM = outboundtest.PEM(c.next.Raw)
	}
	return out
}

// eachTLSCase runs a test for each case, each mode, and a certificate of a private and of a public CA. Where the CA is
// public, the roots of the test take the place of the system's, so that the rules of public CAs are all satisfied.
func eachTLSCase(t *testing.T, run func(t *testing.T, c tlsCase, certificate *externalauth.Certificate,
	publicCAs *x509.CertPool, want outbound.Reason)) {
	a := newAuthorities(t)
	for _, c := range tlsCases(t, a) {
		for mode, want := range map[externalauth.ValidationMode]outbound.Reason{
			externalauth.PinLeafThumbprint: c.pinned, externalauth.SignerChainValidationOnly: c.signed,
		} {
			t.Run(c.name+"/"+string(mode)+"/private CA", func(t *testing.T) {
				t.Parallel()
				run(t, c, certificateOf(c, mode, false), x509.NewCertPool(), want)
			})
			t.Run(c.name+"/"+string(mode)+"/public CA", func(t *testing.T) {
				t.Parallel()
				publicCAs := outboundtest.Pool(a.root, a.intermediate, a.other)
				run(t, c, certificateOf(c, mode, true), publicCAs, want)
			})
		}
	}
}

// urlOf returns the URL of a receiver as a case names it.
func urlOf(c tlsCase, s *outboundtest.Server) string {
	if c.viaIP {
		return "https://" + net.JoinHostPort("127.0.0.1", s.Port)
	}
	return s.URL
}

// Each case against a real server, as the endpoint of a configuration.
func TestCertificates(t *testing.T) {
	t.Parallel()
	eachTLSCase(t, func(t *testing.T, c tlsCase, certificate *externalauth.Certificate, publicCAs *x509.CertPool,
		want outbound.Reason) {
		server := outboundtest.NewServer(t, c.presented, okHandler)
		url := urlOf(c, server)
		client := newClient(t, externalauth.Configuration{
			ID: "c", Tenant: tenant, URL: url, EndpointCertificate: certificate, Version: 1,
		})
		client.PublicCAs = publicCAs
		wantCall(t, client, url+"/path", want)
	})
}

// wantCall makes a call that must fail for a reason, "" for a reply.
func wantCall(t *testing.T, client *outbound.Client, url string, want outbound.Reason) {
	t.Helper()
	reply, err := client.Do(t.Context(), tenant, newRequest(t, url, "{}"))
	switch {
	case want != "":
		wantReason(t, err, want)
	case err != nil:
		t.Errorf("got the error %v, want a reply", err)
	case reply.Status != http.StatusNoContent:
		t.Errorf("got the status %d, want 204", reply.Status)
	}
}

// A certificate of a public CA needs no given one, and without a configuration that is the rule.
func TestPublicCA(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	for _, test := range []struct {
		name string
		leaf outboundtest.Leaf
		ca   *outboundtest.Authority
		want outbound.Reason
	}{
		{"accepted", outboundtest.Leaf{}, a.intermediate, ""},
		{"private", outboundtest.Leaf{}, a.other, outbound.CertificateRefused},
		{"expired", outboundtest.Leaf{NotAfter: outboundtest.Now.Add(-time.Second)}, a.intermediate,
			outbound.CertificateRefused},
		{"wrong host", outboundtest.Leaf{Hosts: []string{"other.test"}}, a.intermediate,
			outbound.CertificateRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := outboundtest.NewServer(t, test.ca.Issue(test.leaf), okHandler)
			for name, client := range map[string]*outbound.Client{
				"no configuration": newClient(t),
				"configuration without a certificate": newClient(t, externalauth.Configuration{
					ID: "c", URL: server.URL}),
				"isPublicCA": newClient(t, externalauth.Configuration{ID: "c", URL: server.URL,
					EndpointCertificate: &externalauth.Certificate{
						IsPublicCA: true, Mode: externalauth.PinLeafThumbprint}}),
			} {
				t.Run(name, func(t *testing.T) {
					client.PublicCAs = outboundtest.Pool(a.root)
					wantCall(t, client, server.URL, test.want)
				})
			}
		})
	}
}

// A pinned certificate that no public CA has signed is refused where the configuration asks for a public CA.
func TestPublicCAAndPin(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	presented := a.other.Issue(outboundtest.Leaf{})
	server := outboundtest.NewServer(t, presented, okHandler)
	client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL,
		EndpointCertificate: &externalauth.Certificate{
			IsPublicCA: true, PEM: outboundtest.PEM(presented.Certificate[0]), Mode: externalauth.PinLeafThumbprint}})
	client.PublicCAs = outboundtest.Pool(a.root)
	wantCall(t, client, server.URL, outbound.CertificateRefused)
}

// A configuration without a certificate that can be read accepts none.
func TestUnreadableCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	server := outboundtest.NewServer(t, a.root.Issue(outboundtest.Leaf{}), okHandler)
	for _, text := range []string{"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL,
			EndpointCertificate: &externalauth.Certificate{PEM: text, Mode: externalauth.PinLeafThumbprint}})
		client.PublicCAs = outboundtest.Pool(a.root)
		wantCall(t, client, server.URL, outbound.CertificateRefused)
	}
}

func TestTLSVersions(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	presented := a.root.Issue(outboundtest.Leaf{})
	for _, test := range []struct {
		name    string
		version uint16
		want    outbound.Reason
	}{
		{"TLS 1.0", tls.VersionTLS10, outbound.TLSFailed},
		{"TLS 1.1", tls.VersionTLS11, outbound.TLSFailed},
		{"TLS 1.2", tls.VersionTLS12, ""},
		{"TLS 1.3", tls.VersionTLS13, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := outboundtest.NewServer(t, presented, okHandler, func(c *tls.Config) {
				c.MinVersion, c.MaxVersion = test.version, test.version
			})
			client := newClient(t)
			client.PublicCAs = outboundtest.Pool(a.root)
			wantCall(t, client, server.URL, test.want)
		})
	}
}

// A resumed session is verified like a new one: when the certificate has expired in the meantime it is refused.
func TestResumedSessions(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthorities(t)
			presented := a.root.Issue(outboundtest.Leaf{NotAfter: outboundtest.Now.Add(time.Hour)})
			var resumed atomic.Int32
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.TLS.DidResume {
					resumed.Add(1)
				}
				w.Header().Set("Connection", "close")
				w.WriteHeader(http.StatusNoContent)
			})
			server := outboundtest.NewServer(t, presented, handler, func(c *tls.Config) { c.MaxVersion = version })
			client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL,
				EndpointCertificate: &externalauth.Certificate{
					PEM: outboundtest.PEM(presented.Certificate[0]), Mode: externalauth.PinLeafThumbprint}})
			now := outboundtest.Now
			client.Now = func() time.Time { return now }
			for range 3 {
				wantCall(t, client, server.URL, "")
			}
			difftest.Equal(t, "of 3 connections resumed a session", int32(2), resumed.Load())
			now = now.Add(2 * time.Hour)
			wantCall(t, client, server.URL, outbound.CertificateRefused)
		})
	}
}

// A new version of a configuration is enforced at once: connections and sessions of the old one are not used.
func TestChangedConfiguration(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	presented := a.root.Issue(outboundtest.Leaf{})
	server := outboundtest.NewServer(t, presented, okHandler)
	c := externalauth.Configuration{ID: "c", URL: server.URL, Version: 1,
		EndpointCertificate: &externalauth.Certificate{
			PEM: outboundtest.PEM(presented.Certificate[0]), Mode: externalauth.PinLeafThumbprint}}
	client := newClient(t, c)
	wantCall(t, client, server.URL, "")
	c.Version = 2
	c.EndpointCertificate = &externalauth.Certificate{
		PEM: outboundtest.PEM(a.root.Issue(outboundtest.Leaf{}).Certificate[0]), Mode: externalauth.PinLeafThumbprint}
	client.Configurations = configurations{c}
	wantCall(t, client, server.URL, outbound.CertificateRefused)
}
