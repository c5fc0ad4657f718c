package batchdb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// The attributes by which the index open counts. A batch of a release without them is not in the index.
const (
	// openAttribute is the tenant of a batch that is not in a terminal status.
	openAttribute = "open"
	// unvalidatedAttribute is the size of a file that is uploaded and not validated.
	unvalidatedAttribute = "unvalidated"
)

// closes returns the REMOVE clause of a transition to a status, "" for none, and adds the names that it uses.
func closes(to batch.Status, names map[string]string) string {
	switch {
	case to.IsTerminal():
		names["#open"], names["#"+unvalidatedAttribute] = openAttribute, unvalidatedAttribute
		return " REMOVE #open, #" + unvalidatedAttribute
	case to == batch.PendingIngestion:
		names["#"+unvalidatedAttribute] = unvalidatedAttribute
		return " REMOVE #" + unvalidatedAttribute
	}
	return ""
}

// CountOpen reads the index open, page by page. There is no counter beside the batches that could differ from them.
func (s *Store) CountOpen(ctx context.Context, tenant string, enough batch.OpenWork) (batch.OpenWork, error) {
	var found batch.OpenWork
	query := &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("open"),
		KeyConditionExpression:    aws.String("#open = :tenant"),
		ProjectionExpression:      aws.String(unvalidatedAttribute),
		ExpressionAttributeNames:  map[string]string{"#open": openAttribute},
		ExpressionAttributeValues: dynamo.Item{":tenant": dynamo.String(tenant)},
	}
	for item, err := range dynamo.Query(ctx, s.db, query) {
		if err != nil {
			return batch.OpenWork{}, fmt.Errorf("count open batches: %w", err)
		}
		found.Batches++
		found.UnvalidatedBytes += dynamo.NumberAttribute(item, unvalidatedAttribute)
		if found.ReachesAny(enough) {
			return found, nil
		}
	}
	return found, nil
}
