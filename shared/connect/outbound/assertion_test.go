package outbound_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/jose"
	"sluice/shared/kit/kmskey"
)

// A client assertion is signed by the tenant's key in KMS, and the published key set verifies it.
func TestClientAssertion(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	kms := outboundtest.NewKMS(t)
	key := outboundtest.NewClientKey(t, kms, tenant)
	keys := outboundtest.NewKeys(key, outboundtest.NewClientKey(t, kms, "another tenant"))
	s.client.KMS, s.client.Keys, s.client.NewID = kms, keys, func() string { return "the ID" }
	s.configuration.OAuth.IsJWTClientAssertionEnabled = true
	s.configuration.OAuth.UseBasicAuthentication = true // has no effect then
	s.call(t, http.StatusNoContent)
	form := s.issuer.forms[0]
	assertion := form.Get("client_assertion")
	form.Del("client_assertion")
	difftest.Equal(t, "form", url.Values{"grant_type": {"client_credentials"}, "client_id": {"the client"},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}, form)
	difftest.Equal(t, "the request has the header Authorization", "", s.issuer.headers[0].Get("Authorization"))
	all := errtest.Must(keys.AllClientKeys(t.Context()))(t)
	set := errtest.Must(outbound.KeySet(all))(t)
	header, claims := verifyAssertion(t, assertion, set)
	if want := map[string]any{"alg": "ES256", "typ": "JWT", "kid": key.ID}; !cmp.Equal(header, want) {
		t.Errorf("got the header %v, want %v", header, want)
	}
	now := float64(outboundtest.Now.Unix())
	difftest.Equal(t, "claims", map[string]any{"iss": "the client", "sub": "the client", "aud": s.issuer.URL + "/token",
		"jti": "the ID", "iat": now, "exp": now + 60}, claims)

	// With a certificate its thumbprint is named.
	certified := outboundtest.NewRoot(t, "CA").Certify(key, outboundtest.Leaf{})
	errtest.Fatal(t, keys.InstallCertificates(t.Context(), certified))
	s.configuration.Version++
	s.call(t, http.StatusNoContent)
	header, _ = verifyAssertion(t, s.issuer.forms[1].Get("client_assertion"), set)
	sum := sha256.Sum256(certified.Certificates[0])
	if want := base64.RawURLEncoding.EncodeToString(sum[:]); header["x5t#S256"] != want {
		t.Errorf("got the thumbprint %v, want %s", header["x5t#S256"], want)
	}
}

// verifyAssertion verifies a JWS by a key set and returns its header and claims.
func verifyAssertion(t *testing.T, text string, set jose.JWKSet) (header, claims map[string]any) {
	t.Helper()
	decode := func(part string) []byte {
		return errtest.Must(base64.RawURLEncoding.DecodeString(part))(t)
	}
	parts := strings.Split(text, ".")
	difftest.Equal(t, fmt.Sprintf("%q is not a JWS", text), 3, len(parts))
	errtest.Fatal(t, json.Unmarshal(decode(parts[0]), &header))
	errtest.Fatal(t, json.Unmarshal(decode(parts[1]), &claims))
	digest, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), decode(parts[2])
	for _, k := range set.Keys {
		if k.KeyID != header["kid"] {
			continue
		}
		number := func(raw []byte) *big.Int { return new(big.Int).SetBytes(raw) }
		public := errtest.Must(ecdsa.ParseUncompressedPublicKey(elliptic.P256(),
			slices.Concat([]byte{4}, decode(k.X), decode(k.Y))))(t)
		if len(signature) != 64 || !ecdsa.Verify(public, digest[:], number(signature[:32]), number(signature[32:])) {
			t.Error("the signature is wrong")
		}
		return header, claims
	}
	t.Fatalf("the key set has no key %v", header["kid"])
	return nil, nil
}

// Without a key that can sign no token is asked for.
func TestClientAssertionFailsClosed(t *testing.T) {
	t.Parallel()
	kms := outboundtest.NewKMS(t)
	key := outboundtest.NewClientKey(t, kms, tenant)
	broken := key
	broken.PublicKey = []byte("not a key")
	for _, test := range []struct {
		name string
		keys outbound.ClientKeys
		kms  kmskey.API
	}{
		{"no store", nil, kms},
		{"no KMS", outboundtest.NewKeys(key), nil},
		{"no key", outboundtest.NewKeys(), kms},
		{"KMS fails", outboundtest.NewKeys(key), outboundtest.FailingSigner{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.client.Keys, s.client.KMS = test.keys, test.kms
			s.configuration.OAuth = &externalauth.OAuth{URL: s.issuer.URL, ClientID: "c", ClientSecret: "s",
				IsJWTClientAssertionEnabled: true}
			_, err := s.client.Do(t.Context(), tenant, newRequest(t, s.receiver.URL, "{}"))
			wantReason(t, err, outbound.ClientCertificateUnusable)
			s.wantCounts(t, 0, 0)
		})
	}
	errtest.Fails(t, "a key that cannot be read is published",
		errtest.Of(outbound.KeySet([]outbound.ClientKey{broken})))
}
