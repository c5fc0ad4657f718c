package authdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sluice/shared/dynamo"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access"
	"sluice/shared/auth"
	"sluice/shared/batch"
	"sluice/shared/transaction"
)

// Registry is the auth.Registry on DynamoDB. Table: id ("tenant#<id>", "client#<id>", "keys").
type Registry struct {
	db    *dynamodb.Client
	table string
}

var _ auth.Registry = (*Registry)(nil)

// New returns the registry on the given table.
func New(db *dynamodb.Client, table string) *Registry { return &Registry{db, table} }

const (
	tenantPrefix = "tenant#"
	clientPrefix = "client#"
	keysID       = "keys"
)

// settingsRow holds a tenant's settings of batches, in whole seconds. A batch row pins a copy of them in the same form.
type settingsRow struct {
	MaxPast    int64  `dynamodbav:"max_past,omitempty"`
	MaxFuture  int64  `dynamodbav:"max_future,omitempty"`
	MainEntity string `dynamodbav:"main_entity,omitempty"`
}

type tenantRow struct {
	ID        string      `dynamodbav:"id"`
	Batch     bool        `dynamodbav:"batch_enabled"`
	Settings  settingsRow `dynamodbav:"settings"`
	CreatedAt string      `dynamodbav:"created_at"`
}

func (r tenantRow) tenant() (auth.Tenant, error) {
	created, err := dynamo.ParseTime(r.CreatedAt)
	return auth.Tenant{
		ID: strings.TrimPrefix(r.ID, tenantPrefix), BatchEnabled: r.Batch, Settings: r.Settings.settings(), CreatedAt: created,
	}, err
}

type clientRow struct {
	ID          string   `dynamodbav:"id"`
	Tenant      string   `dynamodbav:"tenant"`
	Permissions []string `dynamodbav:"permissions"`
	Salt        []byte   `dynamodbav:"salt"`
	Sum         []byte   `dynamodbav:"sum"`
	Disabled    bool     `dynamodbav:"disabled"`
	Geographic  []string `dynamodbav:"geographic,omitempty"`
	Business    []string `dynamodbav:"business_related,omitempty"`
	CreatedAt   string   `dynamodbav:"created_at"`
}

func (r clientRow) client() (auth.Client, error) {
	created, err := dynamo.ParseTime(r.CreatedAt)
	return auth.Client{
		ID: strings.TrimPrefix(r.ID, clientPrefix), Tenant: r.Tenant, Permissions: r.Permissions,
		Secret: auth.SecretHash{Salt: r.Salt, Sum: r.Sum}, Disabled: r.Disabled, CreatedAt: created,
		Layers: access.Layers{Geographic: r.Geographic, BusinessRelated: r.Business},
	}, err
}

func settingsOf(s batch.Settings) settingsRow {
	return settingsRow{int64(s.MaxPast / time.Second), int64(s.MaxFuture / time.Second), string(s.MainEntity)}
}

func (r settingsRow) settings() batch.Settings {
	return batch.Settings{
		MaxPast:    time.Duration(r.MaxPast) * time.Second,
		MaxFuture:  time.Duration(r.MaxFuture) * time.Second,
		MainEntity: transaction.MainEntityRule(r.MainEntity),
	}
}

// CreateTenant stores a new tenant.
func (s *Registry) CreateTenant(ctx context.Context, t auth.Tenant) error {
	return s.create(ctx, tenantRow{tenantPrefix + t.ID, t.BatchEnabled, settingsOf(t.Settings), dynamo.FormatTime(t.CreatedAt)})
}

// CreateClient stores a new client.
func (s *Registry) CreateClient(ctx context.Context, c auth.Client) error {
	if _, err := s.Tenant(ctx, c.Tenant); err != nil {
		return err
	}
	return s.create(ctx, clientRow{clientPrefix + c.ID, c.Tenant, c.Permissions, c.Secret.Salt, c.Secret.Sum, c.Disabled,
		c.Layers.Geographic, c.Layers.BusinessRelated, dynamo.FormatTime(c.CreatedAt)})
}

func (s *Registry) create(ctx context.Context, row any) error {
	av, err := attributevalue.MarshalMap(row)
	if err != nil {
		return err
	}
	_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: av, ConditionExpression: aws.String("attribute_not_exists(id)"),
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return auth.ErrExists
	}
	if err != nil {
		return fmt.Errorf("create registry row: %w", err)
	}
	return nil
}

// Tenant reads one tenant.
func (s *Registry) Tenant(ctx context.Context, id string) (auth.Tenant, error) {
	row, err := getRow[tenantRow](ctx, s, tenantPrefix+id)
	if err != nil {
		return auth.Tenant{}, err
	}
	return row.tenant()
}

// Client reads one client.
func (s *Registry) Client(ctx context.Context, id string) (auth.Client, error) {
	row, err := getRow[clientRow](ctx, s, clientPrefix+id)
	if err != nil {
		return auth.Client{}, err
	}
	return row.client()
}

func getRow[T any](ctx context.Context, s *Registry, id string) (T, error) {
	var row T
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: dynamo.Item{"id": dynamo.String(id)}, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return row, fmt.Errorf("read registry: %w", err)
	}
	if out.Item == nil {
		return row, auth.ErrNotFound
	}
	return row, attributevalue.UnmarshalMap(out.Item, &row)
}

// Identify reads a client and a tenant in one request.
func (s *Registry) Identify(ctx context.Context, client, tenant string) (auth.Client, auth.Tenant, error) {
	keys := []dynamo.Item{{"id": dynamo.String(clientPrefix + client)}, {"id": dynamo.String(tenantPrefix + tenant)}}
	rows, err := dynamo.GetAll(ctx, s.db, s.table, keys)
	if err != nil {
		return auth.Client{}, auth.Tenant{}, fmt.Errorf("identify: %w", err)
	}
	if len(rows) != 2 {
		return auth.Client{}, auth.Tenant{}, auth.ErrNotFound
	}
	if _, isTenant := rows[0]["settings"]; isTenant { // they come in any order
		rows[0], rows[1] = rows[1], rows[0]
	}
	var c clientRow
	var t tenantRow
	if err := errors.Join(attributevalue.UnmarshalMap(rows[0], &c), attributevalue.UnmarshalMap(rows[1], &t)); err != nil {
		return auth.Client{}, auth.Tenant{}, err
	}
	outClient, err1 := c.client()
	outTenant, err2 := t.tenant()
	return outClient, outTenant, errors.Join(err1, err2)
}

// Tenants lists all tenants.
func (s *Registry) Tenants(ctx context.Context) ([]auth.Tenant, error) {
	return list(ctx, s, tenantPrefix, tenantRow.tenant, func(t auth.Tenant) string { return t.ID })
}

// Clients lists all clients.
func (s *Registry) Clients(ctx context.Context) ([]auth.Client, error) {
	return list(ctx, s, clientPrefix, clientRow.client, func(c auth.Client) string { return c.ID })
}

// list scans: only people ask for lists, and the table is small.
func list[Row, T any](ctx context.Context, s *Registry, prefix string, convert func(Row) (T, error), id func(T) string) ([]T, error) {
	out := []T{}
	pages := dynamodb.NewScanPaginator(s.db, &dynamodb.ScanInput{
		TableName: &s.table, FilterExpression: aws.String("begins_with(id, :prefix)"),
		ExpressionAttributeValues: dynamo.Item{":prefix": dynamo.String(prefix)}, ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list registry: %w", err)
		}
		for _, av := range page.Items {
			var row Row
			if err := attributevalue.UnmarshalMap(av, &row); err != nil {
				return nil, err
			}
			one, err := convert(row)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return out, nil
}

// EnableBatch turns the batch feature of a tenant on or off.
func (s *Registry) EnableBatch(ctx context.Context, tenant string, on bool) (auth.Tenant, error) {
	row, err := set[tenantRow](ctx, s, tenantPrefix+tenant, "batch_enabled", on)
	if err != nil {
		return auth.Tenant{}, err
	}
	return row.tenant()
}

// DisableClient makes a client powerless.
func (s *Registry) DisableClient(ctx context.Context, id string) (auth.Client, error) {
	row, err := set[clientRow](ctx, s, clientPrefix+id, "disabled", true)
	if err != nil {
		return auth.Client{}, err
	}
	return row.client()
}

func set[Row any](ctx context.Context, s *Registry, id, name string, on bool) (Row, error) {
	var row Row
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: dynamo.Item{"id": dynamo.String(id)},
		UpdateExpression: aws.String("SET #name = :on"), ConditionExpression: aws.String("attribute_exists(id)"),
		ExpressionAttributeNames:  map[string]string{"#name": name},
		ExpressionAttributeValues: dynamo.Item{":on": &types.AttributeValueMemberBOOL{Value: on}},
		ReturnValues:              types.ReturnValueAllNew,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return row, auth.ErrNotFound
	}
	if err != nil {
		return row, fmt.Errorf("change registry: %w", err)
	}
	return row, attributevalue.UnmarshalMap(out.Attributes, &row)
}

type keysRow struct {
	ID      string   `dynamodbav:"id"`
	Version int64    `dynamodbav:"version"`
	Keys    []keyRow `dynamodbav:"keys"`
}

type keyRow struct {
	ID         string `dynamodbav:"kid"`
	KMSKey     string `dynamodbav:"kms_key"`
	Public     []byte `dynamodbav:"public"`
	ActiveFrom string `dynamodbav:"active_from"`
	RetireAt   string `dynamodbav:"retire_at,omitempty"`
}

// Keys reads all signing keys.
func (s *Registry) Keys(ctx context.Context) ([]auth.Key, int64, error) {
	row, err := getRow[keysRow](ctx, s, keysID)
	if errors.Is(err, auth.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	keys := make([]auth.Key, len(row.Keys))
	for i, k := range row.Keys {
		active, err1 := dynamo.ParseTime(k.ActiveFrom)
		retire, err2 := dynamo.ParseTime(k.RetireAt)
		if err := errors.Join(err1, err2); err != nil {
			return nil, 0, err
		}
		keys[i] = auth.Key{ID: k.ID, KMSKey: k.KMSKey, Public: k.Public, ActiveFrom: active, RetireAt: retire}
	}
	return keys, row.Version, nil
}

// SetKeys replaces all signing keys, if nobody else has.
func (s *Registry) SetKeys(ctx context.Context, keys []auth.Key, version int64) error {
	row := keysRow{ID: keysID, Version: version + 1}
	for _, k := range keys {
		row.Keys = append(row.Keys, keyRow{k.ID, k.KMSKey, k.Public, dynamo.FormatTime(k.ActiveFrom), dynamo.FormatTime(k.RetireAt)})
	}
	av, err := attributevalue.MarshalMap(row)
	if err != nil {
		return err
	}
	put := &dynamodb.PutItemInput{TableName: &s.table, Item: av, ConditionExpression: aws.String("attribute_not_exists(id)")}
	if version != 0 {
		put.ConditionExpression = aws.String("version = :old")
		put.ExpressionAttributeValues = dynamo.Item{":old": dynamo.Number(version)}
	}
	_, err = s.db.PutItem(ctx, put)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return auth.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("change keys: %w", err)
	}
	return nil
}
