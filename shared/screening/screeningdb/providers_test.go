package screeningdb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/sealed"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

// openBox writes the plaintext after the tenant and the purpose, so that golden files can be read.
type openBox struct{}

func (openBox) Seal(_ context.Context, tenant, purpose string, plaintext []byte) ([]byte, error) {
	return []byte(tenant + " " + purpose + " " + string(plaintext)), nil
}

func (openBox) Open(_ context.Context, tenant, purpose string, text []byte) ([]byte, error) {
	prefix := tenant + " " + sealed.ScreeningAdapter + " "
	if purpose != sealed.ScreeningAdapter || len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return nil, errors.New("another tenant's or purpose's")
	}
	return text[len(prefix):], nil
}

func newProviders(t *testing.T) *screeningdb.Providers {
	t.Helper()
	return screeningdb.NewProviders(dynamotest.Start(t), "test-screenings", openBox{})
}

// storedProvider has every field set.
func storedProvider(id string) screening.Provider {
	return screening.Provider{
		Tenant: tenant, ID: id, Name: "Acme", Version: 1, ValidityDays: 365, CreatedAt: now, UpdatedAt: now,
		UpdatedBy: "client",
		Adapter: &screening.Adapter{URL: "https://adapter.example.com/a", IsAuthenticationActive: true,
			AuthenticationKey: "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=",
			EncryptionKey:     "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
		Fields: []screening.SettingField{{ID: "fuzzy", Name: "Fuzzy", Type: screening.Toggle},
			{ID: "depth", Name: "Depth", Type: screening.TextInput, EnabledBy: "fuzzy", IsMandatory: true}},
		Sets: []screening.ConfigurationSet{{ID: "set", Name: "Default", Description: "d",
			Settings: []screening.Setting{{FieldID: "fuzzy", Value: "true"}, {FieldID: "depth", Value: "3"}}}},
	}
}

func masked(p screening.Provider) screening.Provider {
	a := *p.Adapter
	a.AuthenticationKey, a.EncryptionKey = a.AuthenticationKey.Masked(), a.EncryptionKey.Masked()
	p.Adapter = &a
	return p
}

var withoutSealed = cmpopts.IgnoreFields(screening.Provider{}, "Sealed")

// TestStoredProviders pins the stored format of providers, as TestStoredScreenings does.
func TestStoredProviders(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), dynamotest.Start(t)
	s := screeningdb.NewProviders(client, "test-screenings", openBox{})
	want := storedProvider("acme")
	errtest.Fatal(t, s.CreateProvider(ctx, want))
	builtIn := screening.BuiltInProvider(tenant)
	builtIn.Sets[0].Settings = []screening.Setting{{FieldID: "threshold", Value: "90"}}
	errtest.Fatal(t, s.SaveProvider(ctx, screening.BuiltInProvider(tenant), builtIn))
	builtIn.Version = 1
	dynamotest.CompareStored(t, client, "test-screenings", "providers")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-screenings", "providers")
	s = screeningdb.NewProviders(client, "test-screenings", openBox{})
	got := errtest.Must(s.GetProvider(ctx, tenant, "acme"))(t)
	difftest.Equal(t, "masked", masked(want), got, withoutSealed)
	got = errtest.Must(s.Reveal(ctx, got))(t)
	difftest.Equal(t, "revealed", want, got, withoutSealed)
	all := errtest.Must(s.ListProviders(ctx, tenant))(t)
	difftest.Equal(t, "list", []screening.Provider{builtIn, masked(want)}, all, withoutSealed)
}

// Keys that are masked stay as they are stored, new ones replace them, and a store without a box handles none.
func TestKeysOfProviders(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s := screeningdb.NewProviders(db, "test-screenings", openBox{})
	p := storedProvider("acme")
	errtest.Fatal(t, s.CreateProvider(ctx, p))
	stored, err := s.GetProvider(ctx, tenant, "acme")
	errtest.Fatal(t, err)
	changed := stored
	changed.Name = "Acme 2"
	withoutBox := screeningdb.NewProviders(db, "test-screenings", nil)
	errtest.Fatal(t, withoutBox.SaveProvider(ctx, stored, changed))
	errtest.Is(t, "the same change again", s.SaveProvider(ctx, stored, changed), screening.ErrChanged)
	if stored, err = s.GetProvider(ctx, tenant, "acme"); err != nil || stored.Name != "Acme 2" || stored.Version != 2 {
		t.Fatalf("got %+v, %v, want the change at version 2", stored, err)
	}
	revealed, err := s.Reveal(ctx, stored)
	if err != nil || revealed.Adapter.EncryptionKey.Reveal() != p.Adapter.EncryptionKey.Reveal() {
		t.Errorf("after a change with masked keys: %v, got another key", err)
	}
	errtest.Fails(t, "a store without a box reveals keys", errtest.Of(withoutBox.Reveal(ctx, stored)))
	revealed.Adapter.EncryptionKey = ""
	errtest.Fails(t, "a store without a box stores keys", withoutBox.SaveProvider(ctx, stored, revealed))
	errtest.Fatal(t, s.SaveProvider(ctx, stored, revealed))
	stored, err = s.GetProvider(ctx, tenant, "acme")
	if err != nil || stored.Adapter.EncryptionKey != "" || stored.Adapter.AuthenticationKey != externalauth.Mask {
		t.Errorf("without the encryption key: got %+v, %v", stored.Adapter, err)
	}
}

// Of creations of one provider at the same time exactly one succeeds, a tenant has no more than its number of them, and
// a deletion makes room.
func TestProvidersAreCounted(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), newProviders(t)
	var wg sync.WaitGroup
	created := make([]int, 3)
	for w := range created {
		wg.Go(func() {
			for i := range screening.MaxConfiguredProviders + 1 {
				switch err := s.CreateProvider(ctx, storedProvider(fmt.Sprintf("p%02d", i))); {
				case err == nil:
					created[w]++
				case !errors.Is(err, screening.ErrProviderExists) && !errors.Is(err, screening.ErrTooManyProviders):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := s.ListProviders(ctx, tenant)
	sum := created[0] + created[1] + created[2]
	if err != nil || len(all) != screening.MaxConfiguredProviders+1 || sum != screening.MaxConfiguredProviders {
		t.Fatalf("got %d providers of %d creations, %v, want %d and the built-in one", len(all), sum, err,
			screening.MaxConfiguredProviders)
	}
	errtest.Is(t, "one too many", s.CreateProvider(ctx, storedProvider("other")), screening.ErrTooManyProviders)
	last := all[len(all)-1]
	for _, want := range []error{nil, screening.ErrChanged} {
		errtest.Is(t, "delete", s.DeleteProvider(ctx, last, screening.Settings{}), want)
	}
	errtest.Is(t, "after a deletion", s.CreateProvider(ctx, storedProvider("other")), nil)
}

// A provider that is too large is refused before it is stored, at the byte.
func TestProvidersAreBounded(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), newProviders(t)
	p := storedProvider("acme")
	fits := 0
	for _, size := range []int{60_000, screening.MaxProviderBytes} {
		p.Sets[0].Description = strings.Repeat("x", size)
		err := s.CreateProvider(ctx, p)
		var refused *fault.Error
		switch {
		case err == nil:
			fits++
		case !errors.As(err, &refused) || refused.Code != "provider_too_large":
			t.Errorf("%d bytes: got %v, want provider_too_large", size, err)
		}
	}
	difftest.Equal(t, "of two sizes fit", 1, fits)
	errtest.Is(t, "an unknown provider", errtest.Of(s.GetProvider(ctx, tenant, "nobody")), screening.ErrNotFound)
	if got, err := s.GetProvider(ctx, tenant, screening.BuiltIn); err != nil || !got.IsBuiltIn() || got.Version != 0 {
		t.Errorf("the built-in provider: got %+v, %v", got, err)
	}
}
