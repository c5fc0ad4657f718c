package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authtest"
	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
)

const (
	issuerURL = "https://issuer.test/live"
	audience  = "sluice"
	lifetime  = time.Hour
)

// vault signs as KMS does: a digest in, DER out.
type vault struct {
	mu    sync.Mutex
	keys  map[string]*ecdsa.PrivateKey
	fail  error
	signs map[string]int
}

func newVault(ids ...string) *vault {
	v := &vault{keys: map[string]*ecdsa.PrivateKey{}, signs: map[string]int{}}
	for _, id := range ids {
		v.keys[id], _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	return v
}

func (v *vault) Sign(_ context.Context, in *kms.SignInput, _ ...func(*kms.Options)) (*kms.SignOutput, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail != nil {
		return nil, v.fail
	}
	v.signs[*in.KeyId]++
	signature, err := ecdsa.SignASN1(rand.Reader, v.keys[*in.KeyId], in.Message)
	return &kms.SignOutput{Signature: signature}, err
}

func (v *vault) GetPublicKey(_ context.Context, in *kms.GetPublicKeyInput,
	_ ...func(*kms.Options)) (*kms.GetPublicKeyOutput, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail != nil {
		return nil, v.fail
	}
	der, err := x509.MarshalPKIXPublicKey(v.keys[*in.KeyId].Public())
	return &kms.GetPublicKeyOutput{PublicKey: der}, err
}

// world is an issuer and a verifier over one registry, with one tenant and one client.
type world struct {
	registry *authtest.Memory
	vault    *vault
	issuer   *auth.Issuer
	verifier *auth.Verifier
	now      time.Time
	tenant   auth.Tenant
	client   auth.Client
	secret   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{registry: authtest.NewMemory(), vault: newVault("first", "second"),
		now: time.Date(2026, 11, 26, 8, 15, 0, 500e6, time.UTC)}
	clock := func() time.Time { return w.now }
	w.issuer = auth.NewIssuer(w.registry, w.vault, "first", audience, lifetime)
	w.issuer.Now = clock
	w.verifier = auth.NewVerifier(w.registry, audience, clock)
	w.tenant = auth.Tenant{ID: uuid.NewString()}
	var hash auth.SecretHash
	w.secret, hash = auth.NewSecret()
	w.client = auth.Client{ID: uuid.NewString(), Tenant: w.tenant.ID, Secret: hash, Permissions: permission.All()}
	errtest.Fatal(t, errors.Join(w.registry.CreateTenant(t.Context(), w.tenant),
		w.registry.CreateClient(t.Context(), w.client)))
	return w
}

func (w *world) issue(t *testing.T) string {
	t.Helper()
	return errtest.Must(w.issuer.Issue(t.Context(), issuerURL, w.client.ID, w.secret, "tenant/"+w.tenant.ID))(t)
}

func (w *world) verify(t *testing.T, token string) error {
	t.Helper()
	_, err := w.verifier.Verify(t.Context(), issuerURL, token)
	return err
}

func (w *world) rotate(t *testing.T, kmsKey string) {
	t.Helper()
	keys, version, err := w.registry.Keys(t.Context())
	errtest.Fatal(t, err)
	next := errtest.Must(auth.NewKey(t.Context(), w.vault, kmsKey))(t)
	errtest.Fatal(t, w.registry.ReplaceKeys(t.Context(), auth.PlanRotation(keys, next, w.now, lifetime), version))
}

func (w *world) published(t *testing.T) int {
	t.Helper()
	set := errtest.Must(w.issuer.KeySet(t.Context()))(t)
	text := errtest.Must(json.Marshal(set))(t)
	var jwks struct{ Keys []map[string]string }
	errtest.Fatal(t, json.Unmarshal(text, &jwks))
	for _, k := range jwks.Keys {
		if k["kty"] != "EC" || k["crv"] != "P-256" || k["alg"] != "ES256" || k["use"] != "sig" || k["kid"] == "" ||
			k["d"] != "" {
			t.Errorf("published key %v", k)
		}
	}
	return len(jwks.Keys)
}
