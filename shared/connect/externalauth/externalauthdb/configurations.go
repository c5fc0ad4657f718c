// Package externalauthdb keeps the configurations of external authentication in DynamoDB, their secrets sealed.
package externalauthdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
)

// box encrypts and decrypts the secrets of a tenant.
type box interface {
	Seal(ctx context.Context, tenant, purpose string, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, tenant, purpose string, sealed []byte) ([]byte, error)
}

// purpose is sealed.ExternalAuthentication.
const purpose = "external-authentication"

// Store is the externalauth.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>  configuration#<id>  a configuration
//	<tenant>  url#<digest>        the ID of the configuration that has a URL, by the SHA-256 of its canonical spelling
//	<tenant>  count               how many configurations the tenant has
type Store struct {
	db    *dynamodb.Client
	table string
	box   box
}

var _ externalauth.Store = (*Store)(nil)

// New returns the store on the given table, which seals secrets in a box.
func New(db *dynamodb.Client, table string, b box) *Store { return &Store{db, table, b} }

// Create implements externalauth.Store.
func (s *Store) Create(ctx context.Context, c externalauth.Configuration) error {
	c.Version = 1
	item, err := s.seal(ctx, c)
	if err != nil {
		return err
	}
	claim, err := s.claimURL(c)
	if err != nil {
		return err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Put: &types.Put{TableName: &s.table, Item: item, ConditionExpression: aws.String(
			"attribute_not_exists(part)")}},
		claim,
		s.count(c.Tenant, 1),
	})
	switch {
	case failed[1]:
		return externalauth.ErrDuplicateURL
	case failed[2]:
		return externalauth.ErrTooMany
	case err != nil:
		return fmt.Errorf("create configuration: %w", err)
	}
	return nil
}

// seal returns the row of a configuration, whose secrets it seals.
func (s *Store) seal(ctx context.Context, c externalauth.Configuration) (dynamo.Item, error) {
	secrets, err := secretsOf(c)
	if err != nil {
		return nil, err
	}
	c.Sealed = nil
	if secrets != nil {
		if c.Sealed, err = s.box.Seal(ctx, c.Tenant, purpose, secrets); err != nil {
			return nil, err
		}
	}
	return marshal(c)
}

// urlKey returns the key of the row that claims a URL. It is a digest, because keys are short.
func urlKey(c externalauth.Configuration) (dynamo.Item, error) {
	canonical, err := externalauth.CanonicalURL(c.URL)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(canonical))
	return dynamo.Item{
		"owner": dynamo.String(c.Tenant), "part": dynamo.String(urlPrefix + hex.EncodeToString(sum[:])),
	}, nil
}

// claimURL returns the write that reserves the URL of a configuration. Its condition fails if another one has it.
func (s *Store) claimURL(c externalauth.Configuration) (types.TransactWriteItem, error) {
	item, err := urlKey(c)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	item["configuration"] = dynamo.String(c.ID)
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: item,
		ConditionExpression:       aws.String("attribute_not_exists(part) OR configuration = :id"),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(c.ID)},
	}}, nil
}

// count returns the write that counts a configuration more or less. Its condition fails if there would be too many.
func (s *Store) count(tenant string, change int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: dynamo.Item{"owner": dynamo.String(tenant), "part": dynamo.String("count")},
		UpdateExpression:    aws.String("ADD configurations :change"),
		ConditionExpression: aws.String("attribute_not_exists(configurations) OR configurations <= :most"),
		ExpressionAttributeValues: dynamo.Item{
			":change": dynamo.Number(change), ":most": dynamo.Number(externalauth.MaxConfigurations - max(change, 0)),
		},
	}}
}

// Get implements externalauth.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (externalauth.Configuration, error) {
	item, err := dynamo.Get(ctx, s.db, s.table, configurationKey(tenant, id))
	if err != nil {
		return externalauth.Configuration{}, fmt.Errorf("get configuration: %w", err)
	}
	if item == nil {
		return externalauth.Configuration{}, externalauth.ErrNotFound
	}
	return unmarshal(item)
}

// List implements externalauth.Store.
func (s *Store) List(ctx context.Context, tenant string) ([]externalauth.Configuration, error) {
	configurations := []externalauth.Configuration{}
	query := &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:   aws.String("#owner = :owner AND begins_with(part, :prefix)"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{
			":owner": dynamo.String(tenant), ":prefix": dynamo.String(configurationPrefix),
		},
	}
	for item, err := range dynamo.Query(ctx, s.db, query) {
		if err != nil {
			return nil, fmt.Errorf("list configurations: %w", err)
		}
		c, err := unmarshal(item)
		if err != nil {
			return nil, err
		}
		configurations = append(configurations, c)
	}
	return configurations, nil
}

// Save implements externalauth.Store.
func (s *Store) Save(ctx context.Context, previous, c externalauth.Configuration) error {
	c.Version = previous.Version + 1
	item, err := s.seal(ctx, c)
	if err != nil {
		return err
	}
	claim, err := s.claimURL(c)
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: &s.table, Item: item, ConditionExpression: aws.String("version = :previous"),
			ExpressionAttributeValues: dynamo.Item{":previous": dynamo.Number(previous.Version)},
		}},
		claim,
	}
	before, err := urlKey(previous)
	if err != nil {
		return err
	}
	if part := dynamo.StringAttribute(before, "part"); part != dynamo.StringAttribute(claim.Put.Item, "part") {
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: before}})
	}
	failed, err := dynamo.Transact(ctx, s.db, writes)
	switch {
	case failed[0]:
		return externalauth.ErrChanged
	case failed[1]:
		return externalauth.ErrDuplicateURL
	case err != nil:
		return fmt.Errorf("save configuration: %w", err)
	}
	return nil
}

// Delete implements externalauth.Store.
func (s *Store) Delete(ctx context.Context, c externalauth.Configuration) error {
	claimed, err := urlKey(c)
	if err != nil {
		return err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.table, Key: configurationKey(c.Tenant, c.ID),
			ConditionExpression:       aws.String("version = :version"),
			ExpressionAttributeValues: dynamo.Item{":version": dynamo.Number(c.Version)},
		}},
		{Delete: &types.Delete{TableName: &s.table, Key: claimed}},
		s.count(c.Tenant, -1),
	})
	switch {
	case failed[0]:
		return externalauth.ErrChanged
	case err != nil:
		return fmt.Errorf("delete configuration: %w", err)
	}
	return nil
}

// Reveal implements externalauth.Store.
func (s *Store) Reveal(ctx context.Context, c externalauth.Configuration) (externalauth.Configuration, error) {
	if len(c.Sealed) == 0 {
		return c, nil
	}
	secrets, err := s.box.Open(ctx, c.Tenant, purpose, c.Sealed)
	if err != nil {
		return externalauth.Configuration{}, fmt.Errorf("open the secrets of configuration %s: %w", c.ID, err)
	}
	defer clear(secrets)
	return withSecrets(c, secrets)
}

// ForURL returns the configuration that serves a URL, as externalauth.Choose chooses it, with its secrets. ok is false
// if the tenant has none for it.
func (s *Store) ForURL(ctx context.Context, tenant, url string) (c externalauth.Configuration, ok bool, err error) {
	configurations, err := s.List(ctx, tenant)
	if err != nil {
		return externalauth.Configuration{}, false, err
	}
	if c, ok, err = externalauth.Choose(configurations, url); err != nil || !ok {
		return externalauth.Configuration{}, false, err
	}
	c, err = s.Reveal(ctx, c)
	return c, err == nil, err
}
