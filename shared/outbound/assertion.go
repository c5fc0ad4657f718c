package outbound

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"time"
)

// assertionLifetime is how long a client assertion is valid.
const assertionLifetime = time.Minute

// assertionHeader is the JOSE header of a client assertion.
type assertionHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	KeyID     string `json:"kid"`
	// Thumbprint is that of the installed certificate; some token endpoints find the key by it.
	Thumbprint string `json:"x5t#S256,omitempty"`
}

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
	header := assertionHeader{Algorithm: "ES256", Type: "JWT", KeyID: key.ID}
	if fingerprint := key.fingerprint(); fingerprint != "" {
		header.Thumbprint = base64.RawURLEncoding.EncodeToString([]byte(fingerprint))
	}
	o, now := c.configuration.OAuth, c.client.now()
	claims := assertionClaims{
		Issuer: o.ClientID, Subject: o.ClientID, Audience: o.URL, ID: c.client.newID(),
		IssuedAt: now.Unix(), ExpiresAt: now.Add(assertionLifetime).Unix(),
	}
	signer := &KMSSigner{Context: ctx, KMS: c.client.KMS, KeyID: key.KMSKey, PublicKey: public}
	return sign(signer, header, claims)
}

// sign returns a JWS in compact form.
func sign(signer crypto.Signer, header, claims any) (string, error) {
	head, err1 := json.Marshal(header)
	body, err2 := json.Marshal(claims)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode(head) + "." + encode(body)
	digest := sha256.Sum256([]byte(signed))
	der, err := signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", newError(ClientCertificateUnusable, "The tenant's client key could not be used.").withCause(err)
	}
	var signature struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &signature); err != nil || len(rest) > 0 {
		return "", errors.New("outbound: the signature of KMS is not in DER form")
	}
	const size = 32
	raw := make([]byte, 2*size)
	isOutOfRange := func(n *big.Int) bool { return n.Sign() <= 0 || n.BitLen() > 8*size }
	if isOutOfRange(signature.R) || isOutOfRange(signature.S) {
		return "", errors.New("outbound: the signature of KMS is out of range")
	}
	signature.R.FillBytes(raw[:size])
	signature.S.FillBytes(raw[size:])
	return signed + "." + encode(raw), nil
}

// KeySet returns the public keys of client keys as a JWK set (RFC 7517), to be sent as JSON.
func KeySet(keys []ClientKey) (JWKSet, error) {
	set := JWKSet{Keys: make([]JWK, 0, len(keys))}
	for _, k := range keys {
		public, err := k.ParsePublicKey()
		if err != nil {
			return JWKSet{}, err
		}
		point, err := public.Bytes()
		if err != nil {
			return JWKSet{}, err
		}
		encode := base64.RawURLEncoding.EncodeToString
		half := (len(point) - 1) / 2
		set.Keys = append(set.Keys, JWK{
			KeyType: "EC", Curve: "P-256", X: encode(point[1 : 1+half]), Y: encode(point[1+half:]),
			KeyID: k.ID, Use: "sig", Algorithm: "ES256",
		})
	}
	return set, nil
}

// JWKSet is a set of public keys.
type JWKSet struct {
	Keys []JWK `json:"keys"`
}

// JWK is a public P-256 key.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	KeyID     string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}
