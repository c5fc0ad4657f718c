package auth_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"sluice/shared/access/auth"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var b64 = base64.RawURLEncoding

func decodePart(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	text := errtest.Must(b64.DecodeString(strings.Split(token, ".")[i]))(t)
	var m map[string]any
	errtest.Fatal(t, json.Unmarshal(text, &m))
	return m
}

func encodePart(v any) string {
	text, _ := json.Marshal(v)
	return b64.EncodeToString(text)
}

// es256 signs as a JWS does: r and s, 32 bytes each.
func es256(key *ecdsa.PrivateKey, input string) []byte {
	digest := sha256.Sum256([]byte(input))
	r, s, _ := ecdsa.Sign(rand.Reader, key, digest[:])
	return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
}

// forge makes a token of a genuine one's parts, with changes, signed by a key; nil in changes removes.
func forge(t *testing.T, genuine string, key *ecdsa.PrivateKey, header, payload map[string]any) string {
	t.Helper()
	part := func(i int, changes map[string]any) string {
		m := decodePart(t, genuine, i)
		maps.Copy(m, changes)
		maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
		return encodePart(m)
	}
	input := part(0, header) + "." + part(1, payload)
	return input + "." + b64.EncodeToString(es256(key, input))
}

func TestForgedTokens(t *testing.T) {
	w := newWorld(t)
	genuine := w.issue(t)
	key := w.vault.keys["first"]
	parts := strings.Split(genuine, ".")
	stranger := errtest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	type m = map[string]any
	with := func(header, payload m) string { return forge(t, genuine, key, header, payload) }

	for name, token := range map[string]string{
		"the same parts, signed again": with(nil, nil),
		"type in upper case":           with(m{"typ": "AT+JWT"}, nil),
		"type with application/":       with(m{"typ": "application/at+jwt"}, nil),
		"a list of audiences":          with(nil, m{"aud": []string{"other", audience}}),
		"issued a moment ahead":        with(nil, m{"iat": w.now.Add(5 * time.Second).Unix()}),
	} {
		errtest.Is(t, name, w.verify(t, token), nil)
	}

	none := func(algorithm string) string {
		return encodePart(m{"alg": algorithm, "typ": "at+jwt"}) + "." + parts[1] + "."
	}
	mac := hmac.New(sha256.New, publicDER(t, w))
	input := encodePart(m{"alg": "HS256", "typ": "at+jwt", "kid": decodePart(t, genuine, 0)["kid"]}) + "." + parts[1]
	mac.Write([]byte(input))
	signature, _ := b64.DecodeString(parts[2])
	altered := bytes.Clone(signature)
	altered[40] ^= 1

	for name, token := range map[string]string{
		"empty": "", "no token": "x.y.z", "one part": parts[0], "two parts": parts[0] + "." + parts[1],
		"four parts":   genuine + ".x",
		"no signature": parts[0] + "." + parts[1] + ".", "spaces": " " + genuine,
		"standard base64": strings.ReplaceAll(genuine, "-", "+") + "=",
		"alg none":        none("none"), "alg None": none("None"), "no alg": with(m{"alg": nil}, nil),
		"HS256 with the public key": input + "." + b64.EncodeToString(mac.Sum(nil)),
		"ES384 in the header":       with(m{"alg": "ES384"}, nil),
		"type JWT":                  with(m{"typ": "JWT"}, nil),
		"no type":                   with(m{"typ": nil}, nil),
		"unknown kid":               with(m{"kid": "another"}, nil),
		"no kid":                    with(m{"kid": nil}, nil),
		"critical header":           with(m{"crit": []string{"b64"}, "b64": true}, nil),
		"a stranger's key":          forge(t, genuine, stranger, nil, nil),
		"a stranger's key inside":   forge(t, genuine, stranger, m{"jwk": m{"kty": "EC"}, "jku": "https://x"}, nil),
		"altered signature":         parts[0] + "." + parts[1] + "." + b64.EncodeToString(altered),
		"altered payload":           parts[0] + "." + encodePart(m{"scope": "tenant/x"}) + "." + parts[2],
		"signature of zeros":        parts[0] + "." + parts[1] + "." + b64.EncodeToString(make([]byte, 64)),
		"wrong issuer":              with(nil, m{"iss": "https://other.test"}),
		"no issuer":                 with(nil, m{"iss": nil}),
		"wrong audience":            with(nil, m{"aud": "other"}),
		"no audience":               with(nil, m{"aud": nil}),
		"expired":                   with(nil, m{"exp": w.now.Add(-time.Second).Unix()}),
		"no end":                    with(nil, m{"exp": nil}),
		"end as text":               with(nil, m{"exp": "never"}),
		"not yet valid":             with(nil, m{"nbf": w.now.Add(time.Minute).Unix()}),
		"issued in an hour":         with(nil, m{"iat": w.now.Add(time.Hour).Unix()}),
		"no time of issue":          with(nil, m{"iat": nil}),
		"another subject":           with(nil, m{"sub": w.tenant.ID}),
		"no subject":                with(nil, m{"sub": nil}),
		"no client":                 with(nil, m{"client_id": nil}),
		"no scope":                  with(nil, m{"scope": nil}),
		"another scope":             with(nil, m{"scope": "admin"}),
		"two scopes":                with(nil, m{"scope": "tenant/" + w.tenant.ID + " tenant/x"}),
		"scope as a list":           with(nil, m{"scope": []string{"tenant/" + w.tenant.ID}}),
		"JSON form": `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` +
			parts[2] + `"}`,
	} {
		errtest.Is(t, name, w.verify(t, token), auth.ErrInvalidToken)
	}
}

func publicDER(t *testing.T, w *world) []byte {
	t.Helper()
	keys, _, err := w.registry.Keys(t.Context())
	errtest.Fatal(t, err)
	return keys[0].PublicKey
}

// Made-up kids cost one reading of the keys a minute, however many come; a new key is known at the first of its tokens.
func TestUnknownKeysAreLookedUpOnceAMinute(t *testing.T) {
	w := newWorld(t)
	genuine := w.issue(t)
	errtest.Fatal(t, w.verify(t, genuine))
	forged := forge(t, genuine, w.vault.keys["first"], map[string]any{"kid": "made-up"}, nil)
	before := w.registry.Calls("Keys")
	for elapsed, reads := range []int{0, 1, 2, 3} {
		for range 50 {
			errtest.Is(t, "verify", w.verify(t, forged), auth.ErrInvalidToken)
		}
		difftest.Equal(t, fmt.Sprintf("minute %d: readings", elapsed), reads, w.registry.Calls("Keys")-before)
		w.now = w.now.Add(time.Minute)
	}
	before = w.registry.Calls("Keys")
	for range 50 {
		errtest.Fatal(t, w.verify(t, genuine))
	}
	if n := w.registry.Calls("Keys") - before; n != 0 {
		t.Errorf("known tokens cost %d readings", n)
	}
}

// A verifier that came before the first key takes the first token at once.
func TestVerifierBeforeTheFirstKey(t *testing.T) {
	w := newWorld(t)
	errtest.Is(t, "verify", w.verify(t, "x.y.z"), auth.ErrInvalidToken)
	header := encodePart(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "x"})
	errtest.Is(t, "verify", w.verify(t, header+".e30."+b64.EncodeToString(make([]byte, 64))), auth.ErrInvalidToken)
	errtest.Fatal(t, w.verify(t, w.issue(t)))
}

func FuzzVerify(f *testing.F) {
	for _, seed := range []string{"", "x.y.z", "e30.e30.", "{}",
		"eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IngifQ.e30.AAAA",
		`{"payload":"e30","signatures":[{"protected":"e30","signature":""}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		errtest.Is(t, token, newWorld(t).verify(t, token), auth.ErrInvalidToken)
	})
}
