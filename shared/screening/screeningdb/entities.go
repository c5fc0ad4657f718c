package screeningdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// GetEntities implements screening.Store.
func (s *Store) GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error) {
	keyOf := func(id string) dynamo.Item { return entityKey(tenant, batchID, id) }
	entities, err := readInOrder(ctx, s, ids, keyOf, unmarshalBody[screening.Entity])
	if err != nil {
		return nil, fmt.Errorf("read screened entities: %w", err)
	}
	return entities, nil
}

// requireVersion returns the part of a transaction that requires a batch to be as it was read.
func (s *Store) requireVersion(b screening.Batch) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &s.table, Key: batchKey(b.Tenant, b.ID), ConditionExpression: aws.String("version = :version"),
		ExpressionAttributeValues: dynamo.Item{":version": dynamo.Number(b.Version)},
	}}
}

// SaveEntity implements screening.Store.
func (s *Store) SaveEntity(ctx context.Context, b screening.Batch, e screening.Entity) error {
	item, err := marshalEntity(b.Tenant, e)
	if err != nil {
		return err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		s.requireVersion(b),
		{Put: &types.Put{
			TableName: &s.table, Item: item, ConditionExpression: aws.String("version = :previous"),
			ExpressionAttributeValues: dynamo.Item{":previous": dynamo.Number(e.Version - 1)},
		}},
	})
	if slices.Contains(failed, true) {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save screened entity: %w", err)
	}
	return nil
}
