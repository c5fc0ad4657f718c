package policydb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// ReadContents implements policy.ContentsReader.
func (s *Store) ReadContents(ctx context.Context, tenant, policyID string, number int64) (policy.Snapshot, error) {
	return retry(ctx, func() (policy.Snapshot, error) {
		row, version, err := s.readVersion(ctx, tenant, policyID, number)
		if err != nil {
			return policy.Snapshot{}, err
		}
		return s.snapshot(ctx, tenant, row, version)
	})
}

// snapshot reads the contents of a version. It returns errOvertaken if it is a draft that has changed since its row was
// read.
func (s *Store) snapshot(ctx context.Context, tenant string, row policyRow, version versionRow) (
	snapshot policy.Snapshot, err error) {
	if snapshot.Version, err = version.version(); err != nil {
		return snapshot, err
	}
	if version.Status == policy.Draft {
		snapshot.Contents, snapshot.Changes, err = s.draftContents(ctx, tenant, row, version)
	} else {
		snapshot.Contents, err = s.bundles.read(ctx, tenant, version.Digest)
	}
	return snapshot, err
}

// ReadChanges implements policy.ContentsReader.
func (s *Store) ReadChanges(ctx context.Context, tenant, policyID string) ([]policy.Change, error) {
	row, err := get[policyRow](ctx, s, policyKey(tenant, policyID))
	if errors.Is(err, policy.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.liveChanges(ctx, tenant, row)
	if err != nil {
		return nil, err
	}
	return changesOf(rows)
}

func changesOf(rows []changeRow) ([]policy.Change, error) {
	changes := make([]policy.Change, len(rows))
	for i, r := range rows {
		var err error
		if changes[i], err = r.change(); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// changeRows reads the changes of a policy, dead ones included, in the order of their parts.
func (s *Store) changeRows(ctx context.Context, tenant, policyID string) ([]changeRow, error) {
	items, err := s.listAll(ctx, tenant+"#policy#"+policyID, changePrefix)
	if err != nil {
		return nil, err
	}
	rows := make([]changeRow, len(items))
	for i, item := range items {
		if rows[i], err = decode[changeRow](item); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// liveChanges reads the changes of a policy that count.
func (s *Store) liveChanges(ctx context.Context, tenant string, row policyRow) ([]changeRow, error) {
	rows, err := s.changeRows(ctx, tenant, row.ID)
	return slices.DeleteFunc(rows, func(c changeRow) bool { return !row.isLive(c) }), err
}

// draftContents reads the contents of a draft, and the changes of all drafts of its policy. It returns errOvertaken if
// the draft or its base has changed since their rows were read.
func (s *Store) draftContents(ctx context.Context, tenant string, row policyRow, draft versionRow) (
	policy.Contents, []policy.Change, error) {
	c, err := s.baseContents(ctx, tenant, row)
	if err != nil {
		return c, nil, err
	}
	rows, err := s.liveChanges(ctx, tenant, row)
	if err != nil {
		return c, nil, err
	}
	items, err := s.read(ctx, policyKey(tenant, row.ID), versionKey(tenant, row.ID, draft.Number))
	if err != nil {
		return c, nil, err
	}
	if dynamo.NumberAttribute(items[0], "base") != row.Base ||
		dynamo.NumberAttribute(items[1], "revision") != draft.Revision {
		return c, nil, errOvertaken
	}
	changes, err := changesOf(rows)
	if err != nil {
		return c, nil, err
	}
	own := slices.DeleteFunc(slices.Clone(changes), func(c policy.Change) bool {
		return c.WorkspaceID != draft.Workspace
	})
	c = policy.Apply(c, own)
	c.DataGroups, err = s.publishedGroups(ctx, tenant, c.Fields)
	return c, changes, err
}

// baseContents reads the contents of the base of a policy's drafts.
func (s *Store) baseContents(ctx context.Context, tenant string, row policyRow) (policy.Contents, error) {
	if row.Base == 0 {
		return policy.Contents{EntityType: row.EntityType}, nil
	}
	return s.bundles.read(ctx, tenant, row.BaseDigest)
}

// findField returns the field of contents, which are in the order of the IDs, nil if they have none of this ID.
func findField(c policy.Contents, id string) *policy.Field {
	i, found := slices.BinarySearchFunc(c.Fields, id, func(f policy.Field, id string) int {
		return strings.Compare(f.ID, id)
	})
	if !found {
		return nil
	}
	return &c.Fields[i]
}

// findJurisdiction returns the jurisdiction of contents as findField does.
func findJurisdiction(c policy.Contents, id string) *policy.Jurisdiction {
	i, found := slices.BinarySearchFunc(c.Jurisdictions, id, func(j policy.Jurisdiction, id string) int {
		return strings.Compare(j.ID, id)
	})
	if !found {
		return nil
	}
	return &c.Jurisdictions[i]
}
