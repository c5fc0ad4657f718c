package screeningdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// roundBody is a round as it is stored.
type roundBody struct {
	Done        string    `json:"done"`
	BeganAt     time.Time `json:"beganAt"`
	Next        string    `json:"next"`
	NextBeganAt time.Time `json:"nextBeganAt"`
	After       string    `json:"after"`
	IsThrough   bool      `json:"isThrough,omitempty"`
	Failed      []string  `json:"failed,omitempty"`
	IsAnnounced bool      `json:"isAnnounced"`
	Names       int       `json:"names"`
	Matches     int       `json:"matches"`
	Batches     []string  `json:"batches"`
	BatchCount  int       `json:"batchCount"`
}

// ListTenants implements rescreening.Rounds.
func (s *Store) ListTenants(ctx context.Context, after string, limit int) ([]string, string, error) {
	query := &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit)),
		KeyConditionExpression:    aws.String("#owner = :owner"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(tenantsOwner)},
	}
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
	var body roundBody
	if err := json.Unmarshal([]byte(dynamo.StringAttribute(row, "body")), &body); err != nil {
		return round, fmt.Errorf("read rescreening: %w", err)
	}
	round.Done, round.BeganAt, round.Next, round.NextBeganAt = body.Done, body.BeganAt, body.Next, body.NextBeganAt
	round.After, round.IsAnnounced, round.Names, round.Matches = body.After, body.IsAnnounced, body.Names, body.Matches
	round.IsThrough, round.Failed = body.IsThrough, body.Failed
	round.Batches, round.BatchCount = body.Batches, body.BatchCount
	round.Revision = dynamo.NumberAttribute(row, "version")
	return round, nil
}

// SaveRound implements rescreening.Rounds.
func (s *Store) SaveRound(ctx context.Context, r rescreening.Round) error {
	text, err := json.Marshal(roundBody{
		Done: r.Done, BeganAt: r.BeganAt, Next: r.Next, NextBeganAt: r.NextBeganAt, After: r.After,
		IsThrough: r.IsThrough, Failed: r.Failed, IsAnnounced: r.IsAnnounced, Names: r.Names, Matches: r.Matches,
		Batches: r.Batches, BatchCount: r.BatchCount,
	})
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
