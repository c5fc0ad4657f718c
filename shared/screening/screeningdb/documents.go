package screeningdb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// documentBody is a document of a batch as it is stored.
type documentBody struct {
	ID                string    `json:"id"`
	BatchID           string    `json:"batchId"`
	EntityID          string    `json:"entityId"`
	MatchID           string    `json:"matchId"`
	MatchUniqueID     string    `json:"matchUniqueId"`
	DocumentID        string    `json:"documentId"`
	IdempotencyKey    string    `json:"idempotencyKey"`
	CreatedBy         string    `json:"createdBy"`
	CreatedAt         time.Time `json:"createdAt"`
	ReusedFromBatchID string    `json:"reusedFromBatchId"`
	ReusedFromMatchID string    `json:"reusedFromMatchId"`
}

// documentPrefix begins the parts of the documents of an entity and its matches.
func documentPrefix(entityID string) string {
	return fmt.Sprintf("document#%d#%s#", len(entityID), entityID)
}

func documentKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, documentPrefix(d.EntityID)+d.MatchID+"#"+d.ID)
}

// documentCountKey is that of the row that counts the documents of an entity and its matches in a batch. Documents that
// were stored by earlier versions of the service are counted from the next one on.
func documentCountKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, "documents#"+d.EntityID)
}

// AddDocument implements screening.Store.
func (s *Store) AddDocument(ctx context.Context, b screening.Batch, d screening.Document, stored int) error {
	if stored >= screening.MaxDocuments {
		return screening.ErrTooManyDocuments
	}
	body := documentBody{d.ID, d.BatchID, d.EntityID, d.MatchID, d.MatchUniqueID, d.DocumentID, d.IdempotencyKey,
		d.CreatedBy, d.CreatedAt, d.ReusedFromBatchID, d.ReusedFromMatchID}
	item, err := marshal(documentKey(b.Tenant, d), body, 1, maxBodyBytes, errTooLarge)
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
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:   aws.String("#owner = :owner AND begins_with(part, :prefix)"),
		ExpressionAttributeNames: map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(tenant + "#batch#" + batchID),
			":prefix": dynamo.String(documentPrefix(entityID))},
	})
	var all []screening.Document
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, item := range page.Items {
			var body documentBody
			if err := unmarshal(item, "body", &body); err != nil {
				return nil, err
			}
			_, isBeingRemoved := item["removing"]
			all = append(all, screening.Document{ID: body.ID, BatchID: body.BatchID, EntityID: body.EntityID,
				MatchID: body.MatchID, MatchUniqueID: body.MatchUniqueID, DocumentID: body.DocumentID,
				IdempotencyKey: body.IdempotencyKey, CreatedBy: body.CreatedBy, CreatedAt: body.CreatedAt,
				ReusedFromBatchID: body.ReusedFromBatchID, ReusedFromMatchID: body.ReusedFromMatchID,
				IsBeingRemoved: isBeingRemoved})
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
