package outbound_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/kmskey"
)

// wantClientCertificate makes a server ask for a client certificate of an authority.
func wantClientCertificate(a *outboundtest.Authority, kind tls.ClientAuthType, version uint16) func(*tls.Config) {
	return func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs, c.MinVersion, c.MaxVersion = kind, outboundtest.Pool(a), version, version
		c.Time = func() time.Time { return outboundtest.Now }
	}
}

// The client certificate is presented where the configuration asks for it, and a call fails before anything is sent
// where it cannot be.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	ca, otherCA := outboundtest.NewRoot(t, "CA of clients").NewIntermediate("intermediate"),
		outboundtest.NewRoot(t, "other")
	presented := a.root.Issue(outboundtest.Leaf{})
	kms := outboundtest.NewKMS(t)
	key := outboundtest.NewClientKey(t, kms, tenant)
	good := ca.Certify(key, outboundtest.Leaf{})
	expired := ca.Certify(key, outboundtest.Leaf{NotAfter: outboundtest.Now.Add(-time.Second)})
	early := ca.Certify(key, outboundtest.Leaf{NotBefore: outboundtest.Now.Add(time.Second)})
	foreign := otherCA.Certify(key, outboundtest.Leaf{})
	broken := good
	broken.Certificates = [][]byte{{1, 2, 3}}
	ofOtherKey := good
	ofOtherKey.Certificates = ca.Issue(outboundtest.Leaf{}).Certificate
	const unusable, refused = outbound.ClientCertificateUnusable, outbound.ClientCertificateRefused
	for _, test := range []struct {
		name string
		keys []outbound.ClientKey
		// isEnabled is isMtlsEnabled of the configuration.
		isEnabled bool
		kms       kmskey.API
		server    tls.ClientAuthType
		want      outbound.Reason
	}{
		{"wanted and presented", []outbound.ClientKey{good}, true, kms, tls.RequireAndVerifyClientCert, ""},
		{"optional and presented", []outbound.ClientKey{good}, true, kms, tls.VerifyClientCertIfGiven, ""},
		{"wanted and not enabled", []outbound.ClientKey{good}, false, kms, tls.RequireAndVerifyClientCert, refused},
		{"optional and not enabled", []outbound.ClientKey{good}, false, kms, tls.VerifyClientCertIfGiven, ""},
		{"not asked for", []outbound.ClientKey{good}, true, kms, tls.NoClientCert, unusable},
		{"no key", nil, true, kms, tls.RequireAndVerifyClientCert, unusable},
		{"no key, optional", nil, true, kms, tls.VerifyClientCertIfGiven, unusable},
		{"no certificate", []outbound.ClientKey{key}, true, kms, tls.VerifyClientCertIfGiven, unusable},
		{"expired", []outbound.ClientKey{expired}, true, kms, tls.VerifyClientCertIfGiven, unusable},
		{"not valid yet", []outbound.ClientKey{early}, true, kms, tls.VerifyClientCertIfGiven, unusable},
		{"unreadable", []outbound.ClientKey{broken}, true, kms, tls.VerifyClientCertIfGiven, unusable},
		{"of an unknown CA", []outbound.ClientKey{foreign}, true, kms, tls.RequireAndVerifyClientCert, refused},
		{"of another key", []outbound.ClientKey{ofOtherKey}, true, kms, tls.RequireAndVerifyClientCert, refused},
		{"KMS fails", []outbound.ClientKey{good}, true, outboundtest.FailingSigner{}, tls.VerifyClientCertIfGiven,
			unusable},
	} {
		for name, version := range map[string]uint16{"TLS 1.2": tls.VersionTLS12, "TLS 1.3": tls.VersionTLS13} {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := outboundtest.NewServer(t, presented, requireClient(t, test.isEnabled),
					wantClientCertificate(ca, test.server, version))
				client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL,
					IsMTLSEnabled: test.isEnabled})
				client.PublicCAs = outboundtest.Pool(a.root)
				client.Keys, client.KMS = outboundtest.NewKeys(test.keys...), test.kms
				for range 2 { // the second call is on a connection of the first one, if that succeeded
					wantCall(t, client, server.URL, test.want)
				}
			})
		}
	}
}

// requireClient reports a request that arrives without a client certificate although one is enabled, or with one that
// is not.
func requireClient(t *testing.T, isEnabled bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (len(r.TLS.PeerCertificates) > 0) != isEnabled {
			t.Errorf("a request arrived with %d client certificates", len(r.TLS.PeerCertificates))
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// Errors of KMS are for the operator's log, not for the tenant.
func TestKMSFailureIsNotShown(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	server := outboundtest.NewServer(t, a.root.Issue(outboundtest.Leaf{}), okHandler,
		wantClientCertificate(a.root, tls.RequireAnyClientCert, tls.VersionTLS13))
	key := a.root.Certify(outboundtest.NewClientKey(t, outboundtest.NewKMS(t), tenant), outboundtest.Leaf{})
	client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL, IsMTLSEnabled: true})
	client.PublicCAs = outboundtest.Pool(a.root)
	client.Keys, client.KMS = outboundtest.NewKeys(key), outboundtest.FailingSigner{}
	var log bytes.Buffer
	client.Log = slog.New(slog.NewTextHandler(&log, nil))
	_, err := client.Do(t.Context(), tenant, newRequest(t, server.URL, ""))
	wantReason(t, err, outbound.ClientCertificateUnusable)
	if strings.Contains(err.Error(), "leak") {
		t.Errorf("the error quotes KMS: %v", err)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "leak") ||
		!strings.Contains(text, tenant) {
		t.Errorf("the log has %q, want one line with the tenant and the error of KMS", text)
	}
}

// A renewed client certificate is presented by the next call; connections with the old one are not used.
func TestRenewedClientCertificate(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	serials := make(chan string, 2)
	server := outboundtest.NewServer(t, a.root.Issue(outboundtest.Leaf{}),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			serials <- r.TLS.PeerCertificates[0].SerialNumber.String()
			w.WriteHeader(http.StatusNoContent)
		}), wantClientCertificate(a.root, tls.RequireAnyClientCert, tls.VersionTLS13))
	kms := outboundtest.NewKMS(t)
	key := a.root.Certify(outboundtest.NewClientKey(t, kms, tenant), outboundtest.Leaf{})
	keys := outboundtest.NewKeys(key)
	client := newClient(t, externalauth.Configuration{ID: "c", URL: server.URL, IsMTLSEnabled: true})
	client.PublicCAs, client.Keys, client.KMS = outboundtest.Pool(a.root), keys, kms
	renewed := a.root.Certify(key, outboundtest.Leaf{})
	wantCall(t, client, server.URL, "")
	errtest.Fatal(t, keys.InstallCertificates(t.Context(), renewed))
	wantCall(t, client, server.URL, "")
	for _, k := range []outbound.ClientKey{key, renewed} {
		leaf := errtest.Must(x509.ParseCertificate(k.Certificates[0]))(t)
		difftest.Equal(t, "presented the certificate", leaf.SerialNumber.String(), <-serials)
	}
}
