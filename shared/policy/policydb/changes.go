package policydb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/dynamo"
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

// operation is what is done to an object of a draft.
type operation int

const (
	add operation = iota
	update
	remove
	revert
)

// decide returns what a draft does to an object after an operation. Before is the object of the base, own what the
// draft does to it now; both are without an object if that is nothing.
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
		own.Type = policy.Unchanged // nothing is left of what was added
		return own, nil
	case isInBase:
		object.Type = policy.Updated
	default:
		object.Type = policy.Added
	}
	return object, nil
}

func hasObject(c policy.Change) bool { return c.Field != nil || c.Jurisdiction != nil }

// edit does something to an object of a draft.
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

// withFieldVersion gives the field of a change the version that it has in the draft: the one after that of the base
// or, if it is not there, the one after its own.
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

// edition is what was read to change an object.
type edition struct {
	policy policyRow
	draft  draftRow
	base   policy.Contents
	// stored is the row of a change of the object, whether it counts or not; without a part there is none.
	stored changeRow
	// before is the object in the base, own what the draft does to it.
	before, own policy.Change
}

// readEdit reads what is needed to change an object.
func (s *Store) readEdit(ctx context.Context, w policy.Workspace, object policy.Change) (edition, error) {
	var e edition
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

// writeEdit stores what a draft does to an object. It returns errOvertaken if others have written since.
func (s *Store) writeEdit(ctx context.Context, w policy.Workspace, e edition, next policy.Change) error {
	row, err := newChangeRow(e.draft, next, s.newID())
	if err != nil {
		return err
	}
	if next.Type == policy.Unchanged {
		row = changeRow{}
	}
	g := e.growth(next, row)
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		s.writeChange(w, row, e.stored), s.growDraft(w, e, g), s.requireBase(w, e),
	})
	switch {
	case failed[1]:
		return s.explainRefusal(ctx, w, e, g)
	case failed[0] || failed[2]:
		return errOvertaken
	case err != nil:
		return fmt.Errorf("change draft of a policy: %w", err)
	}
	return nil
}

// writeChange returns the write that replaces the row of a change; without a part, next removes it.
func (s *Store) writeChange(w policy.Workspace, next, stored changeRow) types.TransactWriteItem {
	owner := "policy#" + w.PolicyID
	values := dynamo.Item{":edit": dynamo.String(stored.Edit)}
	switch {
	case next.Part == "":
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.table, Key: key(w.Tenant, owner, stored.Part),
			ConditionExpression: aws.String("edit = :edit"), ExpressionAttributeValues: values,
		}}
	case stored.Part == "":
		return s.create(encode(key(w.Tenant, owner, next.Part), next))
	}
	return s.put(encode(key(w.Tenant, owner, next.Part), next), "edit = :edit", values)
}

// growth is how much a draft gets by a change, or loses.
type growth struct{ fields, jurisdictions, bytes int64 }

// growth returns the growth by a change, whose row is the given one, without a part if it is removed.
func (e edition) growth(next policy.Change, row changeRow) growth {
	g := growth{bytes: row.size()}
	if hasObject(e.own) {
		g.bytes -= e.stored.size()
	}
	objects := presence(e.before, next) - presence(e.before, e.own)
	if next.Field != nil {
		g.fields = objects
	} else {
		g.jurisdictions = objects
	}
	return g
}

// most is how much a draft may have so that there is room for a growth.
func (e edition) most(g growth) growth {
	return growth{
		fields:        policy.MaxFields - int64(len(e.base.Fields)) - g.fields,
		jurisdictions: policy.MaxJurisdictions - int64(len(e.base.Jurisdictions)) - g.jurisdictions,
		bytes:         policy.MaxBundleBytes - g.bytes,
	}
}

// growDraft returns the write of the draft's row that goes with a change: its next revision, and how much the draft
// has. Its condition fails if the draft is none any more, if its workspace is locked, or if it would grow beyond a
// limit.
func (s *Store) growDraft(w policy.Workspace, e edition, g growth) types.TransactWriteItem {
	update := &types.Update{
		TableName: &s.table, Key: versionKey(w.Tenant, w.PolicyID, e.draft.Number),
		UpdateExpression: aws.String(
			"ADD revision :one, #fields :fields, jurisdictions :jurisdictions, #bytes :bytes"),
		ConditionExpression: aws.String("#key = :key AND #status = :draft AND locked = :false"),
		ExpressionAttributeNames: map[string]string{
			"#status": "status", "#key": "key", "#fields": "fields", "#bytes": "bytes"},
		ExpressionAttributeValues: dynamo.Item{
			":one": dynamo.Number(1), ":fields": dynamo.Number(g.fields),
			":jurisdictions": dynamo.Number(g.jurisdictions), ":bytes": dynamo.Number(g.bytes),
			":key":   dynamo.String(e.draft.Key),
			":draft": dynamo.String(string(policy.Draft)), ":false": dynamo.Bool(false),
		},
	}
	limit := func(attribute, placeholder string, grows bool, most int64) {
		if grows {
			*update.ConditionExpression += " AND " + attribute + " <= " + placeholder
			update.ExpressionAttributeValues[placeholder] = dynamo.Number(most)
		}
	}
	most := e.most(g)
	limit("#fields", ":most_fields", g.fields > 0, most.fields)
	limit("jurisdictions", ":most_jurisdictions", g.jurisdictions > 0, most.jurisdictions)
	limit("#bytes", ":most_bytes", g.bytes > 0, most.bytes)
	return types.TransactWriteItem{Update: update}
}

// presence is 1 if a draft has an object, with what it does to it, and otherwise 0.
func presence(before, change policy.Change) int64 {
	isThere := hasObject(before)
	if hasObject(change) {
		switch change.Type {
		case policy.Added, policy.Updated:
			isThere = true
		case policy.Deleted:
			isThere = false
		}
	}
	if isThere {
		return 1
	}
	return 0
}

// requireBase returns the part of a change that requires the base to be the one that was read. If the change
// overwrites a dead one, it gives the policy the next revision.
func (s *Store) requireBase(w policy.Workspace, e edition) types.TransactWriteItem {
	if e.stored.Part == "" || e.policy.isLive(e.stored) {
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: &s.table, Key: policyKey(w.Tenant, w.PolicyID),
			ConditionExpression:       aws.String("#base = :base"),
			ExpressionAttributeNames:  map[string]string{"#base": "base"},
			ExpressionAttributeValues: dynamo.Item{":base": dynamo.Number(e.policy.Base)},
		}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: policyKey(w.Tenant, w.PolicyID),
		UpdateExpression:    aws.String("SET revision = :next"),
		ConditionExpression: aws.String("revision = :revision"),
		ExpressionAttributeValues: dynamo.Item{":revision": dynamo.Number(e.policy.Revision),
			":next": dynamo.Number(e.policy.Revision + 1)},
	}}
}

// explainRefusal returns the reason for which the row of a draft has not taken a change.
func (s *Store) explainRefusal(ctx context.Context, w policy.Workspace, e edition, g growth) error {
	draft, err := get[versionRow](ctx, s, versionKey(w.Tenant, w.PolicyID, e.draft.Number))
	most := e.most(g)
	switch {
	case errors.Is(err, policy.ErrNotFound):
		return errOvertaken // it was discarded; the workspace may have another one by now
	case err != nil:
		return err
	case draft.Status != policy.Draft:
		return errOvertaken
	case draft.IsLocked:
		return policy.ErrWorkspaceLocked
	case g.fields > 0 && draft.Fields > most.fields, g.jurisdictions > 0 && draft.Jurisdictions > most.jurisdictions:
		return policy.ErrTooMany
	case g.bytes > 0 && draft.Bytes > most.bytes:
		return policy.ErrTooLarge
	}
	return errOvertaken
}

// cutPart returns the prefix and the ID of the part of a change.
func cutPart(part string) (prefix, id string, ok bool) {
	for _, prefix := range []string{fieldPrefix, jurisdictionPrefix} {
		if id, ok := strings.CutPrefix(part, prefix); ok {
			return prefix, id, true
		}
	}
	return "", "", false
}
