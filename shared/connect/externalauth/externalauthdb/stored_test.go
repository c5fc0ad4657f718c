package externalauthdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/sealed"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

// openBox writes the plaintext with the tenant and the purpose before it, so that golden files can be read.
type openBox struct{}

func (openBox) Seal(_ context.Context, tenant, purpose string, plaintext []byte) ([]byte, error) {
	return []byte(tenant + " " + purpose + " " + string(plaintext)), nil
}

func (openBox) Open(_ context.Context, tenant, purpose string, text []byte) ([]byte, error) {
	prefix := tenant + " " + purpose + " "
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return nil, errors.New("another tenant's or purpose's")
	}
	return text[len(prefix):], nil
}

// storedPEM is a certificate that is valid until 2036, and storedThumbprint its SHA-256.
const (
	storedPEM = `-----BEGIN CERTIFICATE-----
MIIBhzCCAS6gAwIBAgIGHy49TFtqMAoGCCqGSM49BAMCMDMxFTATBgNVBAoTDEV4
YW1wbGUgQmFuazEaMBgGA1UEAxMRaG9va3MuZXhhbXBsZS5jb20wHhcNMjYwMTAx
MDAwMDAwWhcNMzYwMTAxMDAwMDAwWjAzMRUwEwYDVQQKEwxFeGFtcGxlIEJhbmsx
GjAYBgNVBAMTEWhvb2tzLmV4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEWFOrknz4yYNfNGHpra56VBYgNUGBYQL8ZL9aqDn3PUMKUc9LaGe50okR
jili62TmCRHuXx2dw9tBnQmcpehWYKMuMCwwDAYDVR0TAQH/BAIwADAcBgNVHREE
FTATghFob29rcy5leGFtcGxlLmNvbTAKBggqhkjOPQQDAgNHADBEAiBbHeOMV+bJ
+nlQsg6Vjpq72EBL9zmG/oT5CtfAEHxfLQIgGUAbuQyrfanXOq+akYY2GBF0jPH/
hnw85jPbTAllih8=
-----END CERTIFICATE-----
`
	storedThumbprint = "3AF6D3A08C13AAFE61945A0A71D6EF8E971888F755498AA318B67F002A4FDA3C"
)

// storedConfiguration has every field set.
func storedConfiguration() externalauth.Configuration {
	return externalauth.Configuration{
		ID: "7c2f1a52-3f6e-4b1e-9d0a-000000000002", Tenant: storedTenant, URL: "https://Hooks.example.com/a/",
		IsMTLSEnabled: true,
		EndpointCertificate: &externalauth.Certificate{PEM: storedPEM, NextPEM: "next pem",
			Mode: externalauth.PinLeafThumbprint},
		Headers: []externalauth.NameValue{{Name: "X-Key", Value: "key"}},
		OAuth: &externalauth.OAuth{
			URL: "https://id.example.com/token", ClientID: "client", ClientSecret: "secret",
			UseBasicAuthentication: true,
			UseEndpointMTLS:        true, IsMTLSEnabled: true, IsJWTClientAssertionEnabled: true,
			EndpointCertificate: &externalauth.Certificate{IsPublicCA: true, PEM: "signer pem",
				NextPEM: "next signer pem", Mode: externalauth.SignerChainValidationOnly},
			Headers: []externalauth.NameValue{{Name: "X-Token-Key", Value: "token key"}},
			FormValues: []externalauth.NameValue{{Name: "scope", Value: "a b"},
				{Name: "password", Value: "form secret"}},
		},
		Noticed:   map[string]time.Time{storedThumbprint: at},
		CreatedAt: at, UpdatedAt: at.Add(time.Hour), UpdatedBy: "client ID", Version: 1,
	}
}

// TestStoredConfigurations pins the stored items: one golden item for each kind of row, with every attribute set. It
// writes through the store and compares the items, and it reads the golden items through the store and compares the
// values. Renaming a Go field so that a stored name changes fails both.
func TestStoredConfigurations(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := externalauthdb.New(client, "test-externalauth", openBox{})
	want := storedConfiguration()
	errtest.Fatal(t, s.Create(ctx, want))
	dynamotest.CompareStored(t, client, "test-externalauth", "configurations")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-externalauth", "configurations")
	s = externalauthdb.New(client, "test-externalauth", openBox{})
	got, err := s.Get(ctx, storedTenant, want.ID)
	if err == nil {
		got, err = s.Reveal(ctx, got)
	}
	errtest.Fatal(t, err)
	difftest.Equal(t, "result", want, got, cmpopts.IgnoreFields(externalauth.Configuration{}, "Sealed"))
	errtest.Is(t, "a configuration with the stored URL",
		s.Create(ctx, externalauth.Configuration{ID: "x", Tenant: storedTenant, URL: "https://hooks.example.com/a"}),
		externalauth.ErrDuplicateURL)
}

// A configuration stored before there were modes has the default one.
func TestStoredWithoutMode(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-externalauth", "without-mode")
	list := errtest.Must(externalauthdb.New(client, "test-externalauth", openBox{}).List(ctx, storedTenant))(t)
	difftest.Equal(t, "configurations", 1, len(list))
	for _, c := range []*externalauth.Certificate{list[0].EndpointCertificate, list[0].OAuth.EndpointCertificate} {
		difftest.Equal(t, "the mode", externalauth.PinLeafThumbprint, c.Mode)
	}
}

// A write is conditional on the version that was read.
func TestChangedConfigurations(t *testing.T) {
	ctx := t.Context()
	s := externalauthdb.New(dynamotest.Start(t), "test-externalauth", openBox{})
	first := storedConfiguration()
	errtest.Fatal(t, s.Create(ctx, first))
	second := first
	second.URL = "https://hooks.example.com/b"
	errtest.Fatal(t, s.Save(ctx, first, second))
	errtest.Is(t, "saving over another version", s.Save(ctx, first, second), externalauth.ErrChanged)
	errtest.Is(t, "deleting another version", s.Delete(ctx, first), externalauth.ErrChanged)
	got, err := s.Get(ctx, storedTenant, first.ID)
	if err != nil || got.Version != 2 || got.URL != second.URL {
		t.Errorf("read version %d of %s, %v", got.Version, got.URL, err)
	}
	errtest.Fatal(t, s.Delete(ctx, got))
	errtest.Is(t, "deleting twice", s.Delete(ctx, got), externalauth.ErrChanged)
	errtest.Is(t, "reading a deleted configuration", errtest.Of(s.Get(ctx, storedTenant, first.ID)),
		externalauth.ErrNotFound)
}

// A call gets the configuration that serves its URL, with its secrets, and no other tenant's.
func TestForURL(t *testing.T) {
	ctx := t.Context()
	s := externalauthdb.New(dynamotest.Start(t), "test-externalauth", openBox{})
	errtest.Fatal(t, s.Create(ctx, storedConfiguration()))
	got, ok, err := s.ForURL(ctx, storedTenant, "https://hooks.example.com/a/b?c")
	if err != nil || !ok || got.OAuth.ClientSecret.Reveal() != "secret" || got.Headers[0].Value.Reveal() != "key" {
		t.Errorf("got %+v, %t, %v; want the configuration with its secrets", got, ok, err)
	}
	for _, c := range [][2]string{{storedTenant, "https://hooks.example.com/ab"},
		{"another", "https://hooks.example.com/a/b"}} {
		if got, ok, err := s.ForURL(ctx, c[0], c[1]); ok || err != nil || got.ID != "" {
			t.Errorf("%v: got %+v, %t, %v; want none", c, got, ok, err)
		}
	}
	if _, ok, err := s.ForURL(ctx, storedTenant, "http://hooks.example.com/a"); ok || err == nil {
		t.Errorf("a URL without a canonical form: %t, %v; want an error", ok, err)
	}
}

// The purpose is the one that policies name.
func TestPurpose(t *testing.T) {
	c := storedConfiguration()
	s := externalauthdb.New(dynamotest.Start(t), "test-externalauth", openBox{})
	errtest.Fatal(t, s.Create(t.Context(), c))
	got := errtest.Must(s.Get(t.Context(), storedTenant, c.ID))(t)
	errtest.Fatal(t, errtest.Of((openBox{}).Open(t.Context(), storedTenant, sealed.ExternalAuthentication, got.Sealed)))
}

// The index has the due notices of all tenants, until they are sent or the configuration has changed.
func TestDueNotices(t *testing.T) {
	ctx := t.Context()
	s := externalauthdb.New(dynamotest.Start(t), "test-externalauth", nil)
	end := time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)
	first := end.Add(-30 * 24 * time.Hour)
	newConfiguration := func(tenant, id, pem string) externalauth.Configuration {
		c := externalauth.Configuration{ID: id, Tenant: tenant, URL: "https://" + id, Version: 1,
			EndpointCertificate: &externalauth.Certificate{PEM: pem, Mode: externalauth.PinLeafThumbprint}}
		c.CarryOverNotices(nil, at)
		errtest.Fatal(t, s.Create(ctx, c))
		return c
	}
	a, b := newConfiguration("t1", "a", storedPEM), newConfiguration("t2", "b", storedPEM)
	newConfiguration("t1", "none", "")
	expectDue := func(now time.Time, want ...string) {
		t.Helper()
		var got []string
		errtest.Fatal(t, s.EachDue(ctx, now, func(c externalauth.Configuration) error {
			got = append(got, c.Tenant+" "+c.ID)
			return nil
		}))
		slices.Sort(got)
		difftest.Equal(t, fmt.Sprintf("due at %v", now), want, got)
	}
	expectDue(first.Add(-time.Second))
	expectDue(first, "t1 a", "t2 b")
	a.Noticed = map[string]time.Time{storedThumbprint: first}
	errtest.Fatal(t, s.SetNoticed(ctx, a))
	b.Version = 7 // as if it had changed
	b.Noticed = map[string]time.Time{storedThumbprint: first}
	errtest.Fatal(t, s.SetNoticed(ctx, b))
	expectDue(first, "t2 b")
	expectDue(end, "t1 a", "t2 b")
	a.Noticed = map[string]time.Time{storedThumbprint: end}
	errtest.Fatal(t, s.SetNoticed(ctx, a))
	expectDue(end.AddDate(1, 0, 0), "t2 b")
	got, err := s.Get(ctx, "t1", "a")
	if err != nil || !got.Noticed[storedThumbprint].Equal(end) || got.Version != 1 {
		t.Errorf("stored %v, version %d, %v", got.Noticed, got.Version, err)
	}
}
