package policydb

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/dynamo"
	"sluice/shared/policy"
)

// writeEdit stores the change of an object in a draft. It returns errOvertaken if others have written since.
func (s *Store) writeEdit(ctx context.Context, w policy.Workspace, e objectState, next policy.Change) error {
	row, err := newChangeRow(e.draft, next, s.newID())
	if err != nil {
		return err
	}
	if next.Type == policy.Unchanged {
		row = changeRow{}
	}
	g := e.growthBy(next, row)
	err = s.table.Transact(ctx, "change draft of a policy",
		s.growDraft(w, e, g), s.writeChange(w.Tenant, w.PolicyID, row, e.stored), s.requireBase(w, e))
	if errors.Is(err, errRefusedByDraft) {
		return s.explainRefusal(ctx, w, e, g)
	}
	return err
}

// errRefusedByDraft means that the row of a draft has refused a change.
var errRefusedByDraft = errors.New("policydb: the draft refuses the change")

// writeChange returns the write that replaces the row of a change, in which a row without a part is none.
func (s *Store) writeChange(tenant, policyID string, next, stored changeRow) dynamo.Write {
	owner := "policy#" + policyID
	values := dynamo.Item{":edit": dynamo.String(stored.Edit)}
	switch {
	case next.Part == "":
		return s.table.Delete(key(tenant, owner, stored.Part), "edit = :edit", values).Or(errOvertaken)
	case stored.Part == "":
		return s.create(encode(key(tenant, owner, next.Part), next))
	}
	return s.table.Put(encode(key(tenant, owner, next.Part), next), "edit = :edit", values).Or(errOvertaken)
}

// growth is the growth of a draft by a change, negative if it shrinks.
type growth struct{ fields, jurisdictions, bytes int64 }

// growthBy returns the growth by a change, whose row is the given one, without a part if it is removed.
func (e objectState) growthBy(next policy.Change, row changeRow) growth {
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

// limitsBefore returns the largest sizes of a draft that leave room for a growth.
func (e objectState) limitsBefore(g growth) growth {
	return growth{
		fields:        policy.MaxFields - int64(len(e.base.Fields)) - g.fields,
		jurisdictions: policy.MaxJurisdictions - int64(len(e.base.Jurisdictions)) - g.jurisdictions,
		bytes:         policy.MaxBundleBytes - g.bytes,
	}
}

// growDraft returns the write of the draft's row that goes with a change: its next revision, and how much the draft
// has. Its condition fails if the version is no draft any more, if its workspace is locked, or if it would grow beyond
// a limit.
func (s *Store) growDraft(w policy.Workspace, e objectState, g growth) dynamo.Write {
	condition := "#key = :key AND #status = :draft AND locked = :false"
	values := dynamo.Item{
		":one": dynamo.Number(1), ":fields": dynamo.Number(g.fields), ":jurisdictions": dynamo.Number(g.jurisdictions),
		":bytes": dynamo.Number(g.bytes), ":key": dynamo.String(e.draft.Key),
		":draft": dynamo.String(string(policy.Draft)), ":false": dynamo.Bool(false),
	}
	limit := func(attribute, placeholder string, grows bool, most int64) {
		if grows {
			condition += " AND " + attribute + " <= " + placeholder
			values[placeholder] = dynamo.Number(most)
		}
	}
	most := e.limitsBefore(g)
	limit("#fields", ":most_fields", g.fields > 0, most.fields)
	limit("jurisdictions", ":most_jurisdictions", g.jurisdictions > 0, most.jurisdictions)
	limit("#bytes", ":most_bytes", g.bytes > 0, most.bytes)
	update := "ADD revision :one, #fields :fields, jurisdictions :jurisdictions, #bytes :bytes"
	if w.Client != "" {
		update += " SET changed_by = :client"
		values[":client"] = dynamo.String(w.Client)
	}
	return s.table.Update(versionKey(w.Tenant, w.PolicyID, e.draft.Number), update, condition, values).
		Or(errRefusedByDraft)
}

// presence is 1 if a draft has an object after its change, and otherwise 0.
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
func (s *Store) requireBase(w policy.Workspace, e objectState) dynamo.Write {
	if e.stored.Part != "" && !e.policy.isLive(e.stored) {
		return s.nextRevision(w.Tenant, e.policy)
	}
	return s.table.Check(policyKey(w.Tenant, w.PolicyID), "#base = :base",
		dynamo.Item{":base": dynamo.Number(e.policy.Base)}).Or(errOvertaken)
}

// explainRefusal returns the reason why the row of a draft refused a change.
func (s *Store) explainRefusal(ctx context.Context, w policy.Workspace, e objectState, g growth) error {
	draft, err := get[versionRow](ctx, s, versionKey(w.Tenant, w.PolicyID, e.draft.Number))
	most := e.limitsBefore(g)
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
