package screeningdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	db    *dynamodb.Client
	table string
	box   box
}

var _ screening.ProviderStore = (*Providers)(nil)

// NewProviders returns the store in a table, which seals keys in a box. Without a box, nil, it can neither store keys
// nor reveal them.
func NewProviders(db *dynamodb.Client, table string, b box) *Providers {
	return &Providers{db, table, b}
}

// CreateProvider implements screening.ProviderStore.
func (s *Providers) CreateProvider(ctx context.Context, p screening.Provider) error {
	p.Version = 1
	item, err := s.seal(ctx, p)
	if err != nil {
		return err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Put: &types.Put{TableName: &s.table, Item: item,
			ConditionExpression: aws.String("attribute_not_exists(part)")}},
		s.count(p.Tenant, 1),
	})
	switch {
	case failed[0]:
		return screening.ErrProviderExists
	case failed[1]:
		return screening.ErrTooManyProviders
	case err != nil:
		return fmt.Errorf("create provider: %w", err)
	}
	return nil
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
func (s *Providers) count(tenant string, change int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: key(tenant, configurationOwner, "providers"),
		UpdateExpression:    aws.String("ADD providers :change"),
		ConditionExpression: aws.String("attribute_not_exists(providers) OR providers <= :most"),
		ExpressionAttributeValues: dynamo.Item{
			":change": dynamo.Number(change), ":most": dynamo.Number(screening.MaxConfiguredProviders - max(change, 0)),
		},
	}}
}

// GetProvider implements screening.ProviderStore.
func (s *Providers) GetProvider(ctx context.Context, tenant, id string) (screening.Provider, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: providerKey(tenant, id), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return screening.Provider{}, fmt.Errorf("get provider: %w", err)
	case out.Item != nil:
		return unmarshalProvider(tenant, out.Item)
	case id == screening.BuiltIn:
		return screening.BuiltInProvider(tenant), nil
	}
	return screening.Provider{}, screening.ErrNotFound
}

// ListProviders implements screening.ProviderStore.
func (s *Providers) ListProviders(ctx context.Context, tenant string) ([]screening.Provider, error) {
	providers := []screening.Provider{screening.BuiltInProvider(tenant)}
	pages := dynamodb.NewQueryPaginator(s.db, queryRows(s.table, tenant+"#"+configurationOwner, providerPrefix))
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list providers: %w", err)
		}
		for _, item := range page.Items {
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
	put := &dynamodb.PutItemInput{TableName: &s.table, Item: item}
	put.ConditionExpression, put.ExpressionAttributeValues = isVersion(previous.Version)
	err = dynamo.RetryConflicts(ctx, func() error {
		_, err := s.db.PutItem(ctx, put)
		return err
	})
	if _, failed := dynamo.ConditionFailed(err); failed {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save provider: %w", err)
	}
	return nil
}

// DeleteProvider implements screening.ProviderStore.
func (s *Providers) DeleteProvider(ctx context.Context, p screening.Provider, settings screening.Settings) error {
	if slices.Contains(settings.ActiveProviders, p.ID) {
		return screening.ErrActive
	}
	condition, values := isVersion(settings.Version)
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.table, Key: providerKey(p.Tenant, p.ID),
			ConditionExpression:       aws.String("version = :version"),
			ExpressionAttributeValues: dynamo.Item{":version": dynamo.Number(p.Version)},
		}},
		{ConditionCheck: &types.ConditionCheck{TableName: &s.table, Key: settingsKey(p.Tenant),
			ConditionExpression: condition, ExpressionAttributeValues: values}},
		s.count(p.Tenant, -1),
	})
	switch {
	case failed[0] || failed[1]:
		return screening.ErrChanged
	case err != nil:
		return fmt.Errorf("delete provider: %w", err)
	}
	return nil
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
