package batchdb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

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
	query := s.table.SelectIn("by-tenant", "tenant = :tenant AND id BETWEEN :first AND :last", dynamo.Item{
		":tenant": dynamo.String(tenant), ":first": dynamo.String(string(first)), ":last": dynamo.String(string(last)),
	})
	query.ScanIndexForward = aws.Bool(false)
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
		out, err := s.table.DB.Query(ctx, query)
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
	return dynamo.LoadPagingKeyAt(ctx, s.table.DB, s.table.Name, "id", candidate)
}
