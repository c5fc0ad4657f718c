// Package screeningdb keeps screening batches in DynamoDB.
package screeningdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// Store is the screening.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>#batch#<id>         batch                            a batch as JSON, its version
//	<tenant>#batch#<id>         entity#<entity>                  an entity of the batch as JSON, its version
//	<tenant>#batch#<id>         match#<length>#<entity>#<match>  a match as JSON, its resolution as JSON, its version
//	<tenant>#batch#<id>         document#<length>#<entity>#<match>#<document>
//	                                                             a document of the entity or its match as JSON
//	<tenant>#batch#<id>         documents#<entity>               how many documents the entity and its matches have
//	<tenant>#batch#<id>         search#<provider>                the run, the task token and the time of a question to
//	                                                             a provider
//	<tenant>#journey#<journey>  process#<process>                the ID of the active batch of journey and process
//	<tenant>#journey#<journey>  batch#<creation time>#<id>       a batch of the journey
//	<tenant>#configuration      settings                         the tenant's settings as JSON, their version
//	<tenant>#uploads            upload#<id>                      the place for a response of an adapter; it expires
//	<tenant>#entity#<entity>    batch#<creation time>#<id>       a batch that has the entity
//	<tenant>#batches            batch#<creation time>#<id>       a batch of the tenant
//	<tenant>#rescreening        list#<owner>#<list>              a rescreening.Round as JSON, its revision
//	tenants                     tenant#<tenant>                  a tenant that has batches
//
// and those of Providers. The index searching (searching / look_at) holds the searching batches.
//
// Rows of lists may name batches that do not exist, because their creation failed; readers leave these out.
type Store struct{ table dynamo.Table }

// New returns the store in a table.
func New(db *dynamodb.Client, table string) *Store { return &Store{dynamo.Table{DB: db, Name: table}} }

var _ screening.Store = (*Store)(nil)

// maxAttempts is how often a batch is created that meets other new batches of its journey and process.
const maxAttempts = 8

// Create implements screening.Store.
func (s *Store) Create(ctx context.Context, b screening.Batch, entities []screening.Entity) (screening.Batch, error) {
	items := []dynamo.Item{tenantItem(b.Tenant), tenantListItem(b)}
	for _, e := range entities {
		items = append(items, entityListItem(b, e.ID))
	}
	if err := dynamo.PutAll(ctx, s.table.DB, s.table.Name, items); err != nil {
		return b, fmt.Errorf("create screening batch: %w", err)
	}
	// Somebody else may have created the batch, and people may have assessed its entities: these are never replaced.
	if err := s.putMissing(ctx, len(entities), func(i int) (dynamo.Item, error) {
		e := entities[i]
		e.BatchID = b.ID
		return marshalEntity(b.Tenant, e)
	}); err != nil {
		return b, fmt.Errorf("create screening batch: %w", err)
	}
	for range maxAttempts {
		created, err := s.create(ctx, b)
		if !errors.Is(err, errOvertaken) {
			return created, err
		}
	}
	return b, screening.ErrChanged
}

// errOvertaken means that another batch became or left the active one meanwhile.
var errOvertaken = errors.New("screeningdb: the active batch has changed")

// create makes one attempt at the write that makes a batch visible.
func (s *Store) create(ctx context.Context, b screening.Batch) (screening.Batch, error) {
	var overriding []dynamo.Write
	if b.JourneyID != "" {
		var previous string
		var err error
		if overriding, previous, err = s.override(ctx, b); err != nil {
			return b, err
		}
		if previous != "" {
			b.OverriddenIDs = []string{previous}
		}
	}
	item, err := marshalBatch(b)
	if err != nil {
		return b, err
	}
	put := s.table.Put(item, dynamo.Absent, nil).Or(screening.ErrChanged)
	return b, s.table.Transact(ctx, "create screening batch", append([]dynamo.Write{put}, overriding...)...)
}

// override returns the writes that make a batch the active one of its journey and process, and the ID of the one that
// is active now, "" if there is none.
func (s *Store) override(ctx context.Context, b screening.Batch) ([]dynamo.Write, string, error) {
	active := processKey(b.Tenant, b.JourneyID, b.ProcessID)
	row, err := s.read(ctx, active)
	if err != nil {
		return nil, "", err
	}
	previousID := dynamo.StringAttribute(row, "batch")
	active["batch"] = dynamo.String(b.ID)
	list := s.table.Put(journeyListItem(b), "", nil)
	if previousID == "" {
		return []dynamo.Write{s.table.Put(active, dynamo.Absent, nil).Or(errOvertaken), list}, "", nil
	}
	previous, err := s.Get(ctx, b.Tenant, previousID)
	if err != nil {
		return nil, "", err
	}
	replace, err := s.replaceBatch(previous.Override())
	put := s.table.Put(active, "#batch = :previous", dynamo.Item{":previous": dynamo.String(previousID)})
	return []dynamo.Write{put.Or(errOvertaken), list, replace.Or(errOvertaken)}, previousID, err
}

// replaceBatch returns the write of a batch whose previous version must be the stored one.
func (s *Store) replaceBatch(b screening.Batch) (dynamo.Write, error) {
	item, err := marshalBatch(b)
	values := dynamo.Item{":previous": dynamo.Number(b.Version - 1)}
	return s.table.Put(item, "version = :previous", values).Or(screening.ErrChanged), err
}

// read reads the row of a key, nil if there is none.
func (s *Store) read(ctx context.Context, key dynamo.Item) (dynamo.Item, error) {
	row, err := s.table.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read screening: %w", err)
	}
	return row, nil
}

// readInOrder reads the rows of the given IDs, which must be distinct, in their order. IDs without a row are left out.
func readInOrder[ID, T any](ctx context.Context, s *Store, ids []ID, keyOf func(ID) dynamo.Item,
	unmarshal func(dynamo.Item) (T, error)) ([]T, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(id)
	}
	rows, err := s.table.InOrder(ctx, keys)
	if err != nil {
		return nil, err
	}
	values := make([]T, 0, len(rows))
	for _, row := range rows {
		if row == nil {
			continue
		}
		value, err := unmarshal(row)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// Get implements screening.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (screening.Batch, error) {
	row, err := s.read(ctx, batchKey(tenant, id))
	if err != nil {
		return screening.Batch{}, err
	}
	if row == nil {
		return screening.Batch{}, screening.ErrNotFound
	}
	return unmarshalBody[screening.Batch](row)
}

// GetBatches implements screening.Store.
func (s *Store) GetBatches(ctx context.Context, tenant string, ids []string) ([]screening.Batch, error) {
	keyOf := func(id string) dynamo.Item { return batchKey(tenant, id) }
	batches, err := readInOrder(ctx, s, ids, keyOf, unmarshalBody[screening.Batch])
	if err != nil {
		return nil, fmt.Errorf("read screening batches: %w", err)
	}
	return batches, nil
}

// FindActive implements screening.Store.
func (s *Store) FindActive(ctx context.Context, tenant, journeyID, processID string) (string, error) {
	row, err := s.read(ctx, processKey(tenant, journeyID, processID))
	if err == nil && row == nil {
		err = screening.ErrNotFound
	}
	return dynamo.StringAttribute(row, "batch"), err
}

// FindNewest implements screening.Store.
func (s *Store) FindNewest(ctx context.Context, tenant, journeyID string) (string, error) {
	ids, _, err := s.list(ctx, tenant+"#journey#"+journeyID, "", 1)
	if err == nil && len(ids) == 0 {
		return "", screening.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// ListBatchesOf implements screening.Store.
func (s *Store) ListBatchesOf(ctx context.Context, tenant, entityID, after string, limit int) ([]string, string,
	error) {
	return s.list(ctx, tenant+"#"+entityListOwner(entityID), after, limit)
}

// list reads a part of the list of an owner, newest first, and the position after it.
func (s *Store) list(ctx context.Context, owner, after string, limit int) ([]string, string, error) {
	items, next, err := s.table.Page(ctx, owner, "batch#", after, limit, true)
	if err != nil {
		return nil, "", fmt.Errorf("list screening batches: %w", err)
	}
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = dynamo.StringAttribute(item, "batch")
	}
	return ids, next, nil
}

// Save implements screening.Store.
func (s *Store) Save(ctx context.Context, b screening.Batch) error {
	put, err := s.replaceBatch(b)
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "save screening batch", put)
}
