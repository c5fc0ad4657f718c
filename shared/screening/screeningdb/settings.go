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

func settingsKey(tenant string) dynamo.Item { return key(tenant, configurationOwner, "settings") }

// GetSettings implements screening.Store.
func (s *Store) GetSettings(ctx context.Context, tenant string) (screening.Settings, error) {
	row, err := s.read(ctx, settingsKey(tenant))
	if err != nil || row == nil {
		return screening.Settings{}, err
	}
	settings, err := unmarshalBody[screening.Settings](row)
	settings.Version = dynamo.NumberAttribute(row, "version")
	return settings, err
}

// SaveSettings implements screening.Store.
func (s *Store) SaveSettings(ctx context.Context, tenant string, previous, settings screening.Settings) error {
	version := previous.Version + 1
	item, err := marshal(settingsKey(tenant), settings, version, maxBodyBytes, errTooLarge)
	if err != nil {
		return err
	}
	condition, values := isVersion(previous.Version)
	writes := []types.TransactWriteItem{{Put: &types.Put{TableName: &s.table, Item: item,
		ConditionExpression: condition, ExpressionAttributeValues: values}}}
	for _, id := range settings.ActiveProviders {
		if id != screening.BuiltIn && !slices.Contains(previous.ActiveProviders, id) {
			writes = append(writes, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &s.table,
				Key: providerKey(tenant, id), ConditionExpression: aws.String("attribute_exists(part)")}})
		}
	}
	failed, err := dynamo.Transact(ctx, s.db, writes)
	if slices.Contains(failed, true) {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save screening settings: %w", err)
	}
	return nil
}

// isVersion returns the condition that a row has a version, or that there is none for version 0.
func isVersion(version int64) (condition *string, values dynamo.Item) {
	if version == 0 {
		return aws.String("attribute_not_exists(part)"), nil
	}
	return aws.String("version = :stored"), dynamo.Item{":stored": dynamo.Number(version)}
}
