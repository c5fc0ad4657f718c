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

	"sluice/shared/kit/fault"
)

// tokenType is the typ header of access tokens (RFC 9068, section 2.1).
const tokenType = "at+jwt"

// The errors of a token request that its sender can mend (RFC 6749, section 5.2).
var (
	ErrInvalidClient = fault.New(fault.BadRequest, "invalid_client",
		"The client is unknown or disabled, or its secret is wrong.")
	ErrInvalidScope = fault.New(fault.BadRequest, "invalid_scope",
		"The scope must be tenant/<tenant-id>, with the ID of this client's tenant.")
)

// kmsAPI is the part of the KMS client that signing needs.
type kmsAPI interface {
	Sign(ctx context.Context, in *kms.SignInput, opts ...func(*kms.Options)) (*kms.SignOutput, error)
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput, opts ...func(*kms.Options)) (*kms.GetPublicKeyOutput,
		error)
}

// Issuer issues access tokens. It is safe for concurrent use.
type Issuer struct {
	Registry Registry
	KMS      kmsAPI
	// FirstKMSKey is the ID or ARN of the KMS key that signs before any rotation.
	FirstKMSKey string
	// Audience is the aud claim of the tokens.
	Audience string
	// Lifetime is how long a token is valid when it is handed out. It lives ReuseTime longer.
	Lifetime time.Duration
	Now      func() time.Time
	// NewID returns the jti claim of a new token.
	NewID func() string

	keys   keyCache
	tokens tokenCache
}

// NewIssuer returns an issuer with the system clock and random token IDs.
func NewIssuer(r Registry, k kmsAPI, firstKey, audience string, lifetime time.Duration) *Issuer {
	return &Issuer{Registry: r, KMS: k, FirstKMSKey: firstKey, Audience: audience, Lifetime: lifetime, Now: time.Now,
		NewID: uuid.NewString, keys: keyCache{registry: r}}
}

// Issue checks a client's credentials and scope and returns a signed token with the given issuer as iss claim, perhaps
// the same as before (ReuseTime). A client that is disabled gets no token, not even an earlier one. It returns
// ErrInvalidClient or ErrInvalidScope for a request that the sender must mend.
func (i *Issuer) Issue(ctx context.Context, issuer, clientID, secret, scope string) (string, error) {
	if !isUUID(clientID) { // The store limits the length of keys.
		return "", ErrInvalidClient
	}
	c, err := i.Registry.Client(ctx, clientID)
	if errors.Is(err, ErrNotFound) {
		return "", ErrInvalidClient
	}
	if err != nil {
		return "", err
	}
	if !c.Accepts(secret) || c.Disabled {
		return "", ErrInvalidClient
	}
	if tenant, ok := strings.CutPrefix(scope, "tenant/"); !ok || tenant != c.Tenant {
		return "", ErrInvalidScope
	}
	key, err := i.signingKey(ctx)
	if err != nil {
		return "", err
	}
	r := tokenRequest{issuer: issuer, scope: scope, secret: secret, client: c}
	if token := i.reusedToken(ctx, r, key.ID); token != "" {
		return token, nil
	}
	signedAt := i.Now().Truncate(time.Second)
	token, err := i.sign(ctx, key, r, signedAt)
	if err != nil {
		return "", err
	}
	return i.shareToken(ctx, r, token, key.ID, signedAt), nil
}

// isUUID reports whether s can be the ID of a client or a tenant: a UUID of 36 characters.
func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func (i *Issuer) sign(ctx context.Context, key Key, r tokenRequest, now time.Time) (string, error) {
	public, err := key.parsePublicKey()
	if err != nil {
		return "", err
	}
	token, err := jwt.NewBuilder().
		Issuer(r.issuer).Audience([]string{i.Audience}).Subject(r.client.ID).JwtID(i.NewID()).
		IssuedAt(now).Expiration(now.Add(i.Lifetime+ReuseTime(i.Lifetime))).
		Claim("client_id", r.client.ID).Claim("scope", r.scope).
		Build()
	if err != nil {
		return "", err
	}
	headers := jws.NewHeaders()
	if err := errors.Join(headers.Set(jws.TypeKey, tokenType), headers.Set(jws.KeyIDKey, key.ID)); err != nil {
		return "", err
	}
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.ES256, &kmsSigner{ctx, i.KMS, key.KMSKey, public},
		jws.WithProtectedHeaders(headers)))
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return string(signed), nil
}

// KeySet returns the published keys as a JWK set (RFC 7517), to be sent as JSON.
func (i *Issuer) KeySet(ctx context.Context) (any, error) {
	if _, err := i.signingKey(ctx); err != nil { // The first request creates the record of the first key.
		return nil, err
	}
	keys, err := i.keys.load(ctx, i.Now(), minKeyRefetch)
	if err != nil {
		return nil, err
	}
	set := jwk.NewSet()
	for _, k := range keys {
		if !k.IsPublished(i.Now()) {
			continue
		}
		public, err := k.parsePublicKey()
		if err != nil {
			return nil, err
		}
		entry, err := jwk.FromRaw(public)
		if err != nil {
			return nil, err
		}
		err = errors.Join(entry.Set(jwk.KeyIDKey, k.ID), entry.Set(jwk.AlgorithmKey, jwa.ES256),
			entry.Set(jwk.KeyUsageKey, "sig"), set.AddKey(entry))
		if err != nil {
			return nil, err
		}
	}
	return set, nil
}

// signingKey returns the key that signs now. If the registry has no key yet it stores the record of the first one; of
// issuers that do so at the same time one succeeds, and all use the stored key.
func (i *Issuer) signingKey(ctx context.Context) (Key, error) {
	keys, err := i.keys.load(ctx, i.Now(), minKeyRefetch)
	if err != nil {
		return Key{}, err
	}
	if k, ok := activeKey(keys, i.Now()); ok {
		return k, nil
	}
	if len(keys) > 0 {
		return Key{}, errors.New("auth: no key is active")
	}
	first, err := NewKey(ctx, i.KMS, i.FirstKMSKey)
	if err != nil {
		return Key{}, err
	}
	first.ActiveFrom = i.Now().Truncate(time.Second)
	if err := i.Registry.ReplaceKeys(ctx, []Key{first}, 0); err != nil && !errors.Is(err, ErrChanged) {
		return Key{}, err
	}
	if keys, err = i.keys.load(ctx, i.Now(), 0); err != nil {
		return Key{}, err
	}
	k, ok := activeKey(keys, i.Now())
	if !ok {
		return Key{}, errors.New("auth: no key is active")
	}
	return k, nil
}

// NewKey returns the record of a KMS key under a new random ID. Its times are still to be set.
func NewKey(ctx context.Context, k kmsAPI, kmsKeyID string) (Key, error) {
	out, err := k.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &kmsKeyID})
	if err != nil {
		return Key{}, fmt.Errorf("read public key: %w", err)
	}
	return Key{ID: uuid.NewString(), KMSKey: kmsKeyID, PublicKey: out.PublicKey}, nil
}

// kmsSigner is a crypto.Signer on a KMS key. jwx hashes the input and turns the DER signature into the r and s of a
// JWS. A signer is used for one request and carries its context, because crypto.Signer has no parameter for it.
type kmsSigner struct {
	ctx    context.Context
	kms    kmsAPI
	id     string
	public *ecdsa.PublicKey
}

func (k *kmsSigner) Public() crypto.PublicKey { return k.public }

func (k *kmsSigner) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	out, err := k.kms.Sign(k.ctx, &kms.SignInput{
		KeyId: aws.String(k.id), Message: digest, MessageType: types.MessageTypeDigest,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, err
	}
	return out.Signature, nil
}
