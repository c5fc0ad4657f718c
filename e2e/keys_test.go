package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/http"
	"testing"
)

// publishedKey is a key of a set that the service publishes, for signatures by ES256.
type publishedKey struct{ Kid, Kty, Crv, X, Y string }

// publishedKeys returns the keys at a path of the API, and the header of the reply.
func publishedKeys(t *testing.T, path string) ([]publishedKey, http.Header) {
	t.Helper()
	resp := ok(http.Get(environment.APIURL + path))(t)
	var set struct{ Keys []publishedKey }
	decodeReply(t, resp, http.StatusOK, &set)
	return set.Keys, resp.Header
}

// verifies reports whether a text has a signature of the key.
func (k publishedKey) verifies(t *testing.T, text string, signature []byte) bool {
	t.Helper()
	point := append(append([]byte{4}, decodeBase64(t, k.X)...), decodeBase64(t, k.Y)...)
	public := ok(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point))(t)
	digest := sha256.Sum256([]byte(text))
	number := func(raw []byte) *big.Int { return new(big.Int).SetBytes(raw) }
	return len(signature) == 64 && ecdsa.Verify(public, digest[:], number(signature[:32]), number(signature[32:]))
}

// decodeBase64 decodes a part of a token or of a key.
func decodeBase64(t *testing.T, text string) []byte {
	t.Helper()
	raw := ok(base64.RawURLEncoding.DecodeString(text))(t)
	return raw
}
