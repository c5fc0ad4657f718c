package screeningdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
	"sluice/shared/screening/rescreening"
)

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
