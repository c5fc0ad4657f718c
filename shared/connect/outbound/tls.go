package outbound

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"time"

	"sluice/shared/connect/externalauth"
)

// tlsRules say which certificates are accepted from a receiver, and which one is presented to it.
type tlsRules struct {
	// certificate is the receiver's certificate in the configuration; nil means a public CA.
	certificate *externalauth.Certificate
	// given are the certificates that the configuration names.
	given []*x509.Certificate
	// publicCAs are the roots of public CAs; nil means those of the system.
	publicCAs *x509.CertPool
	// client is the key whose certificate the service presents; nil for none.
	client *ClientKey
}

// newTLSRules reads the certificates of a configuration.
func newTLSRules(certificate *externalauth.Certificate, publicCAs *x509.CertPool) (tlsRules, error) {
	rules := tlsRules{certificate: certificate, publicCAs: publicCAs}
	if certificate == nil {
		return rules, nil
	}
	var err error
	if rules.given, err = certificate.ParseChain(); err != nil || len(rules.given) == 0 && !certificate.IsPublicCA {
		return rules, newError(CertificateRefused, "The configuration has no certificate that can be read.")
	}
	return rules, nil
}

// config returns the settings of one TLS connection to a host. The host is the host of the URL: the host of the
// connection's state is empty where the host is an IP address.
func (r tlsRules) config(host string, now func() time.Time, sessions tls.ClientSessionCache) *tls.Config {
	return &tls.Config{
		ServerName: host,
		MinVersion: tls.VersionTLS12,
		Time:       now,
		// crypto/tls verifies nothing; VerifyConnection does, of resumed connections too, which VerifyPeerCertificate
		// would not see.
		InsecureSkipVerify: true,
		VerifyConnection:   func(s tls.ConnectionState) error { return r.verify(host, s.PeerCertificates, now()) },
		ClientSessionCache: sessions,
	}
}

// verify returns an *Error unless the certificates that a host presented, its own first, are acceptable at a time.
func (r tlsRules) verify(host string, presented []*x509.Certificate, now time.Time) error {
	if len(presented) == 0 {
		return newError(CertificateRefused, "The receiver presents no certificate.")
	}
	if r.certificate == nil || r.certificate.IsPublicCA {
		if err := verifyPublicCA(host, presented, r.publicCAs, now); err != nil || len(r.given) == 0 {
			return err
		}
	}
	if r.certificate.Mode == externalauth.SignerChainValidationOnly {
		return verifySigner(host, presented, r.given, now)
	}
	return verifyPin(host, presented[0], r.given, now)
}

// verifyPin accepts a host's own certificate if it is one of the given ones, byte for byte.
func verifyPin(host string, leaf *x509.Certificate, given []*x509.Certificate, now time.Time) error {
	isGiven := false
	for _, g := range given {
		isGiven = isGiven || bytes.Equal(g.Raw, leaf.Raw)
	}
	if !isGiven {
		return newError(CertificateRefused, "The receiver's certificate is not the one that the configuration pins.")
	}
	return verifyLeaf(host, leaf, now)
}

// verifyLeaf accepts a host's own certificate if it is in force and names the host.
func verifyLeaf(host string, leaf *x509.Certificate, now time.Time) error {
	switch {
	case now.Before(leaf.NotBefore):
		return newError(CertificateRefused, "The receiver's certificate is not valid yet.")
	case now.After(leaf.NotAfter):
		return newError(CertificateRefused, "The receiver's certificate has expired.")
	case leaf.VerifyHostname(host) != nil:
		return newError(CertificateRefused, "The receiver's certificate is not one of "+host+".")
	}
	return nil
}

// verifyPublicCA accepts a host's certificate if a chain leads from it to a public CA.
func verifyPublicCA(host string, presented []*x509.Certificate, publicCAs *x509.CertPool, now time.Time) error {
	if err := verifyLeaf(host, presented[0], now); err != nil {
		return err
	}
	if !hasChain(host, presented, publicCAs, now) {
		return newError(CertificateRefused, "No chain leads from the receiver's certificate to a public CA.")
	}
	return nil
}

// verifySigner accepts a host's certificate if a chain leads from it to one of the given certificates, whether those
// are roots or not.
func verifySigner(host string, presented, given []*x509.Certificate, now time.Time) error {
	if err := verifyLeaf(host, presented[0], now); err != nil {
		return err
	}
	signers := x509.NewCertPool()
	for _, g := range given {
		if g.IsCA { // the certificate of a host signs nothing
			signers.AddCert(g)
		}
	}
	if !hasChain(host, presented, signers, now) {
		return newError(CertificateRefused, "No chain leads from the receiver's certificate to the signer that the "+
			"configuration names.")
	}
	return nil
}

// hasChain reports whether a chain leads from a host's certificate to a root by way of the others that were presented.
// Every certificate of the chain must be in force. Nil roots are the system's.
func hasChain(host string, presented []*x509.Certificate, roots *x509.CertPool, now time.Time) bool {
	intermediates := x509.NewCertPool()
	for _, p := range presented[1:] {
		intermediates.AddCert(p)
	}
	_, err := presented[0].Verify(x509.VerifyOptions{
		DNSName: host, Roots: roots, Intermediates: intermediates, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err == nil
}
