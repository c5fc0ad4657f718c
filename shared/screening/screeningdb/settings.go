package screeningdb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
	"sluice/shared/screening/rescreening"
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

var _ rescreening.Rounds = (*Store)(nil)

const (
	tenantsOwner = "tenants"
	tenantPart   = "tenant#"
	batchesOwner = "batches"
)

func tenantItem(tenant string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(tenantsOwner), "part": dynamo.String(tenantPart + tenant)}
}

func tenantListItem(b screening.Batch) dynamo.Item {
	item := key(b.Tenant, batchesOwner, listPart(b))
	item["batch"] = dynamo.String(b.ID)
	return item
}

func roundKey(tenant, owner, list string) dynamo.Item {
	return key(tenant, "rescreening", "list#"+owner+"#"+list)
}

// ListTenants implements rescreening.Rounds.
func (s *Store) ListTenants(ctx context.Context, after string, limit int) ([]string, string, error) {
	query := queryRows(s.table, tenantsOwner, tenantPart)
	query.Limit = aws.Int32(int32(limit))
	if after != "" {
		query.ExclusiveStartKey = dynamo.Item{"owner": dynamo.String(tenantsOwner), "part": dynamo.String(after)}
	}
	out, err := s.db.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list tenants that screen: %w", err)
	}
	tenants := make([]string, len(out.Items))
	for i, item := range out.Items {
		tenants[i] = strings.TrimPrefix(dynamo.StringAttribute(item, "part"), tenantPart)
	}
	return tenants, dynamo.StringAttribute(out.LastEvaluatedKey, "part"), nil
}

// ListBatches implements rescreening.Rounds.
func (s *Store) ListBatches(ctx context.Context, tenant, after string, limit int) ([]string, string, error) {
	return s.list(ctx, tenant+"#"+batchesOwner, after, limit)
}

// GetRound implements rescreening.Rounds.
func (s *Store) GetRound(ctx context.Context, tenant, owner, list string) (rescreening.Round, error) {
	round := rescreening.Round{Tenant: tenant, Owner: owner, List: list}
	row, err := s.read(ctx, roundKey(tenant, owner, list))
	if err != nil || row == nil {
		return round, err
	}
	if err := json.Unmarshal([]byte(dynamo.StringAttribute(row, "body")), &round); err != nil {
		return round, fmt.Errorf("read rescreening: %w", err)
	}
	round.Revision = dynamo.NumberAttribute(row, "version")
	return round, nil
}

// SaveRound implements rescreening.Rounds.
func (s *Store) SaveRound(ctx context.Context, r rescreening.Round) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	item := roundKey(r.Tenant, r.Owner, r.List)
	item["body"], item["version"] = dynamo.String(string(text)), dynamo.Number(r.Revision)
	put := &dynamodb.PutItemInput{TableName: &s.table, Item: item}
	put.ConditionExpression, put.ExpressionAttributeValues = isVersion(r.Revision - 1)
	_, err = s.db.PutItem(ctx, put)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return screening.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("save rescreening: %w", err)
	}
	return nil
}
