package externalauthdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo"
)

var _ externalauth.NoticeStore = (*Store)(nil)

// EachDue implements externalauth.NoticeStore.
func (s *Store) EachDue(ctx context.Context, now time.Time, visit func(externalauth.Configuration) error) error {
	query := &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("notices"),
		KeyConditionExpression: aws.String("watched = :watched AND notice_at <= :now"),
		ExpressionAttributeValues: dynamo.Item{
			":watched": dynamo.String(watched), ":now": dynamo.String(now.UTC().Format(noticeFormat)),
		},
	}
	for item, err := range dynamo.Query(ctx, s.db, query) {
		if err != nil {
			return fmt.Errorf("list due notices: %w", err)
		}
		// The index may be late. The configuration itself is read consistently.
		id := strings.TrimPrefix(dynamo.StringAttribute(item, "part"), configurationPrefix)
		c, err := s.Get(ctx, dynamo.StringAttribute(item, "owner"), id)
		if errors.Is(err, externalauth.ErrNotFound) {
			continue
		}
		if err == nil {
			err = visit(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetNoticed implements externalauth.NoticeStore.
func (s *Store) SetNoticed(ctx context.Context, c externalauth.Configuration) error {
	noticed, err := noticedAttribute(c)
	if err != nil {
		return err
	}
	update, values := "SET noticed = :noticed", dynamo.Item{
		":noticed": noticed, ":version": dynamo.Number(c.Version),
	}
	if next := c.NextNotice(); next.IsZero() {
		update += " REMOVE watched, notice_at"
	} else {
		update += ", watched = :watched, notice_at = :next"
		values[":watched"] = dynamo.String(watched)
		values[":next"] = dynamo.String(next.UTC().Format(noticeFormat))
	}
	_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: configurationKey(c.Tenant, c.ID), UpdateExpression: &update,
		ConditionExpression: aws.String("version = :version"), ExpressionAttributeValues: values,
	})
	if _, failed := dynamo.ConditionFailed(err); err != nil && !failed {
		return fmt.Errorf("record notices: %w", err)
	}
	return nil
}
