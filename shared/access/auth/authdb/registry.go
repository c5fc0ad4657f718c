// Package authdb keeps tenants, clients and signing keys in DynamoDB.
package authdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/access/auth"
	"sluice/shared/kit/dynamo"
)

// Registry is the auth.Registry. Its table has the key
//
//	id   tenant#<id>, client#<id>, token#<client>/<digest>, keys
type Registry struct{ table dynamo.Table }

var _ auth.Registry = (*Registry)(nil)

// New returns the registry on the given table.
func New(db *dynamodb.Client, table string) *Registry {
	return &Registry{dynamo.Table{DB: db, Name: table}}
}

// CreateTenant implements auth.Registry.
func (s *Registry) CreateTenant(ctx context.Context, t auth.Tenant) error {
	return s.create(ctx, tenantRowOf(t))
}

// CreateClient implements auth.Registry.
func (s *Registry) CreateClient(ctx context.Context, c auth.Client) error {
	if _, err := s.Tenant(ctx, c.Tenant); err != nil {
		return err
	}
	return s.create(ctx, clientRowOf(c))
}

// create stores a row whose ID is not taken; auth.ErrExists if it is.
func (s *Registry) create(ctx context.Context, row any) error {
	item, err := attributevalue.MarshalMap(row)
	if err != nil {
		return err
	}
	return s.table.Apply(ctx, "create row of the registry",
		s.table.Put(item, "attribute_not_exists(id)", nil).Or(auth.ErrExists))
}

// Tenant implements auth.Registry.
func (s *Registry) Tenant(ctx context.Context, id string) (auth.Tenant, error) {
	var row tenantRow
	if err := s.get(ctx, tenantPrefix+id, &row); err != nil {
		return auth.Tenant{}, err
	}
	return row.tenant()
}

// Client implements auth.Registry.
func (s *Registry) Client(ctx context.Context, id string) (auth.Client, error) {
	var row clientRow
	if err := s.get(ctx, clientPrefix+id, &row); err != nil {
		return auth.Client{}, err
	}
	return row.client()
}

// get reads one row; auth.ErrNotFound if it does not exist.
func (s *Registry) get(ctx context.Context, id string, row any) error {
	item, err := s.table.Get(ctx, dynamo.Item{"id": dynamo.String(id)})
	if err != nil {
		return fmt.Errorf("read registry: %w", err)
	}
	if item == nil {
		return auth.ErrNotFound
	}
	return attributevalue.UnmarshalMap(item, row)
}

// ClientAndTenant implements auth.Registry.
func (s *Registry) ClientAndTenant(ctx context.Context, clientID, tenantID string) (auth.Client, auth.Tenant, error) {
	items, err := dynamo.GetAll(ctx, s.table.DB, s.table.Name, []dynamo.Item{
		{"id": dynamo.String(clientPrefix + clientID)}, {"id": dynamo.String(tenantPrefix + tenantID)},
	})
	if err != nil {
		return auth.Client{}, auth.Tenant{}, fmt.Errorf("read client and tenant: %w", err)
	}
	if len(items) != 2 {
		return auth.Client{}, auth.Tenant{}, auth.ErrNotFound
	}
	// The items are not in the order of the keys.
	if strings.HasPrefix(dynamo.StringAttribute(items[0], "id"), tenantPrefix) {
		items[0], items[1] = items[1], items[0]
	}
	var c clientRow
	var t tenantRow
	err = errors.Join(attributevalue.UnmarshalMap(items[0], &c), attributevalue.UnmarshalMap(items[1], &t))
	if err != nil {
		return auth.Client{}, auth.Tenant{}, err
	}
	client, err1 := c.client()
	tenant, err2 := t.tenant()
	return client, tenant, errors.Join(err1, err2)
}

// MayUpload reports whether a client exists and is not disabled, and whether its tenant exists and has the batch
// feature.
func (s *Registry) MayUpload(ctx context.Context, tenantID, clientID string) (client, tenant bool, err error) {
	c, t, err := s.ClientAndTenant(ctx, clientID, tenantID)
	if errors.Is(err, auth.ErrNotFound) {
		return false, false, nil
	}
	return !c.Disabled && c.Tenant == t.ID, t.BatchEnabled, err
}

// Tenants implements auth.Registry.
func (s *Registry) Tenants(ctx context.Context) ([]auth.Tenant, error) {
	return listRows(ctx, s, tenantPrefix, tenantRow.tenant, func(t auth.Tenant) string { return t.ID })
}

// Clients implements auth.Registry.
func (s *Registry) Clients(ctx context.Context) ([]auth.Client, error) {
	return listRows(ctx, s, clientPrefix, clientRow.client, func(c auth.Client) string { return c.ID })
}

// listRows scans the table for rows of one kind and returns them in the order of their IDs. Only operators ask for
// lists, and the table is small.
func listRows[Row, T any](ctx context.Context, s *Registry, prefix string, convert func(Row) (T, error),
	idOf func(T) string) ([]T, error) {
	all := []T{}
	pages := dynamodb.NewScanPaginator(s.table.DB, &dynamodb.ScanInput{
		TableName: &s.table.Name, ConsistentRead: aws.Bool(true),
		FilterExpression:          aws.String("begins_with(id, :prefix)"),
		ExpressionAttributeValues: dynamo.Item{":prefix": dynamo.String(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list registry: %w", err)
		}
		var rows []Row
		if err := attributevalue.UnmarshalListOfMaps(page.Items, &rows); err != nil {
			return nil, fmt.Errorf("list registry: %w", err)
		}
		for _, row := range rows {
			v, err := convert(row)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(idOf(a), idOf(b)) })
	return all, nil
}

// EnableBatch implements auth.Registry.
func (s *Registry) EnableBatch(ctx context.Context, tenant string, on bool) (auth.Tenant, error) {
	var row tenantRow
	if err := s.setFlag(ctx, tenantPrefix+tenant, "batch_enabled", on, &row); err != nil {
		return auth.Tenant{}, err
	}
	return row.tenant()
}

// ChangeTenant implements auth.Registry. Each setting is an attribute of its own, so that changes of different settings
// at the same time are both made.
func (s *Registry) ChangeTenant(ctx context.Context, tenant string, c auth.TenantChange) (auth.Tenant, error) {
	if len(c.Limits) > 0 {
		if err := s.prepareLimits(ctx, tenant); err != nil {
			return auth.Tenant{}, err
		}
	}
	update := newTenantUpdate(c)
	if update.isEmpty() {
		return s.Tenant(ctx, tenant)
	}
	var row tenantRow
	if err := s.update(ctx, tenantPrefix+tenant, update.expression(), update.values, &row); err != nil {
		return auth.Tenant{}, err
	}
	return row.tenant()
}

// prepareLimits gives a tenant without limits of its own the map into which they are written; a path of an update must
// exist.
func (s *Registry) prepareLimits(ctx context.Context, tenant string) error {
	return s.update(ctx, tenantPrefix+tenant, "SET #limits = if_not_exists(#limits, :none)",
		dynamo.Item{":none": &types.AttributeValueMemberM{Value: dynamo.Item{}}}, &tenantRow{})
}

// DisableClient implements auth.Registry.
func (s *Registry) DisableClient(ctx context.Context, id string) (auth.Client, error) {
	var row clientRow
	if err := s.setFlag(ctx, clientPrefix+id, "disabled", true, &row); err != nil {
		return auth.Client{}, err
	}
	return row.client()
}

// AddSecret implements auth.Registry.
func (s *Registry) AddSecret(ctx context.Context, client string, secret auth.SecretHash, at time.Time) (auth.Client,
	error) {
	return s.changeSecrets(ctx, client, "SET #next_salt = :salt, #next_sum = :sum, #next_at = :at",
		"attribute_not_exists(#next_sum)", dynamo.Item{":salt": &types.AttributeValueMemberB{Value: secret.Salt},
			":sum": &types.AttributeValueMemberB{Value: secret.Sum}, ":at": dynamo.String(dynamo.FormatTime(at))},
		auth.ErrTwoSecrets)
}

// RemoveSecret implements auth.Registry.
func (s *Registry) RemoveSecret(ctx context.Context, client string, newer bool) (auth.Client, error) {
	update := "REMOVE #next_salt, #next_sum, #next_at"
	if !newer {
		update = "SET #salt = #next_salt, #sum = #next_sum " + update
	}
	return s.changeSecrets(ctx, client, update, "attribute_exists(#next_sum)", nil, auth.ErrOneSecret)
}

// changeSecrets updates a client under a condition; refusal is the error of one that exists and does not meet it.
func (s *Registry) changeSecrets(ctx context.Context, client, update, condition string, values dynamo.Item,
	refusal error) (auth.Client, error) {
	var row clientRow
	err := s.updateIf(ctx, clientPrefix+client, update, "attribute_exists(id) AND "+condition, values, refusal, &row)
	if errors.Is(err, refusal) {
		if _, absent := s.Client(ctx, client); absent != nil {
			return auth.Client{}, absent
		}
	}
	if err != nil {
		return auth.Client{}, err
	}
	return row.client()
}

// setFlag sets a boolean attribute of a row; see update.
func (s *Registry) setFlag(ctx context.Context, id, name string, on bool, row any) error {
	return s.update(ctx, id, "SET #"+name+" = :on", dynamo.Item{":on": dynamo.Bool(on)}, row)
}

// update updates an existing row and reads it as it then is; auth.ErrNotFound if it does not exist.
func (s *Registry) update(ctx context.Context, id, update string, values dynamo.Item, row any) error {
	return s.updateIf(ctx, id, update, "attribute_exists(id)", values, auth.ErrNotFound, row)
}

// updateIf updates a row under a condition and reads it as it then is; refusal if the condition does not hold.
func (s *Registry) updateIf(ctx context.Context, id, update, condition string, values dynamo.Item, refusal error,
	row any) error {
	item, err := s.table.Exchange(ctx, "change registry", s.table.Update(dynamo.Item{"id": dynamo.String(id)}, update,
		condition, values).Or(refusal))
	if err != nil {
		return err
	}
	return attributevalue.UnmarshalMap(item, row)
}

// SealedToken implements auth.Registry.
func (s *Registry) SealedToken(ctx context.Context, id string) (auth.SealedToken, error) {
	var row tokenRow
	if err := s.get(ctx, tokenPrefix+id, &row); err != nil {
		return auth.SealedToken{}, err
	}
	return row.token(), nil
}

// StoreSealedToken implements auth.Registry.
func (s *Registry) StoreSealedToken(ctx context.Context, t auth.SealedToken, now time.Time) (auth.SealedToken, error) {
	item, err := attributevalue.MarshalMap(tokenRowOf(t))
	if err != nil {
		return auth.SealedToken{}, err
	}
	current, err := s.table.Exchange(ctx, "store token",
		s.table.Put(item, "attribute_not_exists(id) OR reuse_until <= :now OR kid <> :kid",
			dynamo.Item{":now": dynamo.Number(now.Unix()), ":kid": dynamo.String(t.Key)}))
	if errors.Is(err, dynamo.ErrRefused) {
		var row tokenRow
		err := attributevalue.UnmarshalMap(current, &row)
		return row.token(), err
	}
	return t, err
}

// Keys implements auth.Registry.
func (s *Registry) Keys(ctx context.Context) ([]auth.Key, int64, error) {
	var row keysRow
	err := s.get(ctx, keysID, &row)
	if errors.Is(err, auth.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	keys, err := row.keys()
	return keys, row.Version, err
}

// ReplaceKeys implements auth.Registry.
func (s *Registry) ReplaceKeys(ctx context.Context, keys []auth.Key, version int64) error {
	err := dynamo.ReplaceVersion(ctx, s.table.DB, s.table.Name, keysRowOf(keys, version+1), version)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return auth.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("replace keys: %w", err)
	}
	return nil
}
