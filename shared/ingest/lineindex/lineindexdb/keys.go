package lineindexdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/dynamo"
)

// Keys has the keys of the digests of tenants, which are sealed in the table. It is safe for concurrent use.
type Keys struct {
	store   *Store
	box     Box
	purpose string
	now     func() time.Time

	mu sync.Mutex
	// opened are keys by tenant. A key never changes.
	opened map[string]openedKey
}

type openedKey struct {
	key   lineindex.Key
	since time.Time
}

// maxOpened is how many keys are kept in memory.
const maxOpened = 1000

// Box seals and opens keys for a tenant and a purpose, as sealed.Box does.
type Box interface {
	Seal(ctx context.Context, tenant, purpose string, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, tenant, purpose string, sealed []byte) ([]byte, error)
}

// NewKeys returns the keys in the table of a store, which are sealed for a purpose.
func NewKeys(s *Store, box Box, purpose string, now func() time.Time) *Keys {
	return &Keys{store: s, box: box, purpose: purpose, now: now, opened: map[string]openedKey{}}
}

const keyPart = "key"

// Make returns the key of a tenant, which it makes if there is none. Of several at the same time, one makes it.
func (k *Keys) Make(ctx context.Context, tenant string) (lineindex.Key, error) {
	key, _, isFound, err := k.Find(ctx, tenant)
	if err != nil || isFound {
		return key, err
	}
	rand.Read(key[:])
	text, err := k.box.Seal(ctx, tenant, k.purpose, key[:])
	if err != nil {
		return lineindex.Key{}, err
	}
	// First the tenant is listed: one without a key does no harm, and one that is missing would never be maintained.
	table := k.store.table
	err = table.Apply(ctx, "list tenant", table.Put(dynamo.Key(tenantsOwner, tenant), "", nil))
	if err != nil {
		return lineindex.Key{}, err
	}
	item := dynamo.Key(tenant, keyPart)
	item["key"], item["since"] = dynamo.Binary(text), dynamo.String(dynamo.FormatTime(k.now()))
	err = table.Apply(ctx, "store key", table.Put(item, dynamo.Absent, nil).Or(nil))
	if err != nil {
		return lineindex.Key{}, err
	}
	key, _, _, err = k.Find(ctx, tenant)
	return key, err
}

// Find returns the key of a tenant, and since when there is one, so that lines are indexed; false if there is none.
func (k *Keys) Find(ctx context.Context, tenant string) (key lineindex.Key, since time.Time, isFound bool, err error) {
	k.mu.Lock()
	known, isKnown := k.opened[tenant]
	k.mu.Unlock()
	if isKnown {
		return known.key, known.since, true, nil
	}
	item, err := k.store.table.Get(ctx, dynamo.Key(tenant, keyPart))
	if err != nil || item == nil {
		return key, since, false, during("read key", err)
	}
	if since, err = dynamo.ParseTime(dynamo.StringAttribute(item, "since")); err != nil {
		return key, since, false, during("read key", err)
	}
	text, err := k.box.Open(ctx, tenant, k.purpose, dynamo.BinaryAttribute(item, "key"))
	if err != nil {
		return key, since, false, during("open key", err)
	}
	if copy(key[:], text) != len(key) {
		return key, since, false, errMalformed
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.opened) >= maxOpened {
		clear(k.opened)
	}
	k.opened[tenant] = openedKey{key, since}
	return key, since, true, nil
}

// Tenants returns the tenants that have a key.
func (s *Store) Tenants(ctx context.Context) (tenants []string, err error) {
	for item, err := range s.all(ctx, tenantsOwner) {
		if err != nil {
			return nil, fmt.Errorf("list tenants: %w", err)
		}
		tenants = append(tenants, dynamo.StringAttribute(item, "part"))
	}
	return tenants, nil
}

func during(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s of the index of lines: %w", doing, err)
	}
	return nil
}
