package policydb

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// CreateDraft implements policy.DraftStore.
func (s *Store) CreateDraft(ctx context.Context, tenant, policyID string, d policy.NewDraft) (policy.Version, error) {
	return retry(ctx, func() (policy.Version, error) {
		row, err := get[policyRow](ctx, s, policyKey(tenant, policyID))
		if err != nil {
			return policy.Version{}, err
		}
		return s.addDraft(ctx, tenant, row, newDraftRow(policyID, d, 0, s.newID()))
	})
}

// checkNewDraft returns an error if a policy cannot get another draft in a workspace.
func (r policyRow) checkNewDraft(workspaceID string) error {
	if _, exists := r.draftOf(workspaceID); exists {
		return policy.ErrExists
	}
	if len(r.Drafts) >= policy.MaxDrafts {
		return policy.ErrTooMany
	}
	return nil
}

// addDraft gives a draft the next number, and lists it in the row of its policy. It returns errOvertaken if the policy
// has changed since its row was read.
func (s *Store) addDraft(ctx context.Context, tenant string, row policyRow, draft versionRow) (policy.Version, error) {
	if err := row.checkNewDraft(draft.Workspace); err != nil {
		return policy.Version{}, err
	}
	row.LastNumber++
	row.Newest = row.LastNumber
	draft.Number = row.LastNumber
	row.Drafts = append(slices.Clone(row.Drafts), draftRow{draft.Workspace, draft.Number, draft.Key})
	row.Revision++
	if err := s.table.Transact(ctx, "create draft of a policy",
		s.replace(encode(policyKey(tenant, row.ID), row), row.Revision-1),
		s.create(encode(versionKey(tenant, row.ID, draft.Number), draft)),
	); err != nil {
		return policy.Version{}, err
	}
	return draft.version()
}

// SetLocked implements policy.DraftStore.
func (s *Store) SetLocked(ctx context.Context, w policy.Workspace, isLocked bool) (policy.Version, error) {
	return retry(ctx, func() (policy.Version, error) {
		_, version, err := s.findDraft(ctx, w)
		if err != nil {
			return policy.Version{}, err
		}
		if version.IsLocked == isLocked {
			return version.version()
		}
		version.IsLocked = isLocked
		version.Revision++
		row := encode(versionKey(w.Tenant, w.PolicyID, version.Number), version)
		if err := s.table.Transact(ctx, "lock workspace", s.replace(row, version.Revision-1)); err != nil {
			return policy.Version{}, err
		}
		return version.version()
	})
}

// Discard implements policy.DraftStore.
func (s *Store) Discard(ctx context.Context, tenant, policyID string, number int64) error {
	_, err := retry(ctx, func() (struct{}, error) { return struct{}{}, s.discard(ctx, tenant, policyID, number) })
	if err == nil {
		s.sweep(ctx, tenant, policyID)
	}
	return err
}

// discard is one attempt to discard a draft.
func (s *Store) discard(ctx context.Context, tenant, policyID string, number int64) error {
	row, version, err := s.readVersion(ctx, tenant, policyID, number)
	switch {
	case err != nil:
		return err
	case version.Status != policy.Draft:
		return policy.ErrNotDraft
	}
	next := row.withoutDraft(number)
	if row.Newest == number {
		if next.Newest, err = s.newestBut(ctx, tenant, policyID, number); err != nil {
			return err
		}
	}
	return s.table.Transact(ctx, "discard draft of a policy",
		s.replace(encode(policyKey(tenant, policyID), next), row.Revision),
		// Every change of a draft's status writes the policy's row, too.
		s.table.Delete(versionKey(tenant, policyID, number), "", nil))
}

// newestBut returns the number of the newest version but one, 0 if there is no other.
func (s *Store) newestBut(ctx context.Context, tenant, policyID string, number int64) (int64, error) {
	items, _, err := s.listPage(ctx, tenant+"#policy#"+policyID, versionPrefix, "", 2, true)
	if err != nil {
		return 0, err
	}
	for _, item := range items {
		if n := dynamo.NumberAttribute(item, "number"); n != number {
			return n, nil
		}
	}
	return 0, nil
}

// Publish implements policy.DraftStore.
func (s *Store) Publish(ctx context.Context, tenant, policyID string, number int64, p policy.Publication) (
	policy.Version, error) {
	return retry(ctx, func() (policy.Version, error) {
		row, version, err := s.readVersion(ctx, tenant, policyID, number)
		switch {
		case err != nil:
			return policy.Version{}, err
		case version.Status == policy.Published:
			return version.version()
		case version.Status != policy.Draft:
			return policy.Version{}, policy.ErrNotDraft
		}
		if p.CheckAuthor != nil {
			if err := p.CheckAuthor(cmp.Or(version.ChangedBy, version.CreatedBy)); err != nil {
				return policy.Version{}, err
			}
		}
		return s.publish(ctx, tenant, row, version, p)
	})
}

// publish is one attempt to publish a draft.
func (s *Store) publish(ctx context.Context, tenant string, row policyRow, version versionRow, p policy.Publication) (
	policy.Version, error) {
	var err error
	if version.Digest, err = s.bundle(ctx, tenant, row, version, p.Check); err != nil {
		return policy.Version{}, err
	}
	version.Status = policy.Published
	version.PublishedAt, version.PublishedBy = dynamo.FormatTime(p.By.At), p.By.By
	version.Revision++
	next := row.withoutDraft(version.Number)
	next.Published, next.Base, next.BaseDigest = version.Number, version.Number, version.Digest
	next.LastPublishedAt = version.PublishedAt
	if err := s.table.Transact(ctx, "publish version of a policy",
		s.replace(encode(policyKey(tenant, row.ID), next), row.Revision),
		s.replace(encode(versionKey(tenant, row.ID, version.Number), version), version.Revision-1),
		s.countPublication(tenant),
	); err != nil {
		return policy.Version{}, err
	}
	s.sweep(ctx, tenant, row.ID)
	return version.version()
}

// bundle checks the contents of a draft, stores them as an object, and returns their digest.
func (s *Store) bundle(ctx context.Context, tenant string, row policyRow, draft versionRow,
	check func(policy.Contents) error) (digest string, err error) {
	c, _, err := s.draftContents(ctx, tenant, row, draft)
	if err != nil {
		return "", err
	}
	if err := c.CheckSize(); err != nil {
		return "", err
	}
	text, digest, err := policy.EncodeContents(c)
	if err != nil {
		return "", err
	}
	if check != nil {
		if err := check(c); err != nil {
			return "", err
		}
	}
	return digest, s.bundles.write(ctx, tenant, digest, text)
}

// sweep removes dead changes. Changes that it leaves, because of an error or because others write the policy, are
// harmless and removed by the next sweep, so it reports nothing.
func (s *Store) sweep(ctx context.Context, tenant, policyID string) {
	row, err := get[policyRow](ctx, s, policyKey(tenant, policyID))
	if err != nil {
		return
	}
	rows, err := s.changeRows(ctx, tenant, policyID)
	if err != nil {
		return
	}
	dead := slices.DeleteFunc(rows, row.isLive)
	if len(dead) == 0 || s.touch(ctx, tenant, row) != nil {
		return
	}
	_ = each(ctx, dead, func(ctx context.Context, c changeRow) error {
		err := s.table.Apply(ctx, "sweep", s.table.Delete(key(tenant, "policy#"+policyID, c.Part), "edit = :edit",
			dynamo.Item{":edit": dynamo.String(c.Edit)}))
		if errors.Is(err, dynamo.ErrRefused) {
			return nil // another draft has overwritten it
		}
		return err
	})
}

// touch gives a policy the next revision. From then on no draft can be listed that was written before, so that the
// changes that were dead before remain so. It returns errOvertaken if the policy has changed since its row was read.
func (s *Store) touch(ctx context.Context, tenant string, row policyRow) error {
	return s.table.Apply(ctx, "write policy", s.nextRevision(tenant, row))
}

// nextRevision returns the write that gives a policy the next revision, as touch does.
func (s *Store) nextRevision(tenant string, row policyRow) dynamo.Write {
	values := dynamo.Item{":revision": dynamo.Number(row.Revision), ":next": dynamo.Number(row.Revision + 1)}
	return s.table.Update(policyKey(tenant, row.ID), "SET revision = :next", "revision = :revision", values).
		Or(errOvertaken)
}
