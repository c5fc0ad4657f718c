// Package entitydb keeps entities in DynamoDB: their lifecycle statuses in one table, their profiles and drafts in
// another.
package entitydb

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
)

// Statuses is the entity.StatusStore. Its table has the key
//
//	entity   <tenant>#<entity id>
//
// so that a large tenant is spread over all partitions. Profiles keeps the profile of an entity there, too, as long as
// the entity is as an import has made it (imported.go); lookups do not read it.
type Statuses struct{ table dynamo.Table }

var _ entity.StatusStore = (*Statuses)(nil)

// NewStatuses returns the store on the given table.
func NewStatuses(db *dynamodb.Client, table string) *Statuses {
	return &Statuses{dynamo.Table{DB: db, Name: table}}
}

func statusKey(tenant, id string) dynamo.Item {
	return dynamo.Item{"entity": dynamo.String(tenant + "#" + id)}
}

func statusItem(tenant, id string, status entity.LifecycleStatus) dynamo.Item {
	item := statusKey(tenant, id)
	item["tenant"], item["lifecycle_status"] = dynamo.String(tenant), dynamo.String(string(status))
	return item
}

// Lookup implements entity.StatusStore.
func (s *Statuses) Lookup(ctx context.Context, tenant string, ids []string) (map[string]entity.LifecycleStatus, error) {
	stored, err := s.find(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]entity.LifecycleStatus, len(stored))
	for id, status := range stored {
		found[id] = status.LifecycleStatus
	}
	return found, nil
}

// AreOnboarded returns, for each of the given entities that exists, whether transactions may name it, by the IDs as
// they are given; see Lookup.
func (s *Statuses) AreOnboarded(ctx context.Context, tenant string, ids []string) (map[string]bool, error) {
	statuses, err := s.Lookup(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	onboarded := make(map[string]bool, len(statuses))
	for id, status := range statuses {
		onboarded[id] = status.IsOnboarded()
	}
	return onboarded, nil
}

// find returns the stored statuses of those of the given entities that exist, by the IDs as they are given, with the
// given attributes of their rows. It reads the forms of an ID that earlier releases may have stored only for IDs of
// which the usual form does not exist.
func (s *Statuses) find(ctx context.Context, tenant string, ids []string, attributes ...string) (
	map[string]storedStatus, error) {
	usual := make([]string, len(ids))
	for i, id := range ids {
		usual[i] = entityid.Normalize(id)
	}
	stored, err := s.lookupStored(ctx, tenant, usual, attributes...)
	if err != nil {
		return nil, err
	}
	found := make(map[string]storedStatus, len(stored))
	forms := map[string][]string{} // of the IDs that are not found
	var older []string
	for i, id := range ids {
		if status, ok := stored[usual[i]]; ok {
			found[id] = status
		} else if forms[id] == nil {
			forms[id] = entityid.Forms(id)
			older = append(older, forms[id][1:]...)
		}
	}
	if stored, err = s.lookupStored(ctx, tenant, older, attributes...); err != nil {
		return nil, err
	}
	for id, all := range forms {
		for _, form := range all[1:] {
			if status, ok := stored[form]; ok {
				found[id] = status
				break
			}
		}
	}
	return found, nil
}

// storedStatus is the status of an entity and the ID under which it is stored.
type storedStatus struct {
	ID              string
	LifecycleStatus entity.LifecycleStatus
	// row has the attributes that were asked for.
	row dynamo.Item
}

// lookupStored returns the statuses that are stored under exactly the given IDs, with the given attributes of their
// rows.
func (s *Statuses) lookupStored(ctx context.Context, tenant string, ids []string, attributes ...string) (
	map[string]storedStatus, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, statusKey(tenant, id))
	}
	attributes = append([]string{"entity", "lifecycle_status"}, attributes...)
	items, err := s.table.GetAll(ctx, keys, attributes...)
	if err != nil {
		return nil, fmt.Errorf("look up entities: %w", err)
	}
	found := make(map[string]storedStatus, len(items))
	for _, item := range items {
		if status := dynamo.StringAttribute(item, "lifecycle_status"); status != "" {
			id := dynamo.StringAttribute(item, "entity")[len(tenant)+1:]
			found[id] = storedStatus{id, entity.LifecycleStatus(status), item}
		}
	}
	return found, nil
}
