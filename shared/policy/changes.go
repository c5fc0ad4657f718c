package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Apply returns contents with the changes of one draft, in the order of the IDs. Each object has at most one change. An
// updated field has the version after that of base, an added one the version that its change has, at least 1.
func Apply(base Contents, changes []Change) Contents {
	fields := map[string]Change{}
	jurisdictions := map[string]Change{}
	for _, c := range changes {
		switch {
		case c.Field != nil:
			fields[c.Field.ID] = c
		case c.Jurisdiction != nil:
			jurisdictions[c.Jurisdiction.ID] = c
		}
	}
	out := base
	out.Fields = make([]Field, 0, len(base.Fields)+len(fields))
	for _, f := range base.Fields {
		c, isChanged := fields[f.ID]
		delete(fields, f.ID)
		switch {
		case !isChanged:
			out.Fields = append(out.Fields, f)
		case c.Type != Deleted:
			next := *c.Field
			next.Version = f.Version + 1
			out.Fields = append(out.Fields, next)
		}
	}
	for _, c := range fields {
		if c.Type != Deleted {
			next := *c.Field
			next.Version = max(next.Version, 1)
			out.Fields = append(out.Fields, next)
		}
	}
	out.Jurisdictions = make([]Jurisdiction, 0, len(base.Jurisdictions)+len(jurisdictions))
	for _, j := range base.Jurisdictions {
		c, isChanged := jurisdictions[j.ID]
		delete(jurisdictions, j.ID)
		switch {
		case !isChanged:
			out.Jurisdictions = append(out.Jurisdictions, j)
		case c.Type != Deleted:
			out.Jurisdictions = append(out.Jurisdictions, *c.Jurisdiction)
		}
	}
	for _, c := range jurisdictions {
		if c.Type != Deleted {
			out.Jurisdictions = append(out.Jurisdictions, *c.Jurisdiction)
		}
	}
	out.sort()
	return out
}

// Differences returns the changes that turn the fields and jurisdictions of one version into those of another, in the
// order of the IDs, fields first. The versions of fields do not count: a field that differs in its version alone is
// the same. Apply makes the other contents of them, but for the versions of fields.
func Differences(from, to Contents) []Change {
	var changes []Change
	before, after := fieldsByID(from.Fields), fieldsByID(to.Fields)
	for _, id := range idsOf(before, after) {
		was, had := before[id]
		is, has := after[id]
		switch {
		case !has:
			changes = append(changes, Change{Type: Deleted, Field: was})
		case !had:
			changes = append(changes, Change{Type: Added, Field: is})
		case !isSameField(*was, *is):
			changes = append(changes, Change{Type: Updated, Field: is})
		}
	}
	wasThere, isThere := jurisdictionsByID(from.Jurisdictions), jurisdictionsByID(to.Jurisdictions)
	for _, id := range idsOf(wasThere, isThere) {
		was, had := wasThere[id]
		is, has := isThere[id]
		switch {
		case !has:
			changes = append(changes, Change{Type: Deleted, Jurisdiction: was})
		case !had:
			changes = append(changes, Change{Type: Added, Jurisdiction: is})
		case !isSame(was, is):
			changes = append(changes, Change{Type: Updated, Jurisdiction: is})
		}
	}
	return changes
}

// ObjectID is the ID of the field or jurisdiction that is changed.
func (c Change) ObjectID() string {
	switch {
	case c.Field != nil:
		return c.Field.ID
	case c.Jurisdiction != nil:
		return c.Jurisdiction.ID
	}
	return ""
}

// FieldView is a field as a workspace sees it.
type FieldView struct {
	Field
	ChangeType ChangeType
	// Lock is that of another workspace, nil if ChangeType is not Locked.
	Lock *Lock
}

// JurisdictionView is a jurisdiction as a workspace sees it.
type JurisdictionView struct {
	Jurisdiction
	ChangeType ChangeType
	// Lock is that of another workspace, nil if ChangeType is not Locked.
	Lock *Lock
}

// Lock says which workspace locks a field or jurisdiction, and what its draft does to it.
type Lock struct {
	WorkspaceID string
	Type        ChangeType
}

// View is a version as a workspace sees it: what it has, and what the draft of the workspace has deleted, in the order
// of the IDs.
type View struct {
	Fields        []FieldView
	Jurisdictions []JurisdictionView
}

// NewView returns the view of a workspace, "" for none, on the contents of its draft or of the published version,
// among the changes of all drafts of the policy.
func NewView(c Contents, changes []Change, workspaceID string) View {
	var v View
	fields, jurisdictions := map[string]Change{}, map[string]Change{}
	for _, change := range changes {
		isDeletedHere := change.WorkspaceID == workspaceID && change.Type == Deleted
		switch {
		case change.Field != nil && isDeletedHere:
			v.Fields = append(v.Fields, FieldView{*change.Field, Deleted, nil})
		case change.Field != nil:
			fields[change.Field.ID] = change
		case change.Jurisdiction != nil && isDeletedHere:
			v.Jurisdictions = append(v.Jurisdictions, JurisdictionView{*change.Jurisdiction, Deleted, nil})
		case change.Jurisdiction != nil:
			jurisdictions[change.Jurisdiction.ID] = change
		}
	}
	for _, f := range c.Fields {
		change, lock := seen(fields, f.ID, workspaceID)
		v.Fields = append(v.Fields, FieldView{f, change, lock})
	}
	for _, j := range c.Jurisdictions {
		change, lock := seen(jurisdictions, j.ID, workspaceID)
		v.Jurisdictions = append(v.Jurisdictions, JurisdictionView{j, change, lock})
	}
	slices.SortFunc(v.Fields, func(a, b FieldView) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(v.Jurisdictions, func(a, b JurisdictionView) int { return strings.Compare(a.ID, b.ID) })
	return v
}

// seen returns what a workspace sees of the change of an object.
func seen(changes map[string]Change, id, workspaceID string) (ChangeType, *Lock) {
	c, isChanged := changes[id]
	switch {
	case !isChanged:
		return Unchanged, nil
	case c.WorkspaceID == workspaceID:
		return c.Type, nil
	}
	return Locked, &Lock{c.WorkspaceID, c.Type}
}

// sort puts contents in the order of the IDs.
func (c *Contents) sort() {
	slices.SortFunc(c.Fields, func(a, b Field) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.Jurisdictions, func(a, b Jurisdiction) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(c.DataGroups, func(a, b DataGroup) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
}

func fieldsByID(fields []Field) map[string]*Field {
	byID := make(map[string]*Field, len(fields))
	for i := range fields {
		byID[fields[i].ID] = &fields[i]
	}
	return byID
}

func jurisdictionsByID(jurisdictions []Jurisdiction) map[string]*Jurisdiction {
	byID := make(map[string]*Jurisdiction, len(jurisdictions))
	for i := range jurisdictions {
		byID[jurisdictions[i].ID] = &jurisdictions[i]
	}
	return byID
}

// idsOf returns the keys of two maps in their order, each once.
func idsOf[V any](a, b map[string]V) []string {
	ids := make([]string, 0, len(a)+len(b))
	for id := range a {
		ids = append(ids, id)
	}
	for id := range b {
		if _, isInBoth := a[id]; !isInBoth {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func isSameField(a, b Field) bool {
	a.Version, b.Version = 0, 0
	return isSame(a, b)
}

// isSame reports whether two objects have the same JSON form, in which empty lists are absent ones.
func isSame(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
