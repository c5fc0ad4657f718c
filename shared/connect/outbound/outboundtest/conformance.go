package outboundtest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/connect/outbound"
	"sluice/shared/kit/errtest"
)

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
	if _, err := s.ClientKey(ctx, "a"); !errors.Is(err, outbound.ErrNoClientKey) {
		t.Errorf("before there is a key: %v", err)
	}
	if err := s.InstallCertificates(ctx, first); !errors.Is(err, outbound.ErrNoClientKey) {
		t.Errorf("a certificate without a key: %v", err)
	}
	for _, k := range []outbound.ClientKey{second, first} {
		errtest.Fatal(t, s.CreateClientKey(ctx, k))
		wantKey(k)
	}
	again := first
	again.ID = "3"
	if err := s.CreateClientKey(ctx, again); !errors.Is(err, outbound.ErrClientKeyExists) {
		t.Errorf("a second key of one tenant: %v", err)
	}
	again.Certificates = [][]byte{[]byte("x")}
	if err := s.InstallCertificates(ctx, again); !errors.Is(err, outbound.ErrNoClientKey) {
		t.Errorf("a certificate of another key: %v", err)
	}
	wantKey(first)
	for _, certificates := range [][][]byte{{[]byte("leaf"), []byte("issuer")}, {[]byte("renewed")}} {
		first.Certificates, first.InstalledAt = certificates, Now.AddDate(0, 0, len(certificates))
		for range 2 {
			errtest.Fatal(t, s.InstallCertificates(ctx, first))
		}
		wantKey(first)
	}
	all, err := s.AllClientKeys(ctx)
	if diff := cmp.Diff([]outbound.ClientKey{first, second}, all, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("all keys: %v, (-want +got)\n%s", err, diff)
	}
}
