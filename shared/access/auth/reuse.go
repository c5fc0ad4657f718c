package auth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// maxReuse is the longest time for which a token is handed out again.
const maxReuse = 5 * time.Minute

// ReuseTime returns how long a token may be handed out again to the client that it was signed for, if tokens are to be
// valid for a lifetime when they are handed out: a twelfth of it, in whole seconds, five minutes at most. A token then
// lives for both together, so that one signature in KMS, which has a quota for the whole account, serves a client for
// all its requests in that time.
func ReuseTime(lifetime time.Duration) time.Duration {
	return min(lifetime/12, maxReuse).Truncate(time.Second)
}

// SealedToken is a token that may be handed out again. Only who knows the client's secret can read it.
type SealedToken struct {
	// ID consists of the ID of the client and a digest of the issuer and the scope.
	ID string
	// Key is the ID of the key that signed the token.
	Key string
	// ReuseUntil is when it is not handed out any more, in whole seconds.
	ReuseUntil time.Time
	// Ciphertext is a nonce and the token, encrypted under a key derived from the client's secret.
	Ciphertext []byte
}

// tokenRequest is a request for a token. The credentials in it have been checked.
type tokenRequest struct {
	issuer, scope, secret string
	client                Client
}

// id returns the ID of the token that serves such requests.
func (r tokenRequest) id() string {
	digest := sha256.Sum256([]byte(r.issuer + "\n" + r.scope))
	return r.client.ID + "/" + hex.EncodeToString(digest[:16])
}

// cipher returns the AEAD that seals tokens for the request. Its key is derived from the secret, which is stored
// nowhere: the table alone, and the table with all that the service has, give no token.
func (r tokenRequest) cipher() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(r.secret), r.client.Secret.Salt, "sluice sealed token "+r.id(), 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// additionalData binds the plain attributes that are stored beside a ciphertext to it.
func (t SealedToken) additionalData() []byte {
	return fmt.Appendf(nil, "%s\n%s\n%d", t.ID, t.Key, t.ReuseUntil.Unix())
}

func (r tokenRequest) seal(token string, key string, reuseUntil time.Time) (SealedToken, error) {
	t := SealedToken{ID: r.id(), Key: key, ReuseUntil: reuseUntil}
	aead, err := r.cipher()
	if err != nil {
		return SealedToken{}, err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce)
	t.Ciphertext = aead.Seal(nonce, nonce, []byte(token), t.additionalData())
	return t, nil
}

var errNotOpened = errors.New("auth: a sealed token cannot be opened")

func (r tokenRequest) open(t SealedToken) (string, error) {
	aead, err := r.cipher()
	if err != nil {
		return "", err
	}
	if len(t.Ciphertext) < aead.NonceSize() {
		return "", errNotOpened
	}
	nonce, text := t.Ciphertext[:aead.NonceSize()], t.Ciphertext[aead.NonceSize():]
	token, err := aead.Open(nil, nonce, text, t.additionalData())
	if err != nil {
		return "", errNotOpened
	}
	return string(token), nil
}

// isUsable reports whether a token may be handed out now. One of another key is not: that key has been replaced, and
// perhaps ended.
func (t SealedToken) isUsable(key string, now time.Time) bool {
	return t.Key == key && now.Before(t.ReuseUntil)
}

// reusedToken returns a token that was signed for such a request before, "" if none was: of this process or, from the
// registry, of another one. A registry that fails only costs a signature.
func (i *Issuer) reusedToken(ctx context.Context, r tokenRequest, key string) string {
	if ReuseTime(i.Lifetime) == 0 {
		return ""
	}
	if token := i.tokens.find(r.id(), key, i.Now()); token != "" {
		return token
	}
	t, err := i.Registry.SealedToken(ctx, r.id())
	if errors.Is(err, ErrNotFound) {
		return ""
	}
	if err != nil {
		slog.WarnContext(ctx, "a stored token cannot be read; another one is signed", "error", err)
		return ""
	}
	if !t.isUsable(key, i.Now()) {
		return ""
	}
	return i.openToken(ctx, r, t)
}

// openToken opens and remembers a usable token; "" if it cannot be opened.
func (i *Issuer) openToken(ctx context.Context, r tokenRequest, t SealedToken) string {
	token, err := r.open(t)
	if err != nil {
		slog.WarnContext(ctx, "a stored token cannot be opened; another one is signed", "client", r.client.ID, "error",
			err)
		return ""
	}
	i.tokens.add(t, token)
	return token
}

// shareToken stores a token for later requests and returns the one to hand out: that of another process which has
// signed at the same time and was faster, so that all use one.
func (i *Issuer) shareToken(ctx context.Context, r tokenRequest, token, key string, signedAt time.Time) string {
	reuse := ReuseTime(i.Lifetime)
	if reuse == 0 {
		return token
	}
	sealed, err := r.seal(token, key, signedAt.Add(reuse))
	if err == nil {
		var stored SealedToken
		if stored, err = i.Registry.StoreSealedToken(ctx, sealed, i.Now()); err == nil &&
			stored.isUsable(key, i.Now()) {
			if shared := i.openToken(ctx, r, stored); shared != "" {
				return shared
			}
		}
	}
	if err != nil {
		slog.WarnContext(ctx, "a token cannot be stored for later requests", "error", err)
	}
	return token
}

// tokenCache remembers tokens of this process. It is safe for concurrent use.
type tokenCache struct {
	mu     sync.Mutex
	tokens map[string]openToken
}

type openToken struct {
	SealedToken
	token string
}

// maxTokens bounds the memory of a process. A forgotten token costs one more read.
const maxTokens = 1000

func (c *tokenCache) find(id, key string, now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tokens[id]; t.isUsable(key, now) {
		return t.token
	}
	return ""
}

func (c *tokenCache) add(t SealedToken, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil || len(c.tokens) >= maxTokens {
		c.tokens = map[string]openToken{}
	}
	c.tokens[t.ID] = openToken{t, token}
}
