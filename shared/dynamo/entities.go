package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"sluice/shared/entity"
)

// Entities is the entity.Directory on DynamoDB. Table: entity (tenant + "#" + entity id), so that a large tenant is spread
// over all partitions.
type Entities struct {
	db    *dynamodb.Client
	table string
}

var _ entity.Directory = (*Entities)(nil)

// NewEntities returns the directory on the given table.
func NewEntities(db *dynamodb.Client, table string) *Entities { return &Entities{db, table} }

const (
	readBatch   = 100 // keys in one BatchGetItem
	writeBatch  = 25  // items in one BatchWriteItem
	parallelism = 8   // such calls at once
)

func entityKey(tenant, id string) item { return item{"entity": text(tenant + "#" + id)} }

// Lookup reads the states of many entities, each once.
func (s *Entities) Lookup(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error) {
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)

	pages := slices.Collect(slices.Chunk(distinct, readBatch))
	results := make([][]item, len(pages))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelism)
	for i, page := range pages {
		g.Go(func() error {
			keys := make([]item, len(page))
			for j, id := range page {
				keys[j] = entityKey(tenant, id)
			}
			rows, err := batchGet(ctx, s.db, s.table, keys, "#entity, lifecycle_status", map[string]string{"#entity": "entity"})
			results[i] = rows
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("look up entities: %w", err)
	}
	found := make(map[string]entity.LifecycleStatus, len(distinct))
	for _, rows := range results {
		for _, row := range rows {
			name := row["entity"].(*types.AttributeValueMemberS).Value
			if status, ok := row["lifecycle_status"].(*types.AttributeValueMemberS); ok {
				found[name[len(tenant)+1:]] = entity.LifecycleStatus(status.Value)
			}
		}
	}
	return found, nil
}

// Import stores many entities.
func (s *Entities) Import(ctx context.Context, tenant string, entities []entity.Entity) error {
	last := make(map[string]entity.LifecycleStatus, len(entities)) // one call must not write an item twice
	for _, e := range entities {
		last[e.ID] = e.LifecycleStatus
	}
	puts := make([]types.WriteRequest, 0, len(last))
	for id, status := range last {
		row := entityKey(tenant, id)
		row["tenant"] = text(tenant)
		row["lifecycle_status"] = text(string(status))
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
	}
	if err := writeAll(ctx, s.db, s.table, puts); err != nil {
		return fmt.Errorf("import entities: %w", err)
	}
	return nil
}

// batchGet reads up to 100 items, asking again for what the service leaves over.
func batchGet(ctx context.Context, db *dynamodb.Client, table string, keys []item, projection string,
	names map[string]string) ([]item, error) {
	var rows []item
	var projected *string // nil: whole items
	if projection != "" {
		projected = &projection
	}
	for wait := newBackoff(); ; {
		out, err := db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {Keys: keys, ConsistentRead: aws.Bool(true), ProjectionExpression: projected, ExpressionAttributeNames: names},
		}})
		if throttled(err) {
			if err := wait.sleep(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, out.Responses[table]...)
		if keys = out.UnprocessedKeys[table].Keys; len(keys) == 0 {
			return rows, nil
		}
		if err := wait.sleep(ctx); err != nil {
			return nil, err
		}
	}
}
