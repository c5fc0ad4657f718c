package policydb

import (
	"context"
	"errors"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// CreatePolicy implements policy.PolicyStore.
func (s *Store) CreatePolicy(ctx context.Context, p policy.Policy, d policy.NewDraft) (
	policy.Policy, policy.Version, error) {
	draft := draftRow{Workspace: d.WorkspaceID, Number: 1, Key: s.newID()}
	row := policyRow{
		ID: p.ID, EntityType: p.EntityType, LastNumber: 1, Newest: 1, Drafts: []draftRow{draft},
		CreatedAt: dynamo.FormatTime(p.Created.At), CreatedBy: p.Created.By, Revision: 1,
	}
	version := newDraftRow(p.ID, d, 1, draft.Key)
	if err := s.table.Transact(ctx, "create policy",
		s.create(encode(policyKey(p.Tenant, p.ID), row)).Or(policy.ErrExists),
		s.create(encode(versionKey(p.Tenant, p.ID, 1), version)).Or(policy.ErrExists),
		s.table.Put(key(p.Tenant, policiesOwner, policyPrefix+p.ID), "", nil),
		s.countOneMore(p.Tenant, policiesOwner, policy.MaxPolicies),
	); err != nil {
		return policy.Policy{}, policy.Version{}, err
	}
	created, err := row.policy(p.Tenant)
	if err != nil {
		return policy.Policy{}, policy.Version{}, err
	}
	v, err := version.version()
	return created, v, err
}

// GetPolicy implements policy.PolicyStore.
func (s *Store) GetPolicy(ctx context.Context, tenant, id string) (policy.Policy, error) {
	row, err := get[policyRow](ctx, s, policyKey(tenant, id))
	if err != nil {
		return policy.Policy{}, err
	}
	return row.policy(tenant)
}

// ListPolicies implements policy.PolicyStore.
func (s *Store) ListPolicies(ctx context.Context, tenant, after string, limit int) ([]policy.Policy, string, error) {
	if after != "" {
		after = policyPrefix + after
	}
	items, next, err := s.listPage(ctx, tenant+"#"+policiesOwner, policyPrefix, after, limit, false)
	if err != nil {
		return nil, "", err
	}
	keys := make([]dynamo.Item, len(items))
	for i, item := range items {
		keys[i] = policyKey(tenant, strings.TrimPrefix(dynamo.StringAttribute(item, "part"), policyPrefix))
	}
	rows, err := s.read(ctx, keys...)
	if err != nil {
		return nil, "", err
	}
	policies := make([]policy.Policy, len(rows))
	for i, item := range rows {
		row, err := decode[policyRow](item)
		if err != nil {
			return nil, "", err
		}
		if policies[i], err = row.policy(tenant); err != nil {
			return nil, "", err
		}
	}
	return policies, strings.TrimPrefix(next, policyPrefix), nil
}

// GetVersion implements policy.PolicyStore.
func (s *Store) GetVersion(ctx context.Context, tenant, policyID string, number int64) (policy.Version, error) {
	row, err := get[versionRow](ctx, s, versionKey(tenant, policyID, number))
	if err != nil {
		return policy.Version{}, err
	}
	return row.version()
}

// GetVersions implements policy.PolicyStore.
func (s *Store) GetVersions(ctx context.Context, tenant string, refs []policy.VersionRef) ([]policy.Version, error) {
	keys := make([]dynamo.Item, len(refs))
	for i, ref := range refs {
		keys[i] = versionKey(tenant, ref.PolicyID, ref.Number)
	}
	rows, err := s.read(ctx, keys...)
	if err != nil {
		return nil, err
	}
	return versionsOf(rows)
}

// versionsOf returns the versions of rows, those that are nil left out.
func versionsOf(items []dynamo.Item) ([]policy.Version, error) {
	versions := make([]policy.Version, 0, len(items))
	for _, item := range items {
		if item == nil {
			continue
		}
		row, err := decode[versionRow](item)
		if err != nil {
			return nil, err
		}
		v, err := row.version()
		if err != nil {
			return nil, err
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// ListVersions implements policy.PolicyStore.
func (s *Store) ListVersions(ctx context.Context, tenant, policyID, after string, limit int) (
	[]policy.Version, string, error) {
	start, err := afterVersion(after)
	if err != nil {
		return nil, "", err
	}
	items, next, err := s.listPage(ctx, tenant+"#policy#"+policyID, versionPrefix, start, limit, true)
	if err != nil {
		return nil, "", err
	}
	versions, err := versionsOf(items)
	return versions, versionPosition(next), err
}

// FindDraft implements policy.PolicyStore.
func (s *Store) FindDraft(ctx context.Context, w policy.Workspace) (policy.Version, error) {
	_, row, err := s.findDraft(ctx, w)
	if err != nil {
		return policy.Version{}, err
	}
	return row.version()
}

// findDraft reads a policy and the draft that is edited in a workspace.
func (s *Store) findDraft(ctx context.Context, w policy.Workspace) (policyRow, versionRow, error) {
	row, err := get[policyRow](ctx, s, policyKey(w.Tenant, w.PolicyID))
	if err != nil {
		return row, versionRow{}, err
	}
	d, found := row.draftOf(w.ID)
	if !found {
		return row, versionRow{}, policy.ErrNoDraft
	}
	version, err := get[versionRow](ctx, s, versionKey(w.Tenant, w.PolicyID, d.Number))
	if errors.Is(err, policy.ErrNotFound) || err == nil && version.Status != policy.Draft {
		err = policy.ErrNoDraft // it was discarded or published since
	}
	return row, version, err
}

// readVersion reads a policy and one of its versions.
func (s *Store) readVersion(ctx context.Context, tenant, policyID string, number int64) (policyRow, versionRow, error) {
	items, err := s.read(ctx, policyKey(tenant, policyID), versionKey(tenant, policyID, number))
	if err != nil {
		return policyRow{}, versionRow{}, err
	}
	row, err := decode[policyRow](items[0])
	if err != nil {
		return row, versionRow{}, err
	}
	version, err := decode[versionRow](items[1])
	return row, version, err
}

// Archive implements policy.PolicyStore.
func (s *Store) Archive(ctx context.Context, tenant, policyID string, number int64, reason string, by policy.Stamp) (
	policy.Version, error) {
	return retry(ctx, func() (policy.Version, error) {
		row, version, err := s.readVersion(ctx, tenant, policyID, number)
		switch {
		case err != nil:
			return policy.Version{}, err
		case number != row.Base:
			return policy.Version{}, policy.ErrNotLastPublished
		case version.Status == policy.Archived:
			return version.version()
		}
		row.Published = 0
		row.Revision++
		version.Status, version.ArchiveReason = policy.Archived, reason
		version.ArchivedAt, version.ArchivedBy = dynamo.FormatTime(by.At), by.By
		version.Revision++
		if err := s.table.Transact(ctx, "archive version of a policy",
			s.replace(encode(policyKey(tenant, policyID), row), row.Revision-1),
			s.replace(encode(versionKey(tenant, policyID, number), version), version.Revision-1),
			s.countPublication(tenant),
		); err != nil {
			return policy.Version{}, err
		}
		return version.version()
	})
}
