// Package entitydb keeps entities in DynamoDB: their lifecycle statuses in one table, their profiles and drafts in
// another.
package entitydb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/dynamo"
	"sluice/shared/entity"
)

// Statuses is the entity.StatusStore. Its table has the key
//
//	entity   <tenant>#<entity id>
//
// so that a large tenant is spread over all partitions.
type Statuses struct {
	db    *dynamodb.Client
	table string
}

var _ entity.StatusStore = (*Statuses)(nil)

// NewStatuses returns the store on the given table.
func NewStatuses(db *dynamodb.Client, table string) *Statuses { return &Statuses{db, table} }

func statusKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"entity": dynamo.String(tenant + "#" + id)}
}

func statusItem(tenant, id string, status entity.LifecycleStatus) dynamo.Item {
	item := statusKey(tenant, id)
	item["tenant"], item["lifecycle_status"] = dynamo.String(tenant), dynamo.String(string(status))
	return item
}

// Lookup implements entity.StatusStore. It reads the forms of an ID that earlier releases may have stored only for IDs
// of which the usual form does not exist.
func (s *Statuses) Lookup(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error) {
	var usual, other []string
	for _, id := range ids {
		usual = append(usual, entity.NormalizeID(id))
	}
	stored, err := s.lookupStored(ctx, tenant, usual)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, ok := stored[entity.NormalizeID(id)]; !ok {
			other = append(other, entity.FormsOfID(id)[1:]...)
		}
	}
	older, err := s.lookupStored(ctx, tenant, other)
	if err != nil {
		return nil, err
	}
	maps.Copy(stored, older)
	found := make(map[string]entity.LifecycleStatus, len(stored))
	for _, id := range ids {
		for _, form := range entity.FormsOfID(id) {
			if status, ok := stored[form]; ok {
				found[id] = status
				break
			}
		}
	}
	return found, nil
}

// lookupStored returns the statuses that are stored under exactly the given IDs.
func (s *Statuses) lookupStored(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, statusKey(tenant, id))
	}
	items, err := dynamo.GetAll(ctx, s.db, s.table, keys, "entity", "lifecycle_status")
	if err != nil {
		return nil, fmt.Errorf("look up entities: %w", err)
	}
	found := make(map[string]entity.LifecycleStatus, len(items))
	for _, item := range items {
		if status := dynamo.StringAttribute(item, "lifecycle_status"); status != "" {
			found[dynamo.StringAttribute(item, "entity")[len(tenant)+1:]] = entity.LifecycleStatus(status)
		}
	}
	return found, nil
}

// Import implements entity.StatusStore.
func (s *Statuses) Import(ctx context.Context, tenant string, entries []entity.StatusEntry) error {
	last := make(map[string]entity.LifecycleStatus, len(entries)) // One call to DynamoDB must not write an item twice.
	for _, e := range entries {
		last[entity.NormalizeID(e.ID)] = e.LifecycleStatus
	}
	items := make([]dynamo.Item, 0, len(last))
	for id, status := range last {
		items = append(items, statusItem(tenant, id, status))
	}
	if err := dynamo.PutAll(ctx, s.db, s.table, items); err != nil {
		return fmt.Errorf("import entities: %w", err)
	}
	return nil
}
