package screeningdb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/dynamo"
	"sluice/shared/screening"
)

// settingsBody are a tenant's settings as they are stored.
type settingsBody struct {
	ValidityDays    map[string]int `json:"validityDays"`
	ActiveProviders []string       `json:"activeProviders,omitempty"`
	ActiveLists     []string       `json:"activeLists,omitempty"`
	Threshold       *float64       `json:"threshold,omitempty"`
}

func settingsKey(tenant string) dynamo.Item { return key(tenant, configurationOwner, "settings") }

// GetSettings implements screening.Store.
func (s *Store) GetSettings(ctx context.Context, tenant string) (screening.Settings, error) {
	row, err := s.read(ctx, settingsKey(tenant))
	if err != nil || row == nil {
		return screening.Settings{}, err
	}
	var body settingsBody
	err = unmarshal(row, "body", &body)
	return screening.Settings{ValidityDays: body.ValidityDays, ActiveProviders: body.ActiveProviders,
		ActiveLists: body.ActiveLists, Threshold: body.Threshold, Version: dynamo.NumberAttribute(row, "version")}, err
}

// SaveSettings implements screening.Store.
func (s *Store) SaveSettings(ctx context.Context, tenant string, settings screening.Settings) error {
	item, err := marshal(settingsKey(tenant), settingsBody{settings.ValidityDays, settings.ActiveProviders,
		settings.ActiveLists, settings.Threshold}, settings.Version, maxBodyBytes, errTooLarge)
	if err != nil {
		return err
	}
	return s.putNext(ctx, item, settings.Version, "screening settings")
}

// putNext puts the row with a version in the place of the one with the version before, or where there is none for
// version 1. It returns ErrChanged if another row is there.
func (s *Store) putNext(ctx context.Context, item dynamo.Item, version int64, what string) error {
	put := &dynamodb.PutItemInput{TableName: &s.table, Item: item,
		ConditionExpression: aws.String("attribute_not_exists(part)")}
	if version > 1 {
		put.ConditionExpression = aws.String("version = :previous")
		put.ExpressionAttributeValues = dynamo.Item{":previous": dynamo.Number(version - 1)}
	}
	_, err := s.db.PutItem(ctx, put)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	return nil
}
