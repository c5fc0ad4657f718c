package catalogdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening/catalog"
)

// Owners implements catalog.Store.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	rows, err := query[struct {
		Part string `dynamodbav:"part"`
	}](ctx, s, ownersKey, ownerPart)
	if err != nil {
		return nil, fmt.Errorf("list owners of watchlists: %w", err)
	}
	owners := make([]string, len(rows))
	for i, row := range rows {
		owners[i] = strings.TrimPrefix(row.Part, ownerPart)
	}
	return owners, nil
}

// Pin implements catalog.Pinner. A version that this process has pinned is not written again.
func (s *Store) Pin(ctx context.Context, ref catalog.VersionRef) error {
	if _, isPinned := s.pinned.Load(ref); isPinned {
		return nil
	}
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(ref.Owner, versionsPart(ref.List)+ref.Version),
		UpdateExpression:          aws.String("SET pinned = :true"),
		ConditionExpression:       aws.String("attribute_exists(part) AND attribute_not_exists(condemned_at)"),
		ExpressionAttributeValues: dynamo.Item{":true": dynamo.Bool(true)},
	})
	if _, failed := dynamo.ConditionFailed(err); failed {
		return catalog.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("pin a version of a watchlist: %w", err)
	}
	s.pinned.Store(ref, true)
	return nil
}

// Condemn implements catalog.Store.
func (s *Store) Condemn(ctx context.Context, v catalog.Version, at time.Time) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(v.Owner, versionsPart(v.List)+v.Version),
		UpdateExpression: aws.String("SET condemned_at = :at"),
		ConditionExpression: aws.String("imported_at = :imported AND attribute_not_exists(pinned) AND " +
			"attribute_not_exists(condemned_at)"),
		ExpressionAttributeValues: dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(at)), ":imported": dynamo.String(dynamo.FormatTime(v.ImportedAt))},
	})
	return removalError(err)
}

// BeginRemoval implements catalog.Store.
func (s *Store) BeginRemoval(ctx context.Context, v catalog.Version) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(v.Owner, versionsPart(v.List)+v.Version),
		UpdateExpression:    aws.String("SET removing = :true"),
		ConditionExpression: aws.String("condemned_at = :at AND attribute_not_exists(pinned)"),
		ExpressionAttributeValues: dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(v.CondemnedAt)), ":true": dynamo.Bool(true)},
	})
	return removalError(err)
}

// RemoveVersion implements catalog.Store.
func (s *Store) RemoveVersion(ctx context.Context, ref catalog.VersionRef) error {
	_, err := s.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: key(ref.Owner, versionsPart(ref.List)+ref.Version),
		ConditionExpression: aws.String("attribute_not_exists(part) OR attribute_exists(removing)"),
	})
	return removalError(err)
}

func removalError(err error) error {
	if _, failed := dynamo.ConditionFailed(err); failed {
		return catalog.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("remove a version of a watchlist: %w", err)
	}
	return nil
}
