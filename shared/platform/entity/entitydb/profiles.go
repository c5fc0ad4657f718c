package entitydb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/access"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
)

// Profiles is the entity.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>#entity#<id>        entity                 a profile, unless it is as an import made it (imported.go)
//	<tenant>#draft#<id>         draft                  a draft
//	<tenant>#journey#<journey>  <creation time>#<id>   a draft of the journey, without its properties
//	paging                      key                    the key that seals page tokens
//
// so that the drafts of a journey are listed in small items, strongly consistent, however large the drafts are. The
// lifecycle status stays in the table of Statuses, where batch validation reads it; both are written in one
// transaction. A profile that is as an import made it is there, too (imported.go).
type Profiles struct {
	table       dynamo.Table
	statusTable dynamo.Table
}

var _ entity.Store = (*Profiles)(nil)

// NewProfiles returns the store on the given tables: its own and the table of Statuses.
func NewProfiles(db *dynamodb.Client, table, statusesTable string) *Profiles {
	return &Profiles{dynamo.Table{DB: db, Name: table}, dynamo.Table{DB: db, Name: statusesTable}}
}

// putBody returns a write that stores a body under a key with one more than the previous count. A previous count of 0
// means that there is no such item; any other is the condition of the write.
func (s *Profiles) putBody(key dynamo.Item, body []byte, previous int64) dynamo.Write {
	key["body"], key["count"] = dynamo.Binary(body), dynamo.Number(previous+1)
	if previous == 0 {
		return s.table.Put(key, dynamo.Absent, nil)
	}
	return s.table.Put(key, "#count = :count", dynamo.Item{":count": dynamo.Number(previous)})
}

// Create implements entity.Store.
func (s *Profiles) Create(ctx context.Context, tenant string, p entity.Profile) error {
	writes, err := s.entityWrites(tenant, p, p.BaseStatus, "")
	if err != nil {
		return err
	}
	return s.transact(ctx, writes)
}

// entityWrites returns the writes that store a profile, whose Revision is one more than the one read, and make status
// the lifecycle status of the entity. They hold only if the previous lifecycle status is the given one; "" if the
// entity must not exist. The list of the tenant's entities changes with them.
func (s *Profiles) entityWrites(tenant string, p entity.Profile, status, previous entity.LifecycleStatus) (
	[]dynamo.Write, error) {
	listed, formerly := listPart(p), p.ListedAs
	p.ListedAs = listed
	body, err := marshalProfile(p)
	if err != nil {
		return nil, err
	}
	writeStatus := s.createStatus(tenant, p.ID, status)
	if previous != "" {
		// The profile gets a row of its own.
		writeStatus = s.changeStatus(tenant, p.ID, status, previous, " REMOVE #"+profileAttribute, "")
	}
	writes := []dynamo.Write{
		s.putBody(profileKey(tenant, p.ID), body, p.Revision-1),
		writeStatus,
		s.putInList(tenant, p, status),
	}
	if formerly != "" && formerly != listed {
		writes = append(writes, s.table.Delete(dynamo.Key(listOwner(tenant, listShard(p.ID)), formerly), "", nil))
	}
	return writes, nil
}

// GetProfile implements entity.Store.
func (s *Profiles) GetProfile(ctx context.Context, tenant, id string) (entity.Profile, entity.LifecycleStatus, error) {
	found, err := s.findStatus(ctx, tenant, id)
	if err != nil {
		return entity.Profile{}, "", err
	}
	status := found.LifecycleStatus
	if status == "" {
		return entity.Profile{}, "", errors.New("read entity: the row has no lifecycle status")
	}
	if p, isImported, err := found.importedProfile(); isImported || err != nil {
		return p, status, err
	}
	item, err := s.get(ctx, s.table, profileKey(tenant, found.ID))
	if errors.Is(err, entity.ErrNotFound) { // An earlier release imported the status alone.
		return entity.Profile{ID: found.ID, BaseStatus: status}, status, nil
	}
	if err != nil {
		return entity.Profile{}, "", err
	}
	p, err := unmarshalProfile(item)
	return p, status, err
}

// findStatus reads the whole row of an entity's status.
func (s *Profiles) findStatus(ctx context.Context, tenant, id string) (storedStatus, error) {
	for _, form := range entityid.Forms(id) {
		item, err := s.get(ctx, s.statusTable, statusKey(tenant, form))
		if !errors.Is(err, entity.ErrNotFound) {
			status := entity.LifecycleStatus(dynamo.StringAttribute(item, "lifecycle_status"))
			return storedStatus{form, status, item}, err
		}
	}
	return storedStatus{}, entity.ErrNotFound
}

// GetDraft implements entity.Store.
func (s *Profiles) GetDraft(ctx context.Context, tenant, id string) (entity.Draft, error) {
	item, err := s.get(ctx, s.table, draftKey(tenant, id))
	if err != nil {
		return entity.Draft{}, err
	}
	return unmarshalDraft(item)
}

// GetDrafts implements entity.Store.
func (s *Profiles) GetDrafts(ctx context.Context, tenant string, ids []string) ([]entity.Draft, error) {
	return getAll(ctx, s, ids, func(id string) dynamo.Item { return draftKey(tenant, id) }, unmarshalDraft,
		func(d entity.Draft) string { return d.ID })
}

// getAll reads the items of the given IDs and returns their values, each once, in the order of the IDs.
func getAll[T any](ctx context.Context, s *Profiles, ids []string, keyOf func(id string) dynamo.Item,
	unmarshal func(dynamo.Item) (T, error), idOf func(T) string) ([]T, error) {
	var keys []dynamo.Item
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		keys = append(keys, keyOf(id))
	}
	items, err := s.table.GetAll(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read entities: %w", err)
	}
	found := make(map[string]T, len(items))
	for _, item := range items {
		v, err := unmarshal(item)
		if err != nil {
			return nil, err
		}
		found[idOf(v)] = v
	}
	all := make([]T, 0, len(found))
	for _, id := range ids {
		if v, ok := found[id]; ok {
			all = append(all, v)
			delete(found, id)
		}
	}
	return all, nil
}

// ListDrafts implements entity.Store.
func (s *Profiles) ListDrafts(ctx context.Context, tenant string, p entity.DraftPage) ([]entity.DraftRef, string,
	error) {
	owner := journeyOwner(tenant, p.JourneyID)
	query := s.table.Select("#owner = :owner", dynamo.Item{":owner": dynamo.String(owner)})
	// One more than the page has shows whether there is another page.
	query.Limit, query.ScanIndexForward = aws.Int32(int32(p.Limit+1)), aws.Bool(!p.Descending)
	if p.After != "" {
		query.ExclusiveStartKey = dynamo.Key(owner, p.After)
	}
	out, err := s.table.DB.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list drafts: %w", err)
	}
	var rows []draftRefRow
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &rows); err != nil {
		return nil, "", fmt.Errorf("list drafts: %w", err)
	}
	next := dynamo.StringAttribute(out.LastEvaluatedKey, "part")
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		next = rows[p.Limit-1].Part
	}
	refs := make([]entity.DraftRef, len(rows))
	for i, row := range rows {
		refs[i] = entity.DraftRef{
			DraftID: row.Draft, EntityID: row.Entity, Position: row.Part,
			Layers: access.Layers{Geographic: row.Geographic, BusinessRelated: row.Business},
		}
	}
	return refs, next, nil
}

// UpdateDraft implements entity.Store.
func (s *Profiles) UpdateDraft(ctx context.Context, tenant string, d entity.Draft) error {
	body, err := marshalDraft(d)
	if err != nil {
		return err
	}
	return s.transact(ctx, []dynamo.Write{s.putBody(draftKey(tenant, d.ID), body, d.Version-1)})
}

// ApplyUpdate implements entity.Store.
func (s *Profiles) ApplyUpdate(ctx context.Context, tenant string, u entity.Update) error {
	writes, err1 := s.entityWrites(tenant, u.Profile, u.Status, u.PreviousStatus)
	draft, err2 := marshalDraft(u.Draft)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	writes = append(writes, s.putBody(draftKey(tenant, u.Draft.ID), draft, u.Draft.Version-1))
	if u.Draft.Version == 1 {
		writes = append(writes, s.table.Put(draftRefItem(tenant, u.Draft), "", nil))
	}
	return s.transact(ctx, writes)
}

// PagingKey returns the key that seals page tokens, storing the candidate if no key is stored yet.
func (s *Profiles) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.table.DB, s.table.Name, candidate)
}

// transact applies all writes or none; entity.ErrChanged means that a condition did not hold.
func (s *Profiles) transact(ctx context.Context, writes []dynamo.Write) error {
	err := s.table.Transact(ctx, "write entity", writes...)
	if errors.Is(err, dynamo.ErrRefused) {
		return entity.ErrChanged
	}
	return err
}

// get reads one item; entity.ErrNotFound if it does not exist.
func (s *Profiles) get(ctx context.Context, table dynamo.Table, key dynamo.Item) (dynamo.Item, error) {
	item, err := table.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read entity: %w", err)
	}
	if item == nil {
		return nil, entity.ErrNotFound
	}
	return item, nil
}
