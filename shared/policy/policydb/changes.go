package policydb

import (
	"context"

	"sluice/shared/policy"
)

// AddField implements policy.DraftStore.
func (s *Store) AddField(ctx context.Context, w policy.Workspace, f policy.Field) (policy.Change, error) {
	f.Version = 0
	return s.edit(ctx, w, policy.Change{Field: &f}, add)
}

// UpdateField implements policy.DraftStore.
func (s *Store) UpdateField(ctx context.Context, w policy.Workspace, f policy.Field) (policy.Change, error) {
	f.Version = 0
	return s.edit(ctx, w, policy.Change{Field: &f}, update)
}

// DeleteField implements policy.DraftStore.
func (s *Store) DeleteField(ctx context.Context, w policy.Workspace, fieldID string) (policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Field: &policy.Field{ID: fieldID}}, remove)
}

// RevertField implements policy.DraftStore.
func (s *Store) RevertField(ctx context.Context, w policy.Workspace, fieldID string) (policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Field: &policy.Field{ID: fieldID}}, revert)
}

// AddJurisdiction implements policy.DraftStore.
func (s *Store) AddJurisdiction(ctx context.Context, w policy.Workspace, j policy.Jurisdiction) (policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Jurisdiction: &j}, add)
}

// UpdateJurisdiction implements policy.DraftStore.
func (s *Store) UpdateJurisdiction(ctx context.Context, w policy.Workspace, j policy.Jurisdiction) (
	policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Jurisdiction: &j}, update)
}

// DeleteJurisdiction implements policy.DraftStore.
func (s *Store) DeleteJurisdiction(ctx context.Context, w policy.Workspace, id string) (policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Jurisdiction: &policy.Jurisdiction{ID: id}}, remove)
}

// RevertJurisdiction implements policy.DraftStore.
func (s *Store) RevertJurisdiction(ctx context.Context, w policy.Workspace, id string) (policy.Change, error) {
	return s.edit(ctx, w, policy.Change{Jurisdiction: &policy.Jurisdiction{ID: id}}, revert)
}

// operation is a kind of change of an object of a draft.
type operation int

const (
	add operation = iota
	update
	remove
	revert
)

// decide returns the change of an object in a draft after an operation. before is the object of the base and own its
// present change in the draft; either may be without an object.
func (o operation) decide(object, before, own policy.Change) (policy.Change, error) {
	isInBase, isChanged := hasObject(before), hasObject(own)
	isThere := isInBase
	if isChanged {
		isThere = own.Type != policy.Deleted
	}
	switch {
	case o == add && isThere:
		return object, policy.ErrExists
	case (o == update || o == remove) && !isThere, o == revert && !isInBase && !isChanged:
		return object, policy.ErrNotFound
	case o == revert && isInBase:
		before.Type = policy.Unchanged
		return before, nil
	case o == remove && isInBase:
		before.Type = policy.Deleted
		return before, nil
	case o == revert, o == remove:
		own.Type = policy.Unchanged // the added object is gone
		return own, nil
	case isInBase:
		object.Type = policy.Updated
	default:
		object.Type = policy.Added
	}
	return object, nil
}

func hasObject(c policy.Change) bool { return c.Field != nil || c.Jurisdiction != nil }

// edit changes an object of a draft by an operation.
func (s *Store) edit(ctx context.Context, w policy.Workspace, object policy.Change, o operation) (
	policy.Change, error) {
	return retry(ctx, func() (policy.Change, error) {
		e, err := s.readEdit(ctx, w, object)
		if err != nil {
			return policy.Change{}, err
		}
		next, err := o.decide(object, e.before, e.own)
		if err != nil {
			return policy.Change{}, err
		}
		next.WorkspaceID = w.ID
		if next.Type == policy.Added || next.Type == policy.Updated {
			next = withFieldVersion(e.before.Field, next)
		}
		if next.Type == policy.Unchanged && !hasObject(e.own) {
			return next, nil
		}
		return next, s.writeEdit(ctx, w, e, next)
	})
}

// withFieldVersion gives the field of a change its version in the draft: the next one after the version in the base or,
// if it is not there, after its own.
func withFieldVersion(before *policy.Field, c policy.Change) policy.Change {
	if c.Field == nil {
		return c
	}
	f := *c.Field
	if before != nil {
		f.Version = before.Version
	}
	f.Version++
	c.Field = &f
	return c
}

// objectState is the state that was read to change an object.
type objectState struct {
	policy policyRow
	draft  draftRow
	base   policy.Contents
	// stored is the row of a change of the object, whether it counts or not; without a part there is none.
	stored changeRow
	// before is the object in the base, own its change in the draft.
	before, own policy.Change
}

// readEdit reads the state that is needed to change an object.
func (s *Store) readEdit(ctx context.Context, w policy.Workspace, object policy.Change) (objectState, error) {
	var e objectState
	items, err := s.read(ctx, policyKey(w.Tenant, w.PolicyID), key(w.Tenant, "policy#"+w.PolicyID, partOf(object)))
	if err != nil {
		return e, err
	}
	if e.policy, err = decode[policyRow](items[0]); err != nil {
		return e, err
	}
	var found bool
	if e.draft, found = e.policy.draftOf(w.ID); !found {
		return e, policy.ErrNoDraft
	}
	if items[1] != nil {
		if e.stored, err = decode[changeRow](items[1]); err != nil {
			return e, err
		}
	}
	switch {
	case e.stored.Part == "" || !e.policy.isLive(e.stored):
	case e.stored.Draft != e.draft.Key:
		return e, &policy.LockedError{ID: object.ObjectID(), WorkspaceID: e.stored.Workspace}
	default:
		if e.own, err = e.stored.change(); err != nil {
			return e, err
		}
	}
	if e.base, err = s.baseContents(ctx, w.Tenant, e.policy); err != nil {
		return e, err
	}
	if object.Field != nil {
		e.before.Field = findField(e.base, object.Field.ID)
	} else {
		e.before.Jurisdiction = findJurisdiction(e.base, object.Jurisdiction.ID)
	}
	return e, nil
}
