package policydb

import (
	"context"
	"errors"

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
	return s.table.Update(versionKey(w.Tenant, w.PolicyID, e.draft.Number),
		"ADD revision :one, #fields :fields, jurisdictions :jurisdictions, #bytes :bytes", condition, values).
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
