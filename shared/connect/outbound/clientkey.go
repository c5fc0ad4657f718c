package outbound

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"sluice/shared/kit/jose"
	"sluice/shared/kit/kmskey"
)

// ClientKey is the key by which a tenant is known to the receivers that it has called: it proves the client certificate
// and signs client assertions. The private key never leaves KMS.
type ClientKey struct {
	Tenant string
	// ID is the kid of the key in client assertions and in the published key set.
	ID string
	// KMSKey is the ARN of the key in KMS.
	KMSKey string
	// PublicKey is the public key in PKIX, ASN.1 DER form.
	PublicKey []byte
	// Certificates is the certificate of the key and those that lead to its issuer, in DER; nil until one is installed.
	Certificates [][]byte
	CreatedAt    time.Time
	// InstalledAt is when the certificate was installed; zero if no certificate is.
	InstalledAt time.Time
}

var (
	// ErrNoClientKey means that the tenant has no client key.
	ErrNoClientKey = errors.New("outbound: the tenant has no client key")
	// ErrClientKeyExists means that the tenant has a client key already.
	ErrClientKeyExists = errors.New("outbound: the tenant has a client key already")
)

// KeyStore keeps the client keys of tenants, at most one of each. It is safe for concurrent use; a read sees every
// acknowledged write.
type KeyStore interface {
	ClientKeys
	// AllClientKeys reads the keys of all tenants, in the order of the tenants' IDs.
	AllClientKeys(ctx context.Context) ([]ClientKey, error)
	// CreateClientKey stores the key of a tenant. It returns ErrClientKeyExists if the tenant has one.
	CreateClientKey(ctx context.Context, k ClientKey) error
	// InstallCertificates stores the certificates of k in place of those that the tenant's key has. It returns
	// ErrNoClientKey if the tenant has no key of k's ID.
	InstallCertificates(ctx context.Context, k ClientKey) error
}

// ClientKeys reads the client keys of tenants.
type ClientKeys interface {
	// ClientKey reads the key of a tenant. It returns ErrNoClientKey if the tenant has no key.
	ClientKey(ctx context.Context, tenant string) (ClientKey, error)
}

// ParsePublicKey returns the public key.
func (k ClientKey) ParsePublicKey() (*ecdsa.PublicKey, error) {
	public, err := jose.ParsePublicKey(k.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("client key %s: %w", k.ID, err)
	}
	return public, nil
}

// fingerprint identifies a certificate; "" if there is none.
func (k ClientKey) fingerprint() string {
	if len(k.Certificates) == 0 {
		return ""
	}
	sum := sha256.Sum256(k.Certificates[0])
	return string(sum[:])
}

// clientKey reads the key of a tenant; an *Error if the tenant has no key.
func (c *Client) clientKey(ctx context.Context, tenant string) (ClientKey, error) {
	if c.Keys == nil || c.KMS == nil {
		return ClientKey{}, newError(ClientCertificateUnusable, "This function has no access to client keys.")
	}
	key, err := c.Keys.ClientKey(ctx, tenant)
	if errors.Is(err, ErrNoClientKey) {
		return key, newError(ClientCertificateUnusable, "The tenant has no client key. The operator of the service "+
			"creates one.")
	}
	return key, err
}

// clientCertificate reads the key of a tenant whose certificate is in force; an *Error if no certificate is.
func (c *Client) clientCertificate(ctx context.Context, tenant string) (ClientKey, error) {
	key, err := c.clientKey(ctx, tenant)
	if err != nil {
		return key, err
	}
	if len(key.Certificates) == 0 {
		return key, newError(ClientCertificateUnusable, "The tenant has no client certificate. The operator of the "+
			"service installs one.")
	}
	leaf, err := x509.ParseCertificate(key.Certificates[0])
	switch now := c.now(); {
	case err != nil:
		return key, newError(ClientCertificateUnusable, "The tenant's client certificate cannot be read.")
	case now.Before(leaf.NotBefore):
		return key, newError(ClientCertificateUnusable, "The tenant's client certificate is not valid yet.")
	case now.After(leaf.NotAfter):
		return key, newError(ClientCertificateUnusable, "The tenant's client certificate has expired.")
	}
	return key, nil
}

// presentation presents a client certificate on one connection, or none. It remembers whether one was asked for, and
// why it could not be presented: crypto/tls passes on only the text of the error.
type presentation struct {
	kms kmskey.API
	// key is nil if no certificate is to be presented.
	key      *ClientKey
	wasAsked bool
	err      error
}

// certificate is the GetClientCertificate of a tls.Config. Whether the receiver knows the issuer is left to the
// receiver: its list of issuers is often incomplete.
func (p *presentation) certificate(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	p.wasAsked = true
	if p.key == nil {
		return &tls.Certificate{}, nil
	}
	public, err := p.key.ParsePublicKey()
	if err != nil {
		p.err = newError(ClientCertificateUnusable, "The tenant's client key cannot be read.").withCause(err)
		return nil, p.err
	}
	return &tls.Certificate{
		Certificate: p.key.Certificates,
		PrivateKey: recordingSigner{p, &kmskey.Signer{
			Context: request.Context(), KMS: p.kms, KeyID: p.key.KMSKey, PublicKey: public,
		}},
		SupportedSignatureAlgorithms: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
	}, nil
}

// check returns why a connection must not be used, nil if it may: the outcome of its handshake, or an error that the
// handshake does not tell.
func (p *presentation) check(outcome error) error {
	switch {
	case p.err != nil:
		return p.err
	case outcome == nil && p.key != nil && !p.wasAsked:
		return newError(ClientCertificateUnusable, "The receiver did not ask for the client certificate that the "+
			"configuration wants to be presented.")
	case outcome == errHandshakeFailure && p.key == nil && p.wasAsked:
		return newError(ClientCertificateRefused, "The receiver wants a client certificate.") // by TLS 1.2
	}
	return outcome
}

// recordingSigner records the error of a signer.
type recordingSigner struct {
	*presentation
	crypto.Signer
}

// Sign implements crypto.Signer.
func (s recordingSigner) Sign(random io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	signature, err := s.Signer.Sign(random, digest, options)
	if err != nil {
		s.err = newError(ClientCertificateUnusable, "The tenant's client key could not be used.").withCause(err)
	}
	return signature, err
}

// assertionLifetime is how long a client assertion is valid.
const assertionLifetime = time.Minute

// assertionClaims are the claims of a client assertion (RFC 7523, section 3).
type assertionClaims struct {
	Issuer    string `json:"iss"`
	Subject   string `json:"sub"`
	Audience  string `json:"aud"`
	ID        string `json:"jti"`
	IssuedAt  int64  `json:"iat"`
	ExpiresAt int64  `json:"exp"`
}

// assertion returns a new client assertion for the token endpoint, signed by the tenant's client key: a JWS in compact
// form with the algorithm ES256 (RFC 7518, section 3.4).
func (c *call) assertion(ctx context.Context) (string, error) {
	key, err := c.client.clientKey(ctx, c.tenant)
	if err != nil {
		return "", err
	}
	public, err := key.ParsePublicKey()
	if err != nil {
		return "", err
	}
	header := jose.Header{Algorithm: jose.ES256, Type: "JWT", KeyID: key.ID}
	if fingerprint := key.fingerprint(); fingerprint != "" {
		header.Thumbprint = base64.RawURLEncoding.EncodeToString([]byte(fingerprint))
	}
	o, now := c.configuration.OAuth, c.client.now()
	claims := assertionClaims{
		Issuer: o.ClientID, Subject: o.ClientID, Audience: o.URL, ID: c.client.newID(),
		IssuedAt: now.Unix(), ExpiresAt: now.Add(assertionLifetime).Unix(),
	}
	text, err := jose.Sign(&kmskey.Signer{Context: ctx, KMS: c.client.KMS, KeyID: key.KMSKey, PublicKey: public},
		header, claims)
	if err != nil {
		return "", newError(ClientCertificateUnusable, "The tenant's client key could not be used.").withCause(err)
	}
	return text, nil
}

// KeySet returns the public keys of client keys as a JWK set (RFC 7517), to be sent as JSON.
func KeySet(keys []ClientKey) (jose.JWKSet, error) {
	set := jose.JWKSet{Keys: make([]jose.JWK, 0, len(keys))}
	for _, k := range keys {
		public, err := k.ParsePublicKey()
		if err != nil {
			return jose.JWKSet{}, err
		}
		key, err := jose.NewJWK(k.ID, public)
		if err != nil {
			return jose.JWKSet{}, err
		}
		set.Keys = append(set.Keys, key)
	}
	return set, nil
}
