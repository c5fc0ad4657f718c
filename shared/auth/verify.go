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

// ErrInvalidToken means that a token is not one of ours, or not any more.
var ErrInvalidToken = errors.New("auth: invalid token")

// Verifier verifies access tokens.
type Verifier struct {
	Audience string
	Now      func() time.Time

	ring ring
}

// NewVerifier returns a verifier that keeps the keys of the registry for a while.
func NewVerifier(r Registry, audience string, now func() time.Time) *Verifier {
	return &Verifier{Audience: audience, Now: now, ring: ring{registry: r}}
}

// skew is how far the clock of the function that issued a token may be ahead. The end of a token is not stretched by it:
// every function checks that by its own clock.
const skew = 10 * time.Second

// Claims is what a valid token says.
type Claims struct {
	Client  string
	Tenant  string
	Expires time.Time
}

// Verify checks a token's type, algorithm, key, signature, issuer, audience and times. ErrInvalidToken, or the error of a
// registry that did not answer.
func (v *Verifier) Verify(ctx context.Context, issuer, token string) (Claims, error) {
	message, err := jws.ParseString(token)
	if err != nil || strings.HasPrefix(token, "{") || len(message.Signatures()) != 1 { // nor in JSON's form
		return Claims{}, fmt.Errorf("%w: not a JWS", ErrInvalidToken)
	}
	h := message.Signatures()[0].ProtectedHeaders()
	// RFC 8725: neither the algorithm nor the kind of token is left to whoever made it.
	if typ := strings.TrimPrefix(strings.ToLower(h.Type()), "application/"); h.Algorithm() != jwa.ES256 || typ != tokenType {
		return Claims{}, fmt.Errorf("%w: algorithm %q, type %q", ErrInvalidToken, h.Algorithm(), h.Type())
	}
	if len(h.Critical()) > 0 { // extensions that must be understood: there are none that we know
		return Claims{}, fmt.Errorf("%w: critical headers", ErrInvalidToken)
	}
	key, err := v.ring.byID(ctx, v.Now(), h.KeyID())
	if errors.Is(err, errUnknownKey) {
		return Claims{}, fmt.Errorf("%w: unknown key", ErrInvalidToken)
	}
	if err != nil {
		return Claims{}, err
	}
	public, err := key.public()
	if err != nil {
		return Claims{}, err
	}
	parsed, err := jwt.ParseString(token, jwt.WithKey(jwa.ES256, public), jwt.WithValidate(true),
		jwt.WithClock(jwt.ClockFunc(v.Now)), jwt.WithAcceptableSkew(skew), jwt.WithIssuer(issuer), jwt.WithAudience(v.Audience),
		jwt.WithRequiredClaim(jwt.ExpirationKey), jwt.WithRequiredClaim(jwt.IssuedAtKey))
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrInvalidToken, err)
	}
	if !v.Now().Before(parsed.Expiration()) {
		return Claims{}, fmt.Errorf("%w: expired", ErrInvalidToken)
	}
	client, ok1 := parsed.PrivateClaims()["client_id"].(string)
	scope, ok2 := parsed.PrivateClaims()["scope"].(string)
	tenant, ok3 := strings.CutPrefix(scope, "tenant/")
	if !ok1 || !ok2 || !ok3 || client != parsed.Subject() || !isID(client) || !isID(tenant) {
		return Claims{}, fmt.Errorf("%w: claims", ErrInvalidToken)
	}
	return Claims{client, tenant, parsed.Expiration()}, nil
}
