package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// SecretHash is the stored form of a client's secret: a random salt and the SHA-256 of salt and secret. A slow password
// hash would only slow down the token endpoint, because a secret of 256 random bits cannot be guessed at any speed.
type SecretHash struct {
	// Salt is 16 random bytes.
	Salt []byte
	// Sum is the SHA-256 of Salt followed by the secret.
	Sum []byte
}

// NewSecret returns a new client secret, which is shown once, and the hash to store.
func NewSecret() (secret string, hash SecretHash) {
	random, salt := make([]byte, 32), make([]byte, 16)
	rand.Read(random)
	rand.Read(salt)
	secret = base64.RawURLEncoding.EncodeToString(random)
	return secret, SecretHash{salt, saltedSum(salt, secret)}
}

// Matches reports whether the hash was made of the secret. It compares in constant time.
func (h SecretHash) Matches(secret string) bool {
	return len(h.Sum) == sha256.Size && subtle.ConstantTimeCompare(h.Sum, saltedSum(h.Salt, secret)) == 1
}

func saltedSum(salt []byte, secret string) []byte {
	h := sha256.New()
	h.Write(salt)
	h.Write([]byte(secret))
	return h.Sum(nil)
}
