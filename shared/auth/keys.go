package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// KeySetLifetime is how long anyone may keep the published keys without asking again.
	KeySetLifetime = 5 * time.Minute
	// KeySetMaxAge is what HTTP caches are told: the issuer's own copy may be a minute old already.
	KeySetMaxAge = KeySetLifetime - refetch
	// refetch is the least time between two readings of the keys because of an unknown kid.
	refetch = time.Minute
)

// Published reports whether verifiers must know the key.
func (k Key) Published(now time.Time) bool { return k.RetireAt.IsZero() || now.Before(k.RetireAt) }

func (k Key) public() (*ecdsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(k.Public)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.ID, err)
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("key %s: not an elliptic curve key", k.ID)
	}
	return public, nil
}

// signing returns the key that signs at a time: the one that became active last.
func signing(keys []Key, now time.Time) (Key, bool) {
	var best Key
	for _, k := range keys {
		if !k.ActiveFrom.After(now) && k.Published(now) && (best.ID == "" || k.ActiveFrom.After(best.ActiveFrom)) {
			best = k
		}
	}
	return best, best.ID != ""
}

// Rotate plans a rotation: the new key is published now and signs once every cache of the key set has ended; the others are
// retired once the last token that they can have signed has ended too. Where no key signs yet, the new one does at once.
func Rotate(keys []Key, next Key, now time.Time, tokenLifetime time.Duration) []Key {
	next.ActiveFrom = now.Add(KeySetLifetime)
	if _, ok := signing(keys, now); !ok {
		next.ActiveFrom = now
	}
	var out []Key
	for _, k := range keys {
		if !k.Published(now) {
			continue
		}
		if k.RetireAt.IsZero() {
			k.RetireAt = next.ActiveFrom.Add(tokenLifetime + time.Minute)
		}
		out = append(out, k)
	}
	return append(out, next)
}

// ring is the keys as last read.
type ring struct {
	registry Registry

	mu   sync.Mutex
	keys []Key
	read time.Time
}

// all returns the keys, read at most age ago. That there are none is not remembered: the first key signs at once.
func (r *ring) all(ctx context.Context, now time.Time, age time.Duration) ([]Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) == 0 || now.Sub(r.read) >= age {
		keys, _, err := r.registry.Keys(ctx)
		if err != nil {
			return nil, err
		}
		r.keys, r.read = keys, now
	}
	return r.keys, nil
}

var errUnknownKey = errors.New("auth: unknown key")

// byID returns a published key. An unknown one has the keys read again, but at most once a minute: tokens with made-up kids
// must not turn into reads.
func (r *ring) byID(ctx context.Context, now time.Time, id string) (Key, error) {
	for _, age := range []time.Duration{KeySetLifetime, refetch} {
		keys, err := r.all(ctx, now, age)
		if err != nil {
			return Key{}, err
		}
		for _, k := range keys {
			if k.ID == id && k.Published(now) {
				return k, nil
			}
		}
	}
	return Key{}, errUnknownKey
}
