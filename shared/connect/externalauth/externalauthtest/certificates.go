// Package externalauthtest makes certificates for tests of external authentication.
package externalauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// Issuer is a certificate with its key.
type Issuer struct {
	Certificate *x509.Certificate
	Key         *ecdsa.PrivateKey
}

// New makes a certificate of the given name and validity, signed by an issuer or, without one, by itself.
func New(t testing.TB, name string, isCA bool, from, to time.Time, by *Issuer) *Issuer {
	t.Helper()
	key := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	serial := errtest.Must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64)))(t)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: to,
		BasicConstraintsValid: true, IsCA: isCA, DNSNames: []string{name},
	}
	if isCA {
		template.KeyUsage = x509.KeyUsageCertSign
	}
	parent := &Issuer{template, key}
	if by != nil {
		parent = by
	}
	der := errtest.Must(x509.CreateCertificate(rand.Reader, template, parent.Certificate, key.Public(), parent.Key))(t)
	certificate := errtest.Must(x509.ParseCertificate(der))(t)
	return &Issuer{certificate, key}
}

// PEM returns the certificate in PEM.
func (i *Issuer) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate.Raw}))
}

// KeyPEM returns the private key in PEM.
func (i *Issuer) KeyPEM() string {
	der, err := x509.MarshalPKCS8PrivateKey(i.Key)
	if err != nil {
		panic(err) // a key that New has made
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
