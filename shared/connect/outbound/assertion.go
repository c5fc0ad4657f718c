package outbound

import (
	"context"
	"encoding/base64"
	"time"

	"sluice/shared/kit/jose"
	"sluice/shared/kit/kmskey"
)

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
