package screeningdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
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
