package screeningdb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	writes := []dynamo.Write{s.table.Put(item, condition, values).Or(screening.ErrChanged)}
	for _, id := range settings.ActiveProviders {
		if id != screening.BuiltIn && !slices.Contains(previous.ActiveProviders, id) {
			isThere := s.table.Check(providerKey(tenant, id), dynamo.Present, nil)
			writes = append(writes, isThere.Or(screening.ErrChanged))
		}
	}
	return s.table.Transact(ctx, "save screening settings", writes...)
}

// isVersion returns the condition that a row has a version, or that there is none for version 0.
func isVersion(version int64) (condition string, values dynamo.Item) {
	if version == 0 {
		return dynamo.Absent, nil
	}
	return "version = :stored", dynamo.Item{":stored": dynamo.Number(version)}
}

var _ rescreening.Rounds = (*Store)(nil)

const (
	tenantsOwner = "tenants"
	tenantPart   = "tenant#"
	batchesOwner = "batches"
)

func tenantItem(tenant string) dynamo.Item {
	return dynamo.Key(tenantsOwner, tenantPart+tenant)
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
	items, next, err := s.table.Page(ctx, tenantsOwner, tenantPart, after, limit, false)
	if err != nil {
		return nil, "", fmt.Errorf("list tenants that screen: %w", err)
	}
	tenants := make([]string, len(items))
	for i, item := range items {
		tenants[i] = strings.TrimPrefix(dynamo.StringAttribute(item, "part"), tenantPart)
	}
	return tenants, next, nil
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
	condition, values := isVersion(r.Revision - 1)
	return s.table.Apply(ctx, "save rescreening", s.table.Put(item, condition, values).Or(screening.ErrChanged))
}
