package batchdb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

const (
	// maxInspected is the number of batches that one call of List inspects.
	maxInspected = 1000
	// filteredPage is the number of batches that List reads at once if a filter may leave out some of them.
	filteredPage = 250
)

// List reads the index by-tenant from its end, and compares each batch with the filter.
func (s *Store) List(ctx context.Context, tenant string, f batch.Filter, after batch.ID, limit int) (
	found []batch.Batch, next batch.ID, err error) {
	first, last := f.IDs()
	query := &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("by-tenant"), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: aws.String("tenant = :tenant AND id BETWEEN :first AND :last"),
		ExpressionAttributeValues: dynamo.Item{
			":tenant": dynamo.String(tenant), ":first": dynamo.String(string(first)),
			":last": dynamo.String(string(last)),
		},
	}
	if after != "" {
		query.ExclusiveStartKey = key(after, batchPart)
		query.ExclusiveStartKey["tenant"] = dynamo.String(tenant)
	}
	for next, inspected := after, 0; ; {
		page := limit - len(found) + 1 // one more shows whether there is a next page
		if !f.SelectsAll() {
			page = filteredPage
		}
		query.Limit = aws.Int32(int32(min(page, maxInspected-inspected)))
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return nil, "", fmt.Errorf("list batches: %w", err)
		}
		for _, item := range out.Items {
			if len(found) == limit {
				return found, next, nil
			}
			b, err := unmarshalBatch(item)
			if err != nil {
				return nil, "", err
			}
			if f.Matches(b) {
				found = append(found, b)
			}
			next = b.ID
		}
		inspected += len(out.Items)
		switch {
		case len(out.LastEvaluatedKey) == 0:
			return found, "", nil
		case len(found) == limit || inspected >= maxInspected:
			return found, next, nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// PagingKey returns the key that seals page tokens.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKeyAt(ctx, s.db, s.table, "id", candidate)
}
