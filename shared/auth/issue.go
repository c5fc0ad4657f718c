package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/uuid"
	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"

	"sluice/shared/fault"
)

// tokenType is the typ header of access tokens (RFC 9068, section 2.1).
const tokenType = "at+jwt"

// Outcomes of a token request that the client caused (RFC 6749, section 5.2).
var (
	ErrInvalidClient = fault.New(fault.BadRequest, "invalid_client", "Unknown client, wrong secret, or client disabled.")
	ErrInvalidScope  = fault.New(fault.BadRequest, "invalid_scope", "The scope must be tenant/<tenant-id> of a tenant of this client.")
)

// signer is the part of KMS that signs.
type signer interface {
	Sign(ctx context.Context, in *kms.SignInput, opts ...func(*kms.Options)) (*kms.SignOutput, error)
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput, opts ...func(*kms.Options)) (*kms.GetPublicKeyOutput, error)
}

// Issuer issues access tokens.
type Issuer struct {
	Registry Registry
	KMS      signer
	FirstKey string // KMS key that signs before any rotation
	Audience string
	Lifetime time.Duration
	Now      func() time.Time
	NewID    func() string // of tokens

	ring ring
}

// NewIssuer returns an issuer with the real clock and random token IDs.
func NewIssuer(r Registry, k signer, firstKey, audience string, lifetime time.Duration) *Issuer {
	return &Issuer{Registry: r, KMS: k, FirstKey: firstKey, Audience: audience, Lifetime: lifetime, Now: time.Now, NewID: uuid.NewString,
		ring: ring{registry: r}}
}

// Issue checks a client's credentials and scope and returns a signed token. ErrInvalidClient, ErrInvalidScope.
func (i *Issuer) Issue(ctx context.Context, issuer, clientID, secret, scope string) (string, error) {
	if !isID(clientID) { // the store has limits of its own for keys
		return "", ErrInvalidClient
	}
	c, err := i.Registry.Client(ctx, clientID)
	if errors.Is(err, ErrNotFound) {
		return "", ErrInvalidClient
	}
	if err != nil {
		return "", err
	}
	if !c.Secret.Matches(secret) || c.Disabled {
		return "", ErrInvalidClient
	}
	if tenant, ok := strings.CutPrefix(scope, "tenant/"); !ok || tenant != c.Tenant {
		return "", ErrInvalidScope
	}
	return i.sign(ctx, issuer, c.ID, scope)
}

// isID reports whether s can be the ID of a client or a tenant: a UUID in its usual form.
func isID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func (i *Issuer) sign(ctx context.Context, issuer, clientID, scope string) (string, error) {
	key, err := i.signingKey(ctx)
	if err != nil {
		return "", err
	}
	public, err := key.public()
	if err != nil {
		return "", err
	}
	now := i.Now().Truncate(time.Second)
	token, err := jwt.NewBuilder().
		Issuer(issuer).Audience([]string{i.Audience}).Subject(clientID).JwtID(i.NewID()).
		IssuedAt(now).Expiration(now.Add(i.Lifetime)).
		Claim("client_id", clientID).Claim("scope", scope).
		Build()
	if err != nil {
		return "", err
	}
	headers := jws.NewHeaders()
	if err := errors.Join(headers.Set(jws.TypeKey, tokenType), headers.Set(jws.KeyIDKey, key.ID)); err != nil {
		return "", err
	}
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.ES256, &kmsKey{ctx, i.KMS, key.KMSKey, public}, jws.WithProtectedHeaders(headers)))
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return string(signed), nil
}

// KeySet returns the published keys as a JWK set, to be sent as JSON.
func (i *Issuer) KeySet(ctx context.Context) (any, error) {
	if _, err := i.signingKey(ctx); err != nil { // the first asker makes the first key's record
		return nil, err
	}
	keys, err := i.ring.all(ctx, i.Now(), refetch)
	if err != nil {
		return nil, err
	}
	set := jwk.NewSet()
	for _, k := range keys {
		if !k.Published(i.Now()) {
			continue
		}
		public, err := k.public()
		if err != nil {
			return nil, err
		}
		entry, err := jwk.FromRaw(public)
		if err != nil {
			return nil, err
		}
		err = errors.Join(entry.Set(jwk.KeyIDKey, k.ID), entry.Set(jwk.AlgorithmKey, jwa.ES256), entry.Set(jwk.KeyUsageKey, "sig"), set.AddKey(entry))
		if err != nil {
			return nil, err
		}
	}
	return set, nil
}

// signingKey returns the key that signs now, making the record of the first key if there is none yet.
func (i *Issuer) signingKey(ctx context.Context) (Key, error) {
	keys, err := i.ring.all(ctx, i.Now(), refetch)
	if err != nil {
		return Key{}, err
	}
	if k, ok := signing(keys, i.Now()); ok {
		return k, nil
	}
	if len(keys) > 0 {
		return Key{}, errors.New("auth: no key is active")
	}
	first, err := NewKey(ctx, i.KMS, i.FirstKey)
	if err != nil {
		return Key{}, err
	}
	first.ActiveFrom = i.Now().Truncate(time.Second)
	if err := i.Registry.SetKeys(ctx, []Key{first}, 0); err != nil && !errors.Is(err, ErrChanged) {
		return Key{}, err
	}
	if keys, err = i.ring.all(ctx, i.Now(), 0); err != nil { // whoever was first: what is stored counts
		return Key{}, err
	}
	k, ok := signing(keys, i.Now())
	if !ok {
		return Key{}, errors.New("auth: no key is active")
	}
	return k, nil
}

// NewKey makes the record of a KMS key, under a new random kid.
func NewKey(ctx context.Context, k signer, kmsKeyID string) (Key, error) {
	out, err := k.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &kmsKeyID})
	if err != nil {
		return Key{}, fmt.Errorf("read public key: %w", err)
	}
	return Key{ID: uuid.NewString(), KMSKey: kmsKeyID, Public: out.PublicKey}, nil
}

// kmsKey signs by KMS what jwx hashes; jwx turns the DER signature into the r and s of JWS. It lives for one request, whose
// context it carries because crypto.Signer has no other way to it.
type kmsKey struct {
	ctx    context.Context
	kms    signer
	id     string
	public *ecdsa.PublicKey
}

func (k *kmsKey) Public() crypto.PublicKey { return k.public }

func (k *kmsKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	out, err := k.kms.Sign(k.ctx, &kms.SignInput{
		KeyId: aws.String(k.id), Message: digest, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, err
	}
	return out.Signature, nil
}
