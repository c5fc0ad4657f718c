package screeningdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// documentPrefix begins the parts of the documents of an entity and its matches.
func documentPrefix(entityID string) string {
	return fmt.Sprintf("document#%d#%s#", len(entityID), entityID)
}

func documentKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, documentPrefix(d.EntityID)+d.MatchID+"#"+d.ID)
}

// documentCountKey is the key of the row that counts the documents of an entity and its matches in a batch. Documents
// that were stored by earlier versions of the service are counted from the next one on.
func documentCountKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, "documents#"+d.EntityID)
}

// AddDocument implements screening.Store.
func (s *Store) AddDocument(ctx context.Context, b screening.Batch, d screening.Document, stored int) error {
	if stored >= screening.MaxDocuments {
		return screening.ErrTooManyDocuments
	}
	item, err := marshal(documentKey(b.Tenant, d), d, 1, maxBodyBytes, errTooLarge)
	if err != nil {
		return err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		s.requireVersion(b),
		{Put: &types.Put{
			TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
		}},
		{Update: &types.Update{
			TableName: &s.table, Key: documentCountKey(b.Tenant, d),
			UpdateExpression:    aws.String("SET documents = if_not_exists(documents, :stored) + :one"),
			ConditionExpression: aws.String("attribute_not_exists(documents) OR documents < :most"),
			ExpressionAttributeValues: dynamo.Item{":stored": dynamo.Number(int64(stored)), ":one": dynamo.Number(1),
				":most": dynamo.Number(screening.MaxDocuments)},
		}},
	})
	switch {
	case failed[1]:
		return screening.ErrExists
	case failed[0]:
		return screening.ErrChanged
	case failed[2]:
		return screening.ErrTooManyDocuments
	case err != nil:
		return fmt.Errorf("add document: %w", err)
	}
	return nil
}

// ListDocuments implements screening.Store.
func (s *Store) ListDocuments(ctx context.Context, tenant, batchID, entityID string) ([]screening.Document, error) {
	pages := dynamodb.NewQueryPaginator(s.db,
		queryRows(s.table, tenant+"#batch#"+batchID, documentPrefix(entityID)))
	var all []screening.Document
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, item := range page.Items {
			d, err := unmarshalBody[screening.Document](item)
			if err != nil {
				return nil, err
			}
			_, d.IsBeingRemoved = item["removing"]
			all = append(all, d)
		}
	}
	return all, nil
}

// BeginRemoval implements screening.Store.
func (s *Store) BeginRemoval(ctx context.Context, b screening.Batch, d screening.Document) error {
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		s.requireVersion(b),
		{Update: &types.Update{
			TableName: &s.table, Key: documentKey(b.Tenant, d),
			ConditionExpression:       aws.String("attribute_exists(part)"),
			UpdateExpression:          aws.String("SET removing = :true"),
			ExpressionAttributeValues: dynamo.Item{":true": dynamo.Bool(true)},
		}},
	})
	switch {
	case failed[1]:
		return screening.ErrNotFound
	case failed[0]:
		return screening.ErrChanged
	case err != nil:
		return fmt.Errorf("begin removal of document: %w", err)
	}
	return nil
}

// RemoveDocument implements screening.Store.
func (s *Store) RemoveDocument(ctx context.Context, tenant string, d screening.Document) error {
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Delete: &types.Delete{
			TableName: &s.table, Key: documentKey(tenant, d), ConditionExpression: aws.String("attribute_exists(part)"),
		}},
		{Update: &types.Update{
			TableName: &s.table, Key: documentCountKey(tenant, d),
			UpdateExpression:          aws.String("SET documents = documents - :one"),
			ConditionExpression:       aws.String("attribute_exists(documents)"),
			ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)},
		}},
	})
	switch {
	case failed[0]:
		return nil
	case failed[1]: // it is not counted
		_, err = s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: documentKey(tenant, d)})
	}
	if err != nil {
		return fmt.Errorf("remove document: %w", err)
	}
	return nil
}

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
