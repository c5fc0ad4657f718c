package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
