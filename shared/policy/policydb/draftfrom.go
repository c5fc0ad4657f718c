package policydb

import (
	"context"

	"golang.org/x/sync/errgroup"

	"sluice/shared/policy"
)

// CreateDraftFrom implements policy.DraftStore. It writes the changes of the draft first, however many, while they are
// dead; the write that lists the draft makes all of them count at once.
func (s *Store) CreateDraftFrom(ctx context.Context, tenant, policyID string, source int64, d policy.NewDraft) (
	policy.Version, error) {
	draft := newDraftRow(policyID, d, 0, s.newID())
	return retry(ctx, func() (policy.Version, error) {
		return s.createDraftFrom(ctx, tenant, policyID, source, draft)
	})
}

// createDraftFrom is one attempt. It writes all changes again, also those that a former attempt has written: others who
// have seen those may overwrite them.
func (s *Store) createDraftFrom(ctx context.Context, tenant, policyID string, source int64, draft versionRow) (
	policy.Version, error) {
	row, from, err := s.readVersion(ctx, tenant, policyID, source)
	switch {
	case err != nil:
		return policy.Version{}, err
	case from.Status == policy.Draft:
		return policy.Version{}, policy.ErrIsDraft
	}
	if err := row.checkNewDraft(draft.Workspace); err != nil {
		return policy.Version{}, err
	}
	want, base, err := s.differences(ctx, tenant, row, from, &draft)
	if err != nil {
		return policy.Version{}, err
	}
	stored, err := s.changeRows(ctx, tenant, policyID)
	if err != nil {
		return policy.Version{}, err
	}
	if err := checkGrowth(base, draft); err != nil {
		return policy.Version{}, err
	}
	row, err = s.writeDeadChanges(ctx, tenant, row, draft.Key, want, stored)
	if err != nil {
		return policy.Version{}, err
	}
	return s.addDraft(ctx, tenant, row, draft)
}

// differences returns the changes that make the base of a policy the source of a draft, by the parts of their rows, and
// counts them in the draft's row.
func (s *Store) differences(ctx context.Context, tenant string, row policyRow, source versionRow, draft *versionRow) (
	map[string]changeRow, policy.Contents, error) {
	base, err := s.baseContents(ctx, tenant, row)
	if err != nil {
		return nil, base, err
	}
	to, err := s.bundles.read(ctx, tenant, source.Digest)
	if err != nil {
		return nil, base, err
	}
	name := draftRow{Workspace: draft.Workspace, Key: draft.Key}
	want := map[string]changeRow{}
	draft.Fields = int64(len(to.Fields) - len(base.Fields))
	draft.Jurisdictions = int64(len(to.Jurisdictions) - len(base.Jurisdictions))
	draft.Bytes = 0
	for _, c := range policy.Differences(base, to) {
		if c.Field != nil && c.Type != policy.Deleted {
			c = withFieldVersion(findField(base, c.Field.ID), c)
		}
		change, err := newChangeRow(name, c, s.newID())
		if err != nil {
			return nil, base, err
		}
		want[change.Part] = change
		draft.Bytes += change.size()
	}
	return want, base, nil
}

// checkGrowth returns an error if the changes of a draft are too many or too large.
func checkGrowth(base policy.Contents, draft versionRow) error {
	switch {
	case int64(len(base.Fields))+draft.Fields > policy.MaxFields,
		int64(len(base.Jurisdictions))+draft.Jurisdictions > policy.MaxJurisdictions:
		return policy.ErrTooMany
	case draft.Bytes > policy.MaxBundleBytes:
		return policy.ErrTooLarge
	}
	return nil
}

// writeDeadChanges makes the changes of a draft that is not listed yet those that are wanted. It returns the row of the
// policy with the revision that the policy must have when the draft is listed.
func (s *Store) writeDeadChanges(ctx context.Context, tenant string, row policyRow, draftKey string,
	want map[string]changeRow, stored []changeRow) (policyRow, error) {
	type write struct {
		next, previous changeRow
	}
	var writes []write
	isInTheWay := false
	found := map[string]bool{}
	for _, c := range stored {
		next, isWanted := want[c.Part]
		found[c.Part] = true
		switch {
		case isWanted && row.isLive(c):
			_, id, _ := cutPart(c.Part)
			return row, &policy.LockedError{ID: id, WorkspaceID: c.Workspace}
		case c.Draft == draftKey || isWanted:
			// A change that is not wanted any more is removed: next has no part.
			writes = append(writes, write{next, c})
			isInTheWay = isInTheWay || c.Draft != draftKey
		}
	}
	for part, next := range want {
		if !found[part] {
			writes = append(writes, write{next, changeRow{}})
		}
	}
	if isInTheWay {
		if err := s.touch(ctx, tenant, row); err != nil {
			return row, err
		}
		row.Revision++
	}
	err := each(ctx, writes, func(ctx context.Context, w write) error {
		return s.table.Apply(ctx, "write change of a policy", s.writeChange(tenant, row.ID, w.next, w.previous))
	})
	return row, err
}

// concurrency is how many changes are written at once.
const concurrency = 32

// each calls write for rows, several at once, until one fails.
func each[R any](ctx context.Context, rows []R, write func(context.Context, R) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, r := range rows {
		g.Go(func() error { return write(ctx, r) })
	}
	return g.Wait()
}
