package webhook

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const (
	signedBody     = `{"id":"e","payload":{}}`
	signedDelivery = "0196f0a0-1111-7222-8333-444455556666"
)

var signedAt = time.Unix(1764082801, 999)

// The values were computed with OpenSSL: printf '%s' "$body" | openssl dgst -sha256 -hmac "$secret".
func TestSign(t *testing.T) {
	const (
		current  = "t=1764082801,v1=713263f0d2ab1a25ff0c14f9aaadf78ef03bd0cba9e4068b28409f16e3d1b409"
		previous = ",v1=2c5d376697441d8df7489bea716ebe6885aec7eda7cc96f8deebc6ec3cf6e517"
	)
	for _, test := range []struct {
		name              string
		secrets           Secrets
		signed, versioned string
	}{
		{"one secret", Secrets{Current: "correct horse"},
			"sha256=3DCCEA3BBDC425596A8AF76F044964D91F27DD9285B846F686A94BC19C8A4091", current},
		{"two secrets", Secrets{Current: "correct horse", Previous: "older"},
			"sha256=1410CE826074AC535ABFCB7A57B2F0E1369A3A01516188793E086322D2DC1C47", current + previous},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := http.Header{}
			Sign(h, signedDelivery, signedAt, []byte(signedBody), test.secrets)
			for name, want := range map[string]string{
				HeaderSignature: test.signed, HeaderVersioned: test.versioned, HeaderDelivery: signedDelivery,
			} {
				difftest.Equal(t, name, want, h.Get(name))
			}
		})
	}
}

func TestVerify(t *testing.T) {
	genuine := http.Header{}
	Sign(genuine, signedDelivery, signedAt, []byte(signedBody), Secrets{Current: "new", Previous: "old"})
	with := func(name, value string) http.Header {
		h := genuine.Clone()
		h.Set(name, value)
		return h
	}
	versioned := genuine.Get(HeaderVersioned)
	for _, test := range []struct {
		name   string
		header http.Header
		body   string
		secret string
		after  time.Duration
		want   error
	}{
		{"new secret", genuine, signedBody, "new", 0, nil},
		{"previous secret", genuine, signedBody, "old", 0, nil},
		{"other secret", genuine, signedBody, "oldest", 0, ErrSignature},
		{"no secret", genuine, signedBody, "", 0, ErrSignature},
		{"another body", genuine, signedBody + " ", "new", 0, ErrSignature},
		{"another delivery", with(HeaderDelivery, strings.ToUpper(signedDelivery)), signedBody, "new", 0, ErrSignature},
		{"no delivery", with(HeaderDelivery, ""), signedBody, "new", 0, ErrNoSignature},
		{"5 minutes late", genuine, signedBody, "new", SignatureTolerance, nil},
		{"6 minutes late", genuine, signedBody, "new", 6 * time.Minute, ErrSignatureTime},
		{"6 minutes early", genuine, signedBody, "new", -6 * time.Minute, ErrSignatureTime},
		{"another time", with(HeaderVersioned, strings.Replace(versioned, "t=1764082801", "t=1764082802", 1)),
			signedBody, "new", 0, ErrSignature},
		{"time twice", with(HeaderVersioned, "t=1764082801,"+versioned), signedBody, "new", 0, ErrNoSignature},
		{"time with a sign", with(HeaderVersioned, strings.Replace(versioned, "t=", "t=+", 1)), signedBody, "new", 0,
			ErrNoSignature},
		{"negative time", with(HeaderVersioned, strings.Replace(versioned, "t=", "t=-", 1)), signedBody, "new", 0,
			ErrNoSignature},
		{"no time", with(HeaderVersioned, versioned[strings.Index(versioned, "v1="):]), signedBody, "new", 0,
			ErrNoSignature},
		{"no signature", with(HeaderVersioned, "t=1764082801"), signedBody, "new", 0, ErrNoSignature},
		{"short signature", with(HeaderVersioned, "t=1764082801,v1=71"), signedBody, "new", 0, ErrNoSignature},
		{"other versions too", with(HeaderVersioned, "v0=x,"+versioned+",v2=y"), signedBody, "new", 0, nil},
		{"empty", with(HeaderVersioned, ""), signedBody, "new", 0, ErrNoSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := signedAt.Truncate(time.Second).Add(test.after)
			errtest.Is(t, "Verify", Verify(test.header, []byte(test.body), test.secret, at), test.want)
		})
	}
}

// A signature is verified by each secret that made it and by no other, and any change of a byte is noticed.
func FuzzSignatures(f *testing.F) {
	f.Add("new", "old", "id", []byte(`{"a":1}`), int64(1764082801), 3)
	f.Add("", "", "id", []byte{}, int64(0), 0)
	f.Add("x", "x", "a.b", []byte("1.2.{}"), int64(253402300799), 5)
	f.Fuzz(func(t *testing.T, current, previous, delivery string, body []byte, unix int64, changed int) {
		if unix < 0 || unix > 1<<40 || delivery == "" || current == "" {
			return
		}
		h, now := http.Header{}, time.Unix(unix, 0)
		Sign(h, delivery, now, body, Secrets{current, previous})
		secrets := []string{current}
		if previous != "" {
			secrets = append(secrets, previous)
		}
		for _, secret := range secrets {
			errtest.Is(t, fmt.Sprintf("secret %q", secret), Verify(h, body, secret, now), nil)
		}
		// HMAC pads keys with zero bytes, so that "x" and "x\x00" are the same key.
		if other := current + "!"; !slices.Contains(secrets, other) {
			errtest.Is(t, "another secret", Verify(h, body, other, now), ErrSignature)
		}
		if len(body) > 0 {
			altered := slices.Clone(body)
			altered[uint(changed)%uint(len(body))] ^= 1
			errtest.Is(t, "a changed body", Verify(h, altered, current, now), ErrSignature)
		}
	})
}

// A value that is read has one time and full signatures, and can be written again.
func FuzzVersionedHeader(f *testing.F) {
	f.Add("t=1,v1=" + strings.Repeat("ab", 32))
	f.Add("v1=" + strings.Repeat("AB", 32) + ",t=1,v1=" + strings.Repeat("00", 32) + ",v2=x")
	f.Add("t=00001,v1=")
	f.Add(",,=,t,v1,t=9223372036854775808")
	f.Fuzz(func(t *testing.T, value string) {
		at, signatures, err := parseVersioned(value)
		if err != nil {
			return
		}
		again := fmt.Sprintf("t=%d", at)
		for _, s := range signatures {
			again += ",v1=" + hex.EncodeToString(s)
		}
		if t2, s2, err := parseVersioned(again); err != nil || t2 != at || len(s2) != len(signatures) {
			t.Errorf("%q was read as %q, which is read as %d and %d signatures, %v", value, again, t2, len(s2), err)
		}
	})
}
