package outboundtest

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/access/auth/fakekms"
	"sluice/shared/connect/outbound"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// NewKMS starts a KMS and returns a client of it.
func NewKMS(t testing.TB) *kms.Client {
	t.Helper()
	fake := errtest.Must(fakekms.New(t.TempDir()))(t)
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	return kms.New(kms.Options{
		Region: "us-east-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), RetryMaxAttempts: 1,
	})
}

// NewClientKey makes a key in KMS for a tenant. A certificate is still to be installed.
func NewClientKey(t testing.TB, k *kms.Client, tenant string) outbound.ClientKey {
	t.Helper()
	created := errtest.Must(k.CreateKey(t.Context(), &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify,
	}))(t)
	public := errtest.Must(k.GetPublicKey(t.Context(), &kms.GetPublicKeyInput{KeyId: created.KeyMetadata.KeyId}))(t)
	return outbound.ClientKey{
		Tenant: tenant, ID: "kid-" + tenant, KMSKey: aws.ToString(created.KeyMetadata.Arn), PublicKey: public.PublicKey,
		CreatedAt: Now,
	}
}

// Certify returns a client key with a certificate of the authority. Of l, the usage is ClientAuth by default.
func (a *Authority) Certify(k outbound.ClientKey, l Leaf) outbound.ClientKey {
	a.t.Helper()
	public := errtest.Must(k.ParsePublicKey())(a.t)
	if l.Usage == 0 {
		l.Usage = x509.ExtKeyUsageClientAuth
	}
	k.Certificates, k.InstalledAt = a.chainOf(a.IssueFor(l, public)), Now
	return k
}

// Keys is an outbound.KeyStore in memory.
type Keys struct {
	mu   sync.Mutex
	keys map[string]outbound.ClientKey
}

var _ outbound.KeyStore = (*Keys)(nil)

// NewKeys returns a store with some keys.
func NewKeys(keys ...outbound.ClientKey) *Keys {
	s := &Keys{keys: map[string]outbound.ClientKey{}}
	for _, k := range keys {
		s.keys[k.Tenant] = k
	}
	return s
}

// ClientKey implements outbound.KeyStore.
func (s *Keys) ClientKey(_ context.Context, tenant string) (outbound.ClientKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.keys[tenant]
	if !ok {
		return k, outbound.ErrNoClientKey
	}
	return k, nil
}

// AllClientKeys implements outbound.KeyStore.
func (s *Keys) AllClientKeys(context.Context) ([]outbound.ClientKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []outbound.ClientKey{}
	for _, k := range s.keys {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b outbound.ClientKey) int { return strings.Compare(a.Tenant, b.Tenant) })
	return all, nil
}

// CreateClientKey implements outbound.KeyStore.
func (s *Keys) CreateClientKey(_ context.Context, k outbound.ClientKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.keys[k.Tenant]; ok {
		return outbound.ErrClientKeyExists
	}
	s.keys[k.Tenant] = k
	return nil
}

// InstallCertificates implements outbound.KeyStore.
func (s *Keys) InstallCertificates(_ context.Context, k outbound.ClientKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.keys[k.Tenant]
	if !ok || stored.ID != k.ID {
		return outbound.ErrNoClientKey
	}
	stored.Certificates, stored.InstalledAt = k.Certificates, k.InstalledAt
	s.keys[k.Tenant] = stored
	return nil
}

// FailingSigner is a KMS that does not sign.
type FailingSigner struct{}

// Sign implements kmskey.API.
func (FailingSigner) Sign(context.Context, *kms.SignInput, ...func(*kms.Options)) (*kms.SignOutput, error) {
	return nil, errors.New("AccessDeniedException: arn:aws:kms:eu-west-1:123456789012:key/leak")
}

// Conform tests an outbound.KeyStore. open returns an empty one.
func Conform(t *testing.T, open func(t *testing.T) outbound.KeyStore) {
	ctx, s := t.Context(), open(t)
	first := outbound.ClientKey{Tenant: "a", ID: "1", KMSKey: "arn", PublicKey: []byte("public"), CreatedAt: Now}
	second := first
	second.Tenant, second.ID = "b", "2"
	wantKey := func(want outbound.ClientKey) {
		t.Helper()
		got, err := s.ClientKey(ctx, want.Tenant)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("key of the tenant %s: %v, (-want +got)\n%s", want.Tenant, err, diff)
		}
	}
	errtest.Is(t, "before there is a key", errtest.Of(s.ClientKey(ctx, "a")), outbound.ErrNoClientKey)
	errtest.Is(t, "a certificate without a key", s.InstallCertificates(ctx, first), outbound.ErrNoClientKey)
	for _, k := range []outbound.ClientKey{second, first} {
		errtest.Fatal(t, s.CreateClientKey(ctx, k))
		wantKey(k)
	}
	again := first
	again.ID = "3"
	errtest.Is(t, "a second key of one tenant", s.CreateClientKey(ctx, again), outbound.ErrClientKeyExists)
	again.Certificates = [][]byte{[]byte("x")}
	errtest.Is(t, "a certificate of another key", s.InstallCertificates(ctx, again), outbound.ErrNoClientKey)
	wantKey(first)
	for _, certificates := range [][][]byte{{[]byte("leaf"), []byte("issuer")}, {[]byte("renewed")}} {
		first.Certificates, first.InstalledAt = certificates, Now.AddDate(0, 0, len(certificates))
		for range 2 {
			errtest.Fatal(t, s.InstallCertificates(ctx, first))
		}
		wantKey(first)
	}
	all := errtest.Must(s.AllClientKeys(ctx))(t)
	difftest.Equal(t, "all keys", []outbound.ClientKey{first, second}, all, cmpopts.EquateEmpty())
}
