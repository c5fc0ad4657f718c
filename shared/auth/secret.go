package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// SecretHash is all that is kept of a client's secret: SHA-256 over a random salt and the secret. A slow password hash would
// only slow the token endpoint down: the secret is 256 random bits, which nobody can guess at any speed.
type SecretHash struct {
	Salt []byte
	Sum  []byte
}

// NewSecret makes a client secret, to be shown once, and its hash.
func NewSecret() (string, SecretHash) {
	secret, salt := make([]byte, 32), make([]byte, 16)
	rand.Read(secret)
	rand.Read(salt)
	text := base64.RawURLEncoding.EncodeToString(secret)
	return text, SecretHash{salt, sum(salt, text)}
}

// Matches compares in constant time.
func (h SecretHash) Matches(secret string) bool {
	return len(h.Sum) == sha256.Size && subtle.ConstantTimeCompare(h.Sum, sum(h.Salt, secret)) == 1
}

func sum(salt []byte, secret string) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write([]byte(secret))
	return h.Sum(nil)
}
