package jose_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/kit/jose"
)

const typ = "test+jwt"

func newKey(t *testing.T, id string) (*ecdsa.PrivateKey, jose.JWK) {
	t.Helper()
	key := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	public := errtest.Must(jose.NewJWK(id, &key.PublicKey))(t)
	return key, public
}

func sign(t *testing.T, key crypto.Signer, h jose.Header) string {
	t.Helper()
	return errtest.Must(jose.Sign(key, h, map[string]int{"a": 1}))(t)
}

func segment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestVerify(t *testing.T) {
	t.Parallel()
	key, public := newKey(t, "k")
	stranger, strangers := newKey(t, "s")
	keys := jose.JWKSet{Keys: []jose.JWK{{KeyID: "broken"}, public, {KeyType: "EC", Curve: "P-256", X: strangers.X,
		Y: strangers.X, KeyID: "off"}}}
	header := jose.Header{Algorithm: jose.ES256, Type: typ, KeyID: "k"}
	with := func(change func(*jose.Header)) jose.Header { h := header; change(&h); return h }
	good := sign(t, key, header)
	parts := strings.Split(good, ".")
	signature := errtest.Must(base64.RawURLEncoding.DecodeString(parts[2]))(t)
	flip := func(i int) string {
		changed := append([]byte(nil), signature...)
		changed[i] ^= 1
		return parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(changed)
	}
	// A JWS that is authenticated with the published key as if it were a secret.
	confused := segment(`{"alg":"HS256","typ":"`+typ+`","kid":"k"}`) + "." + parts[1]
	mac := hmac.New(sha256.New, []byte(public.X+public.Y))
	mac.Write([]byte(confused))
	own := errtest.Must(json.Marshal(strangers))(t)
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"good", good, nil},
		{"empty", "", jose.ErrMalformed},
		{"two parts", parts[0] + "." + parts[1], jose.ErrMalformed},
		{"four parts", good + ".x", jose.ErrMalformed},
		{"JSON serialization", `{"payload":"` + parts[1] + `"}`, jose.ErrMalformed},
		{"padding", good + "=", jose.ErrMalformed},
		{"a line feed", parts[0] + "\n." + parts[1] + "." + parts[2], jose.ErrMalformed},
		{"a line feed at the end", good + "\n", jose.ErrMalformed},
		{"no JSON", segment("x") + "." + parts[1] + "." + parts[2], jose.ErrMalformed},
		{"other claims", parts[0] + "." + segment(`{"a":2}`) + "." + parts[2], jose.ErrSignature},
		{"other header", segment(`{"alg":"ES256","typ":"`+typ+`","kid":"k" }`) + "." + parts[1] + "." + parts[2],
			jose.ErrSignature},
		{"other r", flip(0), jose.ErrSignature},
		{"other s", flip(63), jose.ErrSignature},
		{"no signature", parts[0] + "." + parts[1] + ".", jose.ErrSignature},
		{"a short signature", parts[0] + "." + parts[1] + "." + segment(string(signature[:63])), jose.ErrSignature},
		{"zeros", parts[0] + "." + parts[1] + "." + segment(strings.Repeat("\x00", 64)), jose.ErrSignature},
		{"alg none", segment(`{"alg":"none","typ":"`+typ+`","kid":"k"}`) + "." + parts[1] + ".", jose.ErrHeader},
		{"alg None", segment(`{"alg":"None","typ":"`+typ+`","kid":"k"}`) + "." + parts[1] + "." + parts[2],
			jose.ErrHeader},
		{"HS256 with the public key", confused + "." + segment(string(mac.Sum(nil))), jose.ErrHeader},
		{"other type", sign(t, key, with(func(h *jose.Header) { h.Type = "at+jwt" })), jose.ErrHeader},
		{"no type", sign(t, key, with(func(h *jose.Header) { h.Type = "" })), jose.ErrHeader},
		{"critical", segment(`{"alg":"ES256","typ":"`+typ+`","kid":"k","crit":["b64"],"b64":false}`) + "." + parts[1] +
			"." + parts[2], jose.ErrHeader},
		{"a key that is not published", sign(t, stranger, with(func(h *jose.Header) { h.KeyID = "s" })),
			jose.ErrUnknownKey},
		{"no key", sign(t, key, with(func(h *jose.Header) { h.KeyID = "" })), jose.ErrUnknownKey},
		{"a key of its own", segment(`{"alg":"ES256","typ":"`+typ+`","kid":"k","jwk":`+string(own)+`}`) + "." +
			parts[1] + "." + parts[2], jose.ErrSignature},
		{"the ID of another key", sign(t, stranger, header), jose.ErrSignature},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claims, err := jose.Verify(tt.text, typ, keys)
			if !errors.Is(err, tt.want) || (string(claims) == `{"a":1}`) != (tt.want == nil) {
				t.Errorf("got the claims %s, error %v, want the error %v", claims, err, tt.want)
			}
		})
	}
	for _, id := range []string{"broken", "off"} {
		errtest.Fails(t, "by the key "+id+", which is not on the curve",
			errtest.Of(jose.Verify(sign(t, key, with(func(h *jose.Header) { h.KeyID = id })), typ, keys)))
	}
}

type brokenSigner struct{ der []byte }

func (brokenSigner) Public() crypto.PublicKey { return nil }

func (s brokenSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	if s.der == nil {
		return nil, io.ErrClosedPipe
	}
	return s.der, nil
}

func TestSignErrors(t *testing.T) {
	t.Parallel()
	for name, der := range map[string][]byte{"failed": nil, "no DER": {1}, "zero": {0x30, 6, 2, 1, 0, 2, 1, 0}} {
		errtest.Fails(t, name, errtest.Of(jose.Sign(brokenSigner{der}, jose.Header{}, 1)))
	}
	errtest.Is(t, "Sign", errtest.Of(jose.Sign(brokenSigner{}, jose.Header{}, 1)), io.ErrClosedPipe)
	errtest.Fails(t, "claims that JSON does not have", errtest.Of(jose.Sign(brokenSigner{}, jose.Header{}, func() {})))
	p384 := errtest.Must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	errtest.Fails(t, "a key of another curve", errtest.Of(jose.NewJWK("k", &p384.PublicKey)))
	errtest.Fails(t, "no key", errtest.Of(jose.ParsePublicKey([]byte("x"))))
}

func FuzzVerify(f *testing.F) {
	f.Add("a.b.c")
	f.Add(segment(`{"alg":"ES256","typ":"test+jwt","kid":"k"}`) + ".e30." + segment(strings.Repeat("x", 64)))
	key := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(f)
	public := errtest.Must(jose.NewJWK("k", &key.PublicKey))(f)
	f.Fuzz(func(t *testing.T, text string) {
		if claims, err := jose.Verify(text, typ, jose.JWKSet{Keys: []jose.JWK{public}}); err == nil {
			t.Errorf("the claims %s that nobody has signed are accepted", claims)
		}
	})
}
