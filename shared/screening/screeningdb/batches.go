// Package screeningdb keeps screening batches in DynamoDB.
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
type Store struct {
	db    *dynamodb.Client
	table string
}

// New returns the store in a table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

var _ screening.Store = (*Store)(nil)

// maxAttempts is how often a batch is created that meets other new batches of its journey and process.
const maxAttempts = 8

// Create implements screening.Store.
func (s *Store) Create(ctx context.Context, b screening.Batch, entities []screening.Entity) (screening.Batch, error) {
	items := []dynamo.Item{tenantItem(b.Tenant), tenantListItem(b)}
	for _, e := range entities {
		items = append(items, entityListItem(b, e.ID))
	}
	if err := dynamo.PutAll(ctx, s.db, s.table, items); err != nil {
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
	var writes []types.TransactWriteItem
	if b.JourneyID != "" {
		overriding, previous, err := s.override(ctx, b)
		if err != nil {
			return b, err
		}
		if previous != "" {
			b.OverriddenIDs = []string{previous}
		}
		writes = overriding
	}
	item, err := marshalBatch(b)
	if err != nil {
		return b, err
	}
	writes = append(writes, types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
	}})
	failed, err := dynamo.Transact(ctx, s.db, writes)
	switch {
	case failed[len(failed)-1]:
		return b, screening.ErrChanged
	case slices.Contains(failed, true):
		return b, errOvertaken
	case err != nil:
		return b, fmt.Errorf("create screening batch: %w", err)
	}
	return b, nil
}

// override returns the writes that make a batch the active one of its journey and process, and the ID of the one that
// is active now, "" if there is none.
func (s *Store) override(ctx context.Context, b screening.Batch) ([]types.TransactWriteItem, string, error) {
	active := processKey(b.Tenant, b.JourneyID, b.ProcessID)
	row, err := s.read(ctx, active)
	if err != nil {
		return nil, "", err
	}
	previousID := dynamo.StringAttribute(row, "batch")
	active["batch"] = dynamo.String(b.ID)
	put := &types.Put{TableName: &s.table, Item: active, ConditionExpression: aws.String("attribute_not_exists(part)")}
	writes := []types.TransactWriteItem{{Put: put},
		{Put: &types.Put{TableName: &s.table, Item: journeyListItem(b)}}}
	if previousID == "" {
		return writes, "", nil
	}
	put.ConditionExpression = aws.String("#batch = :previous")
	put.ExpressionAttributeNames = map[string]string{"#batch": "batch"}
	put.ExpressionAttributeValues = dynamo.Item{":previous": dynamo.String(previousID)}
	previous, err := s.Get(ctx, b.Tenant, previousID)
	if err != nil {
		return nil, "", err
	}
	replace, err := s.replaceBatch(previous.Override())
	return append(writes, types.TransactWriteItem{Put: replace}), previousID, err
}

// replaceBatch returns the write of a batch whose previous version must be the stored one.
func (s *Store) replaceBatch(b screening.Batch) (*types.Put, error) {
	item, err := marshalBatch(b)
	return &types.Put{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("version = :previous"),
		ExpressionAttributeValues: dynamo.Item{":previous": dynamo.Number(b.Version - 1)},
	}, err
}

// read reads the row of a key, nil if there is none.
func (s *Store) read(ctx context.Context, key dynamo.Item) (dynamo.Item, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read screening: %w", err)
	}
	return out.Item, nil
}

// queryRows returns the query of the rows of an owner whose parts begin with a prefix, in the order of the parts.
func queryRows(table, owner, prefix string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#owner = :owner AND begins_with(part, :prefix)"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(owner), ":prefix": dynamo.String(prefix)},
	}
}

// readInOrder reads the rows of the given IDs, which must be distinct, in their order. IDs without a row are left out.
func readInOrder[ID, T any](ctx context.Context, s *Store, ids []ID, keyOf func(ID) dynamo.Item,
	unmarshal func(dynamo.Item) (T, error)) ([]T, error) {
	type place struct{ owner, part string }
	placeOf := func(row dynamo.Item) place {
		return place{dynamo.StringAttribute(row, "owner"), dynamo.StringAttribute(row, "part")}
	}
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(id)
	}
	rows, err := dynamo.GetAll(ctx, s.db, s.table, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[place]T, len(rows))
	for _, row := range rows {
		if found[placeOf(row)], err = unmarshal(row); err != nil {
			return nil, err
		}
	}
	values := make([]T, 0, len(found))
	for _, key := range keys {
		if value, ok := found[placeOf(key)]; ok {
			values = append(values, value)
		}
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
	query := queryRows(s.table, owner, "batch#")
	query.ScanIndexForward, query.Limit = aws.Bool(false), aws.Int32(int32(limit))
	if after != "" {
		query.ExclusiveStartKey = dynamo.Item{"owner": dynamo.String(owner), "part": dynamo.String(after)}
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list screening batches: %w", err)
	}
	ids := make([]string, len(out.Items))
	for i, item := range out.Items {
		ids[i] = dynamo.StringAttribute(item, "batch")
	}
	return ids, dynamo.StringAttribute(out.LastEvaluatedKey, "part"), nil
}

// Save implements screening.Store.
func (s *Store) Save(ctx context.Context, b screening.Batch) error {
	put, err := s.replaceBatch(b)
	if err != nil {
		return err
	}
	err = dynamo.RetryConflicts(ctx, func() error {
		_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
			ExpressionAttributeValues: put.ExpressionAttributeValues,
		})
		return err
	})
	if _, failed := dynamo.ConditionFailed(err); failed {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save screening batch: %w", err)
	}
	return nil
}
