package outbound

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/shared/kit/kmskey"
)

// maxClientCertificates is the length of the chain that a receiver is shown.
const maxClientCertificates = 6

// CertificateRequest returns a request (PKCS #10, in PEM) for a certificate of a client key, signed by KMS.
func CertificateRequest(ctx context.Context, k ClientKey, s kmskey.API, commonName string) ([]byte, error) {
	public, err := k.ParsePublicKey()
	if err != nil {
		return nil, err
	}
	template := &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: commonName}, SignatureAlgorithm: x509.ECDSAWithSHA256,
	}
	signer := &kmskey.Signer{Context: ctx, KMS: s, KeyID: k.KMSKey, PublicKey: public}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, signer)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate request: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// ParseCertificates reads the certificates that are to be installed for a client key: in PEM, its own first, each of
// the others being the issuer of the one preceding it. The root may be left out. Its errors name the faulty
// certificate.
func (k ClientKey) ParseCertificates(text []byte, now time.Time) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil:
			return nil, errors.New("it is not a certificate in PEM")
		case block.Type != "CERTIFICATE":
			return nil, fmt.Errorf("it has a %s beside certificates", block.Type)
		case len(chain) == maxClientCertificates:
			return nil, fmt.Errorf("it has more than %d certificates", maxClientCertificates)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errors.New("it has a certificate that cannot be read")
		}
		chain = append(chain, certificate)
	}
	if len(chain) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return chain, k.checkChain(chain, now)
}

func (k ClientKey) checkChain(chain []*x509.Certificate, now time.Time) error {
	public, err := k.ParsePublicKey()
	if err != nil {
		return err
	}
	leaf := chain[0]
	usages := leaf.ExtKeyUsage
	isForClients := len(usages)+len(leaf.UnknownExtKeyUsage) == 0 ||
		slices.Contains(usages, x509.ExtKeyUsageClientAuth) || slices.Contains(usages, x509.ExtKeyUsageAny)
	switch own, ok := leaf.PublicKey.(*ecdsa.PublicKey); {
	case !ok || !own.Equal(public):
		return errors.New("its first certificate is not one of the tenant's client key: send the issuer the request " +
			"that --request prints")
	case now.After(leaf.NotAfter):
		return fmt.Errorf("its first certificate has expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("its first certificate is not valid before %s", leaf.NotBefore.UTC().Format(time.RFC3339))
	case !isForClients:
		return errors.New("its first certificate may not be used for client authentication")
	}
	for i, issuer := range chain[1:] {
		if err := chain[i].CheckSignatureFrom(issuer); err != nil {
			return fmt.Errorf("its certificate %d has not issued the one preceding it", i+2)
		}
	}
	return nil
}
