// Package jose signs and verifies statements of the service: JWS in compact form (RFC 7515) with the one algorithm
// ES256 (RFC 7518, section 3.4), and the public keys for it as JWK sets (RFC 7517). Access tokens have a package of
// their own, auth.
package jose

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// ES256 is the only algorithm here: ECDSA with P-256 and SHA-256.
const ES256 = "ES256"

// Header is the protected header of a JWS.
type Header struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	KeyID     string `json:"kid"`
	// Thumbprint is the thumbprint of a certificate of the key; some verifiers find the key by it.
	Thumbprint string `json:"x5t#S256,omitempty"`
}

// half is the size of each of the two numbers of a signature, and of each coordinate of a public key.
const half = 32

var encode = base64.RawURLEncoding.EncodeToString

// Sign returns the JWS of claims, which it encodes as JSON. The signer is of a P-256 key and signs a SHA-256 digest in
// ASN.1 DER form, as those of crypto/ecdsa and of KMS do; its error is wrapped.
func Sign(signer crypto.Signer, h Header, claims any) (string, error) {
	head, err1 := json.Marshal(h)
	body, err2 := json.Marshal(claims)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	signed := encode(head) + "." + encode(body)
	digest := sha256.Sum256([]byte(signed))
	der, err := signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	var signature struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &signature); err != nil || len(rest) > 0 {
		return "", errors.New("jose: the signature is not in DER form")
	}
	raw := make([]byte, 2*half)
	isOutOfRange := func(n *big.Int) bool { return n.Sign() <= 0 || n.BitLen() > 8*half }
	if isOutOfRange(signature.R) || isOutOfRange(signature.S) {
		return "", errors.New("jose: the signature is out of range")
	}
	signature.R.FillBytes(raw[:half])
	signature.S.FillBytes(raw[half:])
	return signed + "." + encode(raw), nil
}

// The reasons for which a JWS is not accepted. They are matched with errors.Is; the error of Verify says more.
var (
	// ErrMalformed means that a text is not a JWS in compact form.
	ErrMalformed = errors.New("it is not a JWS in compact form")
	// ErrHeader means that a JWS is of another algorithm or type, or needs an extension.
	ErrHeader = errors.New("its header is not acceptable")
	// ErrUnknownKey means that no key has the ID that a JWS names.
	ErrUnknownKey = errors.New("its key is not one of the published keys")
	// ErrSignature means that the key has not made the signature of the text.
	ErrSignature = errors.New("its signature is not valid")
)

// Verify returns the claims of a JWS, as JSON, if it has the type and is signed with ES256 by one of the keys. What is
// acceptable is the caller's to say, and nothing that the JWS says of itself: not its algorithm, and no key of its own
// (RFC 8725, sections 3.1 and 3.11).
func Verify(text, typ string, keys JWKSet) ([]byte, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: it has %d parts instead of 3", ErrMalformed, len(parts))
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil ||
			strings.ContainsAny(part, "\r\n") {
			return nil, fmt.Errorf("%w: part %d is not base64url", ErrMalformed, i+1)
		}
	}
	var h struct {
		Header
		Critical json.RawMessage `json:"crit"`
	}
	if err := json.Unmarshal(decoded[0], &h); err != nil {
		return nil, fmt.Errorf("%w: its header is not JSON", ErrMalformed)
	}
	switch {
	case h.Algorithm != ES256:
		return nil, fmt.Errorf("%w: the algorithm is %q instead of %s", ErrHeader, h.Algorithm, ES256)
	case h.Type != typ:
		return nil, fmt.Errorf("%w: the type is %q instead of %s", ErrHeader, h.Type, typ)
	case h.Critical != nil: // RFC 7515, section 4.1.11: no extension that must be understood is
		return nil, fmt.Errorf("%w: it has critical extensions", ErrHeader)
	}
	public, err := keys.find(h.KeyID)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature := decoded[2]
	if len(signature) != 2*half || !ecdsa.Verify(public, digest[:], new(big.Int).SetBytes(signature[:half]),
		new(big.Int).SetBytes(signature[half:])) {
		return nil, ErrSignature
	}
	return decoded[1], nil
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

// NewJWK returns a public P-256 key with its ID.
func NewJWK(id string, public *ecdsa.PublicKey) (JWK, error) {
	point, err := public.Bytes()
	if err != nil {
		return JWK{}, err
	}
	if len(point) != 1+2*half {
		return JWK{}, fmt.Errorf("key %s: not a P-256 key", id)
	}
	return JWK{
		KeyType: "EC", Curve: "P-256", X: encode(point[1 : 1+half]), Y: encode(point[1+half:]),
		KeyID: id, Use: "sig", Algorithm: ES256,
	}, nil
}

// PublicKey returns the key.
func (k JWK) PublicKey() (*ecdsa.PublicKey, error) {
	x, err1 := base64.RawURLEncoding.DecodeString(k.X)
	y, err2 := base64.RawURLEncoding.DecodeString(k.Y)
	if errors.Join(err1, err2) != nil || k.KeyType != "EC" || k.Curve != "P-256" || len(x) != half || len(y) != half {
		return nil, fmt.Errorf("key %s: not a P-256 key", k.KeyID)
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytes.Join([][]byte{{4}, x, y}, nil))
}

// find returns the key of an ID.
func (s JWKSet) find(id string) (*ecdsa.PublicKey, error) {
	for _, k := range s.Keys {
		if k.KeyID == id && id != "" {
			return k.PublicKey()
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownKey, id)
}

// ParsePublicKey parses a public key in PKIX, ASN.1 DER form, as KMS gives it.
func ParsePublicKey(der []byte) (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, err
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, errors.New("not a P-256 key")
	}
	return public, nil
}
