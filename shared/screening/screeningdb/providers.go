package screeningdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

// box encrypts and decrypts the keys of a tenant's adapters.
type box interface {
	Seal(ctx context.Context, tenant, purpose string, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, tenant, purpose string, sealed []byte) ([]byte, error)
}

// purpose equals sealed.ScreeningAdapter.
const purpose = "screening-adapter"

// Providers is the screening.ProviderStore. It has rows in the table of Store, with the keys
//
//	<tenant>#configuration  provider#<id>  a provider as JSON, its sealed keys, its version
//	<tenant>#configuration  providers      how many providers the tenant has, the built-in one not counted
type Providers struct {
	table dynamo.Table
	box   box
}

var _ screening.ProviderStore = (*Providers)(nil)

// NewProviders returns the store in a table, which seals keys in a box. Without a box, nil, it can neither store keys
// nor reveal them.
func NewProviders(db *dynamodb.Client, table string, b box) *Providers {
	return &Providers{dynamo.Table{DB: db, Name: table}, b}
}

// CreateProvider implements screening.ProviderStore.
func (s *Providers) CreateProvider(ctx context.Context, p screening.Provider) error {
	p.Version = 1
	item, err := s.seal(ctx, p)
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, "create provider",
		s.table.Put(item, dynamo.Absent, nil).Or(screening.ErrProviderExists),
		s.count(p.Tenant, 1).Or(screening.ErrTooManyProviders))
}

// seal returns the row of a provider, whose keys it seals unless they are masked.
func (s *Providers) seal(ctx context.Context, p screening.Provider) (dynamo.Item, error) {
	if !p.Adapter.HasMaskedKeys() {
		keys, err := keysOf(p)
		if err != nil {
			return nil, err
		}
		p.Sealed = nil
		if keys != nil {
			defer clear(keys)
			if s.box == nil {
				return nil, errNoBox
			}
			if p.Sealed, err = s.box.Seal(ctx, p.Tenant, purpose, keys); err != nil {
				return nil, err
			}
		}
	}
	return marshalProvider(p)
}

var errNoBox = errors.New("this store of providers cannot handle keys")

// count returns the write that counts a provider more or less. Its condition fails if there would be too many.
func (s *Providers) count(tenant string, change int64) dynamo.Write {
	return s.table.Update(key(tenant, configurationOwner, "providers"), "ADD providers :change",
		"attribute_not_exists(providers) OR providers <= :most", dynamo.Item{":change": dynamo.Number(change),
			":most": dynamo.Number(screening.MaxConfiguredProviders - max(change, 0))})
}

// GetProvider implements screening.ProviderStore.
func (s *Providers) GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error) {
	item, err := s.table.Get(ctx, providerKey(tenant, id))
	switch {
	case err != nil:
		return screening.Provider{}, fmt.Errorf("get provider: %w", err)
	case item != nil:
		return unmarshalProvider(tenant, item)
	case id == screening.BuiltIn:
		return screening.BuiltInProvider(tenant), nil
	}
	return screening.Provider{}, screening.ErrNotFound
}

// ListProviders implements screening.ProviderStore.
func (s *Providers) ListProviders(ctx context.Context, tenant string) ([]screening.Provider, error) {
	providers := []screening.Provider{screening.BuiltInProvider(tenant)}
	for item, err := range s.table.All(ctx, tenant+"#"+configurationOwner, providerPrefix) {
		if err != nil {
			return nil, fmt.Errorf("list providers: %w", err)
		}
		p, err := unmarshalProvider(tenant, item)
		if err != nil {
			return nil, err
		}
		if p.IsBuiltIn() {
			providers[0] = p
			continue
		}
		providers = append(providers, p)
	}
	return providers, nil
}

// SaveProvider implements screening.ProviderStore.
func (s *Providers) SaveProvider(ctx context.Context, previous, p screening.Provider) error {
	p.Version = previous.Version + 1
	item, err := s.seal(ctx, p)
	if err != nil {
		return err
	}
	condition, values := isVersion(previous.Version)
	return s.table.Apply(ctx, "save provider", s.table.Put(item, condition, values).Or(screening.ErrChanged))
}

// DeleteProvider implements screening.ProviderStore.
func (s *Providers) DeleteProvider(ctx context.Context, p screening.Provider, settings screening.Settings) error {
	if slices.Contains(settings.ActiveProviders, p.ID) {
		return screening.ErrActive
	}
	condition, values := isVersion(settings.Version)
	return s.table.Transact(ctx, "delete provider",
		s.table.Delete(providerKey(p.Tenant, p.ID), "version = :version",
			dynamo.Item{":version": dynamo.Number(p.Version)}).Or(screening.ErrChanged),
		s.table.Check(settingsKey(p.Tenant), condition, values).Or(screening.ErrChanged),
		s.count(p.Tenant, -1))
}

// Reveal implements screening.ProviderStore.
func (s *Providers) Reveal(ctx context.Context, p screening.Provider) (screening.Provider, error) {
	if len(p.Sealed) == 0 {
		return p, nil
	}
	if s.box == nil {
		return screening.Provider{}, errNoBox
	}
	keys, err := s.box.Open(ctx, p.Tenant, purpose, p.Sealed)
	if err != nil {
		return screening.Provider{}, fmt.Errorf("open the keys of provider %s: %w", p.ID, err)
	}
	defer clear(keys)
	return withKeys(p, keys)
}

const (
	// configurationOwner is the owner of a tenant's configuration, after the tenant.
	configurationOwner = "configuration"
	providerPrefix     = "provider#"
)

var errProviderTooLarge = fault.Newf(fault.TooLarge, "provider_too_large",
	"The provider with its settings and sets would have more than %d bytes as JSON.", screening.MaxProviderBytes)

// configuredBody is a configured provider as it is stored, without its keys.
type configuredBody struct {
	ID           string                       `json:"id"`
	Name         string                       `json:"name"`
	Adapter      *adapterBody                 `json:"adapter"`
	Fields       []screening.SettingField     `json:"fields"`
	Sets         []screening.ConfigurationSet `json:"sets"`
	ValidityDays int                          `json:"validityDays"`
	CreatedAt    time.Time                    `json:"createdAt"`
	UpdatedAt    time.Time                    `json:"updatedAt"`
	UpdatedBy    string                       `json:"updatedBy"`
}

type adapterBody struct {
	URL                    string `json:"url"`
	IsAuthenticationActive bool   `json:"authenticationActive"`
	HasAuthenticationKey   bool   `json:"hasAuthenticationKey"`
	HasEncryptionKey       bool   `json:"hasEncryptionKey"`
}

// keysBody is the keys of an adapter, as JSON.
type keysBody struct {
	AuthenticationKey string `json:"authenticationKey,omitempty"`
	EncryptionKey     string `json:"encryptionKey,omitempty"`
}

func providerKey(tenant, id string) dynamo.Item {
	return key(tenant, configurationOwner, providerPrefix+id)
}

// marshalProvider returns the row of a provider whose keys are sealed. The fields of the built-in provider, which the
// program defines, are not stored.
func marshalProvider(p screening.Provider) (dynamo.Item, error) {
	body := configuredBody{ID: p.ID, Name: p.Name, Sets: p.Sets, ValidityDays: p.ValidityDays,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, UpdatedBy: p.UpdatedBy}
	if a := p.Adapter; a != nil {
		body.Adapter = &adapterBody{a.URL, a.IsAuthenticationActive, a.AuthenticationKey != "", a.EncryptionKey != ""}
	}
	if !p.IsBuiltIn() {
		body.Fields = p.Fields
	}
	item, err := marshal(providerKey(p.Tenant, p.ID), body, p.Version, screening.MaxProviderBytes, errProviderTooLarge)
	if err == nil && len(p.Sealed) > 0 {
		item["sealed"] = dynamo.Binary(p.Sealed)
	}
	return item, err
}

// unmarshalProvider reads a provider with masked keys.
func unmarshalProvider(tenant string, item dynamo.Item) (screening.Provider, error) {
	body, err := unmarshalBody[configuredBody](item)
	if err != nil {
		return screening.Provider{}, err
	}
	p := screening.Provider{Tenant: tenant, ID: body.ID, Name: body.Name, Fields: body.Fields, Sets: body.Sets,
		ValidityDays: body.ValidityDays, CreatedAt: body.CreatedAt, UpdatedAt: body.UpdatedAt,
		UpdatedBy: body.UpdatedBy,
		Version:   dynamo.NumberAttribute(item, "version"), Sealed: dynamo.BinaryAttribute(item, "sealed")}
	if a := body.Adapter; a != nil {
		p.Adapter = &screening.Adapter{URL: a.URL, IsAuthenticationActive: a.IsAuthenticationActive,
			AuthenticationKey: maskIf(a.HasAuthenticationKey), EncryptionKey: maskIf(a.HasEncryptionKey)}
	}
	if p.IsBuiltIn() {
		p.Fields = screening.BuiltInProvider(tenant).Fields
	}
	return p, nil
}

func maskIf(isStored bool) externalauth.Secret {
	if isStored {
		return externalauth.Mask
	}
	return ""
}

// keysOf returns the keys of a provider as JSON, nil if it has none.
func keysOf(p screening.Provider) ([]byte, error) {
	if p.Adapter == nil || p.Adapter.AuthenticationKey == "" && p.Adapter.EncryptionKey == "" {
		return nil, nil
	}
	return json.Marshal(keysBody{p.Adapter.AuthenticationKey.Reveal(), p.Adapter.EncryptionKey.Reveal()})
}

// withKeys returns a provider with the keys that keysOf has written for it.
func withKeys(p screening.Provider, keys []byte) (screening.Provider, error) {
	var body keysBody
	if err := json.Unmarshal(keys, &body); err != nil || p.Adapter == nil {
		return screening.Provider{}, fmt.Errorf("read the keys of provider %s: not the keys of an adapter", p.ID)
	}
	a := *p.Adapter
	a.AuthenticationKey = externalauth.Secret(body.AuthenticationKey)
	a.EncryptionKey = externalauth.Secret(body.EncryptionKey)
	p.Adapter = &a
	return p, nil
}
