package admin

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/shared/access/auth"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/errtest"
)

// A tenant's key is created once; its request is signed by a CA, and what the CA sends is installed and shown.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	f := newFakeInstallation(t)
	errtest.Fatal(t, f.registry.CreateTenant(t.Context(), auth.Tenant{ID: f.tenant}))
	const command = "client-certificate"
	f.wantError(t, "has no client key: create one with --request", "tenant", command)
	f.wantError(t, "has no client key: create one with --request", "tenant", command, "--install", "x.pem")
	f.wantError(t, "exclude each other", "tenant", command, "--install", "x.pem", "--request")
	f.wantError(t, "there is no tenant", "tenant", command, "--tenant", "1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15")
	f.wantError(t, "is for --request", "tenant", command, "--common-name", "x")
	f.wantError(t, "there is no tenant", "tenant", command, "--request", "--tenant",
		"7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11")

	first := runAdmin[clientKeyOutput](t, f, "tenant", command, "--request")
	second := runAdmin[clientKeyOutput](t, f, "tenant", command, "--request", "--common-name", "Example Bank")
	if first.KeyID != second.KeyID || first.Certificate != nil {
		t.Errorf("got the keys %+v and %+v, want one and the same", first, second)
	}
	public := parseRequest(t, first.CertificateRequest, f.tenant)
	if !public.Equal(parseRequest(t, second.CertificateRequest, "Example Bank")) {
		t.Error("the two requests have different keys")
	}

	root := outboundtest.NewRoot(t, "CA")
	issuer := root.NewIntermediate("intermediate")
	now := time.Now()
	leaf := func(l outboundtest.Leaf) string {
		if l.NotBefore.IsZero() {
			l.NotBefore = now.Add(-time.Hour)
		}
		if l.NotAfter.IsZero() {
			l.NotAfter = now.Add(time.Hour)
		}
		if l.Usage == 0 {
			l.Usage = x509.ExtKeyUsageClientAuth
		}
		return outboundtest.PEM(issuer.IssueFor(l, public).Raw)
	}
	issuerPEM, rootPEM := outboundtest.PEM(issuer.Certificate.Raw), outboundtest.PEM(root.Certificate.Raw)
	file := filepath.Join(t.TempDir(), "tenant.pem")
	for _, test := range []struct{ name, content, want string }{
		{"empty", "", "it has no certificate"},
		{"not PEM", "x", "it is not a certificate in PEM"},
		{"a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "it has a PRIVATE KEY beside"},
		{"unreadable", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "cannot be read"},
		{"of another key", outboundtest.PEM(issuer.Issue(outboundtest.Leaf{}).Certificate[0]),
			"not one of the tenant's"},
		{"expired", leaf(outboundtest.Leaf{NotAfter: now.Add(-time.Minute)}), "has expired at"},
		{"not valid yet", leaf(outboundtest.Leaf{NotBefore: now.Add(time.Minute)}), "is not valid before"},
		{"for servers", leaf(outboundtest.Leaf{Usage: x509.ExtKeyUsageServerAuth}), "may not be used for client"},
		{"not its issuer", leaf(outboundtest.Leaf{}) + rootPEM, "its certificate 2 has not issued"},
		{"wrong order", leaf(outboundtest.Leaf{}) + issuerPEM + issuerPEM, "its certificate 3 has not issued"},
		{"too many", leaf(outboundtest.Leaf{}) + strings.Repeat(rootPEM, 6), "more than 6 certificates"},
		{"too large", strings.Repeat(" ", maxCertificateBytes+1), "is larger than"},
		{"garbage behind", leaf(outboundtest.Leaf{}) + "x", "it is not a certificate in PEM"},
	} {
		writeFile(t, file, test.content)
		f.wantError(t, test.want, "tenant", command, "--install", file)
	}
	f.wantError(t, "no such file", "tenant", command, "--install", file+".none")

	for _, content := range []string{leaf(outboundtest.Leaf{}), leaf(outboundtest.Leaf{}) + issuerPEM + rootPEM} {
		writeFile(t, file, content)
		installed := runAdmin[clientKeyOutput](t, f, "tenant", command, "--install", file)
		shown := runAdmin[clientKeyOutput](t, f, "tenant", command)
		for _, got := range []clientKeyOutput{installed, shown} {
			block, _ := pem.Decode([]byte(content))
			want := errtest.Must(x509.ParseCertificate(block.Bytes))(t)
			if got.KeyID != first.KeyID || got.Certificate == nil || got.InstalledAt == nil ||
				!got.Certificate.NotAfter.Equal(want.NotAfter) || got.Certificate.Serial != strings.ToUpper(
				want.SerialNumber.Text(16)) {
				t.Errorf("got %+v, want the certificate %v", got, want.SerialNumber)
			}
		}
	}
	if code, _, stderr := f.run(t, "tenant", command, "--help"); code != 0 {
		t.Errorf("--help: %d %s", code, stderr)
	}
}

// parseRequest reads a certificate request, checks its signature and subject, and returns its key.
func parseRequest(t *testing.T, text, commonName string) *ecdsa.PublicKey {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		t.Fatalf("%q is not a certificate request", text)
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil || request.Subject.CommonName != commonName {
		t.Fatalf("the request of %s: %v, want the name %s", request.Subject, err, commonName)
	}
	return request.PublicKey.(*ecdsa.PublicKey)
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	errtest.Fatal(t, os.WriteFile(name, []byte(content), 0o600))
}
