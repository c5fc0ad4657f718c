package listener

import (
	"crypto/x509"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// The certificate is one of its host alone, for servers, and no CA.
func TestCertificate(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1", "tunnel.example.com"} {
		made := errtest.Must(NewCertificate(host, time.Now()))(t)
		certificate := errtest.Must(x509.ParseCertificate(made.Certificate[0]))(t)
		if err := certificate.VerifyHostname(host); err != nil || certificate.IsCA {
			t.Errorf("%s: %v, CA %v; want a certificate of the host", host, err, certificate.IsCA)
		}
		errtest.Fails(t, host+": the certificate is one of another host, too",
			certificate.VerifyHostname("other.example.com"))
	}
}
