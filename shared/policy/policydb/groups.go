package policydb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// groupRow is a data group as a whole, as it is stored.
type groupRow struct {
	ID        string `dynamodbav:"id"`
	Newest    int64  `dynamodbav:"newest"`
	Published int64  `dynamodbav:"published"`
}

// groupVersionRow is a version of a data group as it is stored. The row of the published one is a copy of it.
type groupVersionRow struct {
	// Body is the version as JSON, in the form that bundles have.
	Body     []byte `dynamodbav:"body"`
	Revision int64  `dynamodbav:"revision"`
}

const (
	groupPrefix     = "group#"
	publishedPrefix = "published#"
	changesPart     = "changes"
)

func groupKey(tenant, id string) dynamo.Item { return key(tenant, groupsOwner, groupPrefix+id) }

func publishedKey(tenant, id string) dynamo.Item { return key(tenant, groupsOwner, publishedPrefix+id) }

func groupVersionKey(tenant, id string, version int64) dynamo.Item {
	return key(tenant, "group#"+id, versionPart(version))
}

// newGroupVersionRow returns the row of a version. It returns policy.ErrTooLarge if it is too large.
func newGroupVersionRow(g policy.DataGroup) (groupVersionRow, error) {
	row := groupVersionRow{Revision: g.Revision}
	g.Revision = 0
	var err error
	if row.Body, err = json.Marshal(g); err == nil && len(row.Body) > policy.MaxFieldBytes {
		err = policy.ErrTooLarge
	}
	return row, err
}

func (r groupVersionRow) group() (policy.DataGroup, error) {
	g := policy.DataGroup{}
	if err := json.Unmarshal(r.Body, &g); err != nil {
		return g, fmt.Errorf("read data group: %w", err)
	}
	g.Revision = r.Revision
	return g, nil
}

func decodeGroup(item dynamo.Item) (policy.DataGroup, error) {
	row, err := decode[groupVersionRow](item)
	if err != nil {
		return policy.DataGroup{}, err
	}
	return row.group()
}

// CreateDataGroup implements policy.DataGroupStore.
func (s *Store) CreateDataGroup(ctx context.Context, tenant string, g policy.DataGroup) (policy.DataGroup, error) {
	g.Version, g.Status, g.Reason, g.Revision = 1, policy.DataGroupDraft, "", 1
	row, err := newGroupVersionRow(g)
	if err != nil {
		return g, err
	}
	return g, s.table.Transact(ctx, "create data group",
		s.create(encode(groupKey(tenant, g.ID), groupRow{ID: g.ID, Newest: 1})).Or(policy.ErrExists),
		s.create(encode(groupVersionKey(tenant, g.ID, 1), row)).Or(policy.ErrExists),
		s.countOneMore(tenant, groupsOwner, policy.MaxDataGroups))
}

// AddDataGroupVersion implements policy.DataGroupStore.
func (s *Store) AddDataGroupVersion(ctx context.Context, tenant string, g policy.DataGroup) (policy.DataGroup, error) {
	return retry(ctx, func() (policy.DataGroup, error) {
		head, err := get[groupRow](ctx, s, groupKey(tenant, g.ID))
		if err != nil {
			return g, err
		}
		g.Version, g.Status, g.Reason, g.Revision = head.Newest+1, policy.DataGroupDraft, "", 1
		row, err := newGroupVersionRow(g)
		if err != nil {
			return g, err
		}
		return g, s.table.Transact(ctx, "add version of a data group",
			s.setGroup(tenant, g.ID, "newest", head.Newest, g.Version),
			s.create(encode(groupVersionKey(tenant, g.ID, g.Version), row)))
	})
}

// setGroup returns the write that sets an attribute of a data group, which is the one that was read.
func (s *Store) setGroup(tenant, id, attribute string, was, is int64) dynamo.Write {
	return s.table.Update(groupKey(tenant, id), "SET #"+attribute+" = :is", "#"+attribute+" = :was",
		dynamo.Item{":is": dynamo.Number(is), ":was": dynamo.Number(was)}).Or(errOvertaken)
}

// SaveDataGroup implements policy.DataGroupStore.
func (s *Store) SaveDataGroup(ctx context.Context, tenant string, g policy.DataGroup) (policy.DataGroup, error) {
	stored, err := s.GetDataGroup(ctx, tenant, g.ID, g.Version)
	switch {
	case err != nil:
		return g, err
	case stored.Status != policy.DataGroupDraft:
		return g, policy.ErrNotDraft
	case stored.Revision != g.Revision:
		return g, policy.ErrChanged
	}
	g.Status, g.Reason = stored.Status, stored.Reason
	g.Revision++
	row, err := newGroupVersionRow(g)
	if err != nil {
		return g, err
	}
	put := s.replace(encode(groupVersionKey(tenant, g.ID, g.Version), row), g.Revision-1)
	return g, s.table.Transact(ctx, "save data group", put.Or(policy.ErrChanged))
}

// SetDataGroupStatus implements policy.DataGroupStore.
func (s *Store) SetDataGroupStatus(ctx context.Context, tenant string, g policy.DataGroup,
	status policy.DataGroupStatus, reason string) (policy.DataGroup, error) {
	return retry(ctx, func() (policy.DataGroup, error) {
		items, err := s.read(ctx, groupKey(tenant, g.ID), groupVersionKey(tenant, g.ID, g.Version))
		if err != nil {
			return g, err
		}
		stored, err := decodeGroup(items[1])
		switch {
		case err != nil:
			return g, err
		case stored.Status == status:
			return stored, nil
		case stored.Revision != g.Revision:
			return g, policy.ErrChanged
		}
		if err := stored.Status.CheckNext(status); err != nil {
			return g, err
		}
		next := stored
		next.Status, next.Reason = status, reason
		next.Revision++
		writes, err := s.statusWrites(tenant, dynamo.NumberAttribute(items[0], "published"), next)
		if err != nil {
			return g, err
		}
		if err := s.table.Transact(ctx, "set status of a data group", writes...); err != nil {
			return g, err
		}
		return next, nil
	})
}

// statusWrites returns the writes that give a version its status; published is the version that is published now.
func (s *Store) statusWrites(tenant string, published int64, next policy.DataGroup) ([]dynamo.Write, error) {
	row, err := newGroupVersionRow(next)
	if err != nil {
		return nil, err
	}
	put := s.replace(encode(groupVersionKey(tenant, next.ID, next.Version), row), next.Revision-1)
	writes := []dynamo.Write{put.Or(policy.ErrChanged)}
	counted := s.table.Update(key(tenant, groupsOwner, changesPart), "ADD revision :one", "",
		dynamo.Item{":one": dynamo.Number(1)})
	switch {
	case next.Status == policy.DataGroupPublished:
		writes = append(writes, s.setGroup(tenant, next.ID, "published", published, next.Version), counted,
			s.table.Put(encode(publishedKey(tenant, next.ID), row), "", nil))
	case next.Status == policy.DataGroupArchived && published == next.Version:
		writes = append(writes, s.setGroup(tenant, next.ID, "published", published, 0), counted,
			s.table.Delete(publishedKey(tenant, next.ID), "", nil))
	case next.Status == policy.DataGroupArchived:
		writes = append(writes, s.setGroup(tenant, next.ID, "published", published, published))
	}
	return writes, nil
}

// GetDataGroup implements policy.DataGroupStore.
func (s *Store) GetDataGroup(ctx context.Context, tenant, id string, version int64) (policy.DataGroup, error) {
	row, err := get[groupVersionRow](ctx, s, groupVersionKey(tenant, id, version))
	if err != nil {
		return policy.DataGroup{}, err
	}
	return row.group()
}

// GetNewestDataGroup implements policy.DataGroupStore.
func (s *Store) GetNewestDataGroup(ctx context.Context, tenant, id string) (policy.DataGroup, error) {
	head, err := get[groupRow](ctx, s, groupKey(tenant, id))
	if err != nil {
		return policy.DataGroup{}, err
	}
	return s.GetDataGroup(ctx, tenant, id, head.Newest)
}

// ListDataGroups implements policy.DataGroupStore.
func (s *Store) ListDataGroups(ctx context.Context, tenant, after string, limit int) (
	[]policy.DataGroup, string, error) {
	if after != "" {
		after = groupPrefix + after
	}
	items, next, err := s.listPage(ctx, tenant+"#"+groupsOwner, groupPrefix, after, limit, false)
	if err != nil {
		return nil, "", err
	}
	keys := make([]dynamo.Item, len(items))
	for i, item := range items {
		keys[i] = groupVersionKey(tenant, dynamo.StringAttribute(item, "id"), dynamo.NumberAttribute(item, "newest"))
	}
	rows, err := s.read(ctx, keys...)
	if err != nil {
		return nil, "", err
	}
	groups, err := groupsOf(rows)
	return groups, strings.TrimPrefix(next, groupPrefix), err
}

func groupsOf(items []dynamo.Item) ([]policy.DataGroup, error) {
	groups := make([]policy.DataGroup, 0, len(items))
	for _, item := range items {
		g, err := decodeGroup(item)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// ListDataGroupVersions implements policy.DataGroupStore.
func (s *Store) ListDataGroupVersions(ctx context.Context, tenant, id, after string, limit int) (
	[]policy.DataGroup, string, error) {
	start, err := afterVersion(after)
	if err != nil {
		return nil, "", err
	}
	items, next, err := s.listPage(ctx, tenant+"#group#"+id, versionPrefix, start, limit, true)
	if err != nil {
		return nil, "", err
	}
	groups, err := groupsOf(items)
	return groups, versionPosition(next), err
}

// publishedGroups reads the published versions of the data groups of fields, and of the data groups of their fields, to
// one level more than custom groups may be nested, so that the compiler finds groups that are too deep. Groups that are
// not published are left out. The result is in the order of the IDs.
func (s *Store) publishedGroups(ctx context.Context, tenant string, fields []policy.Field) ([]policy.DataGroup, error) {
	var groups []policy.DataGroup
	seen := map[string]bool{}
	for range policy.MaxNesting + 2 {
		var keys []dynamo.Item
		for _, id := range policy.DataGroupIDs(fields) {
			if !seen[id] {
				seen[id] = true
				keys = append(keys, publishedKey(tenant, id))
			}
		}
		if len(keys) == 0 {
			break
		}
		rows, err := s.read(ctx, keys...)
		if err != nil {
			return nil, err
		}
		fields = nil
		for _, item := range rows {
			g, err := decodeGroup(item)
			if errors.Is(err, policy.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			g.Revision, g.Reason = 0, ""
			groups = append(groups, g)
			fields = append(fields, g.Fields...)
		}
	}
	slices.SortFunc(groups, func(a, b policy.DataGroup) int { return strings.Compare(a.ID, b.ID) })
	return groups, nil
}
