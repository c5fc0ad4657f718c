package policydb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

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
