package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"
)

// ErrInvalidToken means that a token was not issued here, or is no longer valid.
var ErrInvalidToken = errors.New("auth: invalid token")

// Verifier verifies access tokens. It is safe for concurrent use.
type Verifier struct {
	// Audience is the aud claim that tokens must have.
	Audience string
	Now      func() time.Time

	keys keyCache
}

// NewVerifier returns a verifier that remembers the keys of the registry for KeySetLifetime.
func NewVerifier(r Registry, audience string, now func() time.Time) *Verifier {
	return &Verifier{Audience: audience, Now: now, keys: keyCache{registry: r}}
}

// maxClockSkew is how far the clock of the function that issued a token may be ahead of ours. It does not extend the
// life of a token: the expiration is checked without it.
const maxClockSkew = 10 * time.Second

// Claims are the claims of a valid token.
type Claims struct {
	Client  string
	Tenant  string
	Expires time.Time
	// TokenID is the jti claim.
	TokenID string
}

// Verify checks a token's type, algorithm, key, signature, issuer, audience and times. It returns ErrInvalidToken, or
// the error of a registry that did not answer.
func (v *Verifier) Verify(ctx context.Context, issuer, token string) (Claims, error) {
	message, err := jws.ParseString(token)
	// The JSON serialization is not accepted.
	if err != nil || strings.HasPrefix(token, "{") || len(message.Signatures()) != 1 {
		return Claims{}, fmt.Errorf("%w: not a JWS", ErrInvalidToken)
	}
	h := message.Signatures()[0].ProtectedHeaders()
	// RFC 8725, sections 3.1 and 3.11: the algorithm and the type are ours to choose, not the token's.
	if typ := strings.TrimPrefix(strings.ToLower(h.Type()), "application/"); h.Algorithm() != jwa.ES256 ||
		typ != tokenType {
		return Claims{}, fmt.Errorf("%w: algorithm %q, type %q", ErrInvalidToken, h.Algorithm(), h.Type())
	}
	if len(h.Critical()) > 0 { // RFC 7515, section 4.1.11: we support no extension that must be understood.
		return Claims{}, fmt.Errorf("%w: critical headers", ErrInvalidToken)
	}
	key, err := v.keys.keyByID(ctx, v.Now(), h.KeyID())
	if errors.Is(err, errUnknownKey) {
		return Claims{}, fmt.Errorf("%w: unknown key", ErrInvalidToken)
	}
	if err != nil {
		return Claims{}, err
	}
	public, err := key.parsePublicKey()
	if err != nil {
		return Claims{}, err
	}
	parsed, err := jwt.ParseString(token, jwt.WithKey(jwa.ES256, public), jwt.WithValidate(true),
		jwt.WithClock(jwt.ClockFunc(v.Now)), jwt.WithAcceptableSkew(maxClockSkew), jwt.WithIssuer(issuer),
		jwt.WithAudience(v.Audience), jwt.WithRequiredClaim(jwt.ExpirationKey), jwt.WithRequiredClaim(jwt.IssuedAtKey))
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	if !v.Now().Before(parsed.Expiration()) {
		return Claims{}, fmt.Errorf("%w: expired", ErrInvalidToken)
	}
	client, ok1 := parsed.PrivateClaims()["client_id"].(string)
	scope, ok2 := parsed.PrivateClaims()["scope"].(string)
	tenant, ok3 := strings.CutPrefix(scope, "tenant/")
	if !ok1 || !ok2 || !ok3 || client != parsed.Subject() || !isUUID(client) || !isUUID(tenant) {
		return Claims{}, fmt.Errorf("%w: claims", ErrInvalidToken)
	}
	return Claims{client, tenant, parsed.Expiration(), parsed.JwtID()}, nil
}

const (
	// KeySetLifetime is how long anyone may use the published keys without reading them again.
	KeySetLifetime = 5 * time.Minute
	// KeySetMaxAge is the max-age for HTTP caches. It is shorter, because the issuer's own copy may be a minute old.
	KeySetMaxAge = KeySetLifetime - minKeyRefetch
	// minKeyRefetch is the shortest time between two reads of the keys that an unknown kid causes.
	minKeyRefetch = time.Minute
)

// IsPublished reports whether the key belongs to the published set at a time: verifiers accept its tokens.
func (k Key) IsPublished(now time.Time) bool { return k.RetireAt.IsZero() || now.Before(k.RetireAt) }

func (k Key) parsePublicKey() (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(k.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, err)
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("key %s: not an elliptic curve key", k.ID)
	}
	return public, nil
}

// activeKey returns the key that signs at a time: of the published keys, the one that became active last. ok is false
// if none is active.
func activeKey(keys []Key, now time.Time) (active Key, ok bool) {
	for _, k := range keys {
		if !k.ActiveFrom.After(now) && k.IsPublished(now) && (active.ID == "" ||
			k.ActiveFrom.After(active.ActiveFrom)) {
			active = k
		}
	}
	return active, active.ID != ""
}

// PlanRotation returns the set of keys that brings in the key next. It is published now and signs as soon as every
// cached copy of the present set has expired; the present keys are retired when the last token that they can have
// signed has expired, which lives ReuseTime longer than the lifetime that clients are told. If no key is active now,
// next is active at once. Keys that are retired by now are left out.
func PlanRotation(keys []Key, next Key, now time.Time, tokenLifetime time.Duration) []Key {
	next.ActiveFrom = now.Add(KeySetLifetime)
	if _, ok := activeKey(keys, now); !ok {
		next.ActiveFrom = now
	}
	var out []Key
	for _, k := range keys {
		if !k.IsPublished(now) {
			continue
		}
		if k.RetireAt.IsZero() {
			k.RetireAt = next.ActiveFrom.Add(tokenLifetime + ReuseTime(tokenLifetime) + time.Minute)
		}
		out = append(out, k)
	}
	return append(out, next)
}

// PlanRetirement returns the set of keys in which the key of that ID has ended now, whatever it has signed: verifiers
// refuse its tokens once their copies of the set have expired. A key that has ended before stays as it is. It returns
// ErrNotFound if there is no such key, and ErrLastKey if there would be a time, now or later, at which no key signs.
func PlanRetirement(keys []Key, id string, now time.Time) ([]Key, error) {
	out := slices.Clone(keys)
	i := slices.IndexFunc(out, func(k Key) bool { return k.ID == id })
	switch {
	case i < 0:
		return nil, ErrNotFound
	case !out[i].IsPublished(now):
		return out, nil
	}
	out[i].RetireAt = now
	for _, k := range out {
		// A time without a key can only begin when a key ends.
		if k.RetireAt.IsZero() || k.RetireAt.Before(now) {
			continue
		}
		if _, ok := activeKey(out, k.RetireAt); !ok {
			return nil, ErrLastKey
		}
	}
	return out, nil
}

// keyCache remembers the keys of a registry. It is safe for concurrent use.
type keyCache struct {
	registry Registry

	mu     sync.Mutex
	keys   []Key
	readAt time.Time
}

// load returns the keys as read at most maxAge ago. An empty set is not remembered, so that the first key signs at
// once.
func (c *keyCache) load(ctx context.Context, now time.Time, maxAge time.Duration) ([]Key, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) == 0 || now.Sub(c.readAt) >= maxAge {
		keys, _, err := c.registry.Keys(ctx)
		if err != nil {
			return nil, err
		}
		c.keys, c.readAt = keys, now
	}
	return c.keys, nil
}

var errUnknownKey = errors.New("auth: unknown key")

// keyByID returns a published key, errUnknownKey if there is no key with that ID. For an unknown ID it reads the keys
// again, but at most once in minKeyRefetch: tokens with invented kids must not turn into reads.
func (c *keyCache) keyByID(ctx context.Context, now time.Time, id string) (Key, error) {
	for _, maxAge := range []time.Duration{KeySetLifetime, minKeyRefetch} {
		keys, err := c.load(ctx, now, maxAge)
		if err != nil {
			return Key{}, err
		}
		for _, k := range keys {
			if k.ID == id && k.IsPublished(now) {
				return k, nil
			}
		}
	}
	return Key{}, errUnknownKey
}
