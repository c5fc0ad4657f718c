package entitydb

import (
	"context"
	"fmt"
	"slices"
	"sluice/shared/dynamo"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"sluice/shared/entity"
)

// Statuses is the entity.Directory on DynamoDB. Table: entity (tenant + "#" + entity id), so that a large tenant is spread
// over all partitions.
type Statuses struct {
	db    *dynamodb.Client
	table string
}

var _ entity.Directory = (*Statuses)(nil)

// NewStatuses returns the directory on the given table.
func NewStatuses(db *dynamodb.Client, table string) *Statuses { return &Statuses{db, table} }

func entityKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"entity": dynamo.String(tenant + "#" + id)}
}

// Lookup reads the states of many entities, each once.
func (s *Statuses) Lookup(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error) {
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)

	pages := slices.Collect(slices.Chunk(distinct, dynamo.MaxGetKeys))
	results := make([][]dynamo.Item, len(pages))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(dynamo.Concurrency)
	for i, page := range pages {
		g.Go(func() error {
			keys := make([]dynamo.Item, len(page))
			for j, id := range page {
				keys[j] = entityKey(tenant, id)
			}
			rows, err := dynamo.BatchGet(ctx, s.db, s.table, keys, "#entity, lifecycle_status", map[string]string{"#entity": "entity"})
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
func (s *Statuses) Import(ctx context.Context, tenant string, entities []entity.Entity) error {
	last := make(map[string]entity.LifecycleStatus, len(entities)) // one call must not write an item twice
	for _, e := range entities {
		last[e.ID] = e.LifecycleStatus
	}
	puts := make([]types.WriteRequest, 0, len(last))
	for id, status := range last {
		row := entityKey(tenant, id)
		row["tenant"] = dynamo.String(tenant)
		row["lifecycle_status"] = dynamo.String(string(status))
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
	}
	if err := dynamo.PutAll(ctx, s.db, s.table, puts); err != nil {
		return fmt.Errorf("import entities: %w", err)
	}
	return nil
}
