// Package externalauthdb keeps the configurations of external authentication in DynamoDB, their secrets sealed.
package externalauthdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
	table dynamo.Table
	box   box
}

var _ externalauth.Store = (*Store)(nil)

// New returns the store on the given table, which seals secrets in a box.
func New(db *dynamodb.Client, table string, b box) *Store {
	return &Store{dynamo.Table{DB: db, Name: table}, b}
}

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
	return s.table.Transact(ctx, "create configuration",
		claim, s.count(c.Tenant, 1).Or(externalauth.ErrTooMany), s.table.Put(item, dynamo.Absent, nil))
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
	return dynamo.Key(c.Tenant, urlPrefix+hex.EncodeToString(sum[:])), nil
}

// claimURL returns the write that reserves the URL of a configuration, unless another one has it.
func (s *Store) claimURL(c externalauth.Configuration) (dynamo.Write, error) {
	item, err := urlKey(c)
	if err != nil {
		return dynamo.Write{}, err
	}
	item["configuration"] = dynamo.String(c.ID)
	return s.table.Put(item, dynamo.Absent+" OR configuration = :id", dynamo.Item{":id": dynamo.String(c.ID)}).
		Or(externalauth.ErrDuplicateURL), nil
}

// count returns the write that counts a configuration more or less. Its condition fails if there would be too many.
func (s *Store) count(tenant string, change int64) dynamo.Write {
	return s.table.Update(dynamo.Key(tenant, "count"), "ADD configurations :change",
		"attribute_not_exists(configurations) OR configurations <= :most",
		dynamo.Item{":change": dynamo.Number(change),
			":most": dynamo.Number(externalauth.MaxConfigurations - max(change, 0))})
}

// Get implements externalauth.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (externalauth.Configuration, error) {
	item, err := s.table.Get(ctx, configurationKey(tenant, id))
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
	for item, err := range s.table.All(ctx, tenant, configurationPrefix) {
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
	put := s.table.Put(item, "version = :previous", dynamo.Item{":previous": dynamo.Number(previous.Version)})
	writes := []dynamo.Write{put.Or(externalauth.ErrChanged), claim}
	before, err := urlKey(previous)
	if err != nil {
		return err
	}
	if part := dynamo.StringAttribute(before, "part"); part != dynamo.StringAttribute(claim.Put.Item, "part") {
		writes = append(writes, s.table.Delete(before, "", nil))
	}
	return s.table.Transact(ctx, "save configuration", writes...)
}

// Delete implements externalauth.Store.
func (s *Store) Delete(ctx context.Context, c externalauth.Configuration) error {
	claimed, err := urlKey(c)
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, "delete configuration",
		s.table.Delete(configurationKey(c.Tenant, c.ID), "version = :version",
			dynamo.Item{":version": dynamo.Number(c.Version)}).Or(externalauth.ErrChanged),
		s.table.Delete(claimed, "", nil), s.count(c.Tenant, -1))
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
