package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Apply returns contents with the changes of one draft, in the order of the IDs. Each object has at most one change. An
// updated field has the version after the one in base, an added field the version of its change, at least 1.
func Apply(base Contents, changes []Change) Contents {
	fields, jurisdictions := map[string]*Field{}, map[string]*Jurisdiction{}
	for _, c := range changes {
		isThere := c.Type != Deleted
		switch {
		case c.Field != nil && isThere:
			next := *c.Field
			next.Version = max(next.Version, 1)
			fields[next.ID] = &next
		case c.Field != nil:
			fields[c.Field.ID] = nil
		case c.Jurisdiction != nil && isThere:
			jurisdictions[c.Jurisdiction.ID] = c.Jurisdiction
		case c.Jurisdiction != nil:
			jurisdictions[c.Jurisdiction.ID] = nil
		}
	}
	for i := range base.Fields {
		if next := fields[base.Fields[i].ID]; next != nil {
			next.Version = base.Fields[i].Version + 1
		}
	}
	out := base
	out.Fields = replaceAll(base.Fields, fields, idOfField)
	out.Jurisdictions = replaceAll(base.Jurisdictions, jurisdictions, idOfJurisdiction)
	out.sort()
	return out
}

// replaceAll returns a list with the objects of changed in place of those with the same IDs. A nil object removes the
// one with its ID, and an object with a new ID is added.
func replaceAll[T any](list []T, changed map[string]*T, idOf func(*T) string) []T {
	out := make([]T, 0, len(list)+len(changed))
	for i := range list {
		if _, isChanged := changed[idOf(&list[i])]; !isChanged {
			out = append(out, list[i])
		}
	}
	for _, next := range changed {
		if next != nil {
			out = append(out, *next)
		}
	}
	return out
}

// Differences returns the changes that turn the fields and jurisdictions of one version into the ones of another, in
// the order of the IDs, fields first. Fields that differ in their Version alone are equal. Applied to from, the changes
// give the contents of to, except for the versions of fields.
func Differences(from, to Contents) []Change {
	fields := differences(byID(from.Fields, idOfField), byID(to.Fields, idOfField), isSameField,
		func(t ChangeType, f *Field) Change { return Change{Type: t, Field: f} })
	jurisdictions := differences(byID(from.Jurisdictions, idOfJurisdiction), byID(to.Jurisdictions, idOfJurisdiction),
		func(a, b *Jurisdiction) bool { return isSame(a, b) },
		func(t ChangeType, j *Jurisdiction) Change { return Change{Type: t, Jurisdiction: j} })
	return slices.Concat(fields, jurisdictions)
}

// differences returns the changes that turn some objects into others, in the order of their IDs.
func differences[T any](
	from, to map[string]*T, isSame func(a, b *T) bool, change func(ChangeType, *T) Change,
) []Change {
	var changes []Change
	for _, id := range idsOf(from, to) {
		before, wasThere := from[id]
		after, isThere := to[id]
		switch {
		case !isThere:
			changes = append(changes, change(Deleted, before))
		case !wasThere:
			changes = append(changes, change(Added, after))
		case !isSame(before, after):
			changes = append(changes, change(Updated, after))
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
	// Lock is the lock of another workspace, nil if ChangeType is not Locked.
	Lock *Lock
}

// JurisdictionView is a jurisdiction as a workspace sees it.
type JurisdictionView struct {
	Jurisdiction
	ChangeType ChangeType
	// Lock is the lock of another workspace, nil if ChangeType is not Locked.
	Lock *Lock
}

// Lock is the lock of a field or jurisdiction by a workspace, with the change of its draft.
type Lock struct {
	WorkspaceID string
	Type        ChangeType
}

// View is a version as a workspace sees it: everything in the version and, marked as Deleted, the objects that the
// draft of the workspace has deleted, in the order of the IDs.
type View struct {
	Fields        []FieldView
	Jurisdictions []JurisdictionView
}

// NewView returns the contents of a draft as its workspace sees them or, if workspaceID is empty, the published version
// as all see it. The changes are the changes of all drafts of the policy.
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
		change, lock := changeSeenBy(fields, f.ID, workspaceID)
		v.Fields = append(v.Fields, FieldView{f, change, lock})
	}
	for _, j := range c.Jurisdictions {
		change, lock := changeSeenBy(jurisdictions, j.ID, workspaceID)
		v.Jurisdictions = append(v.Jurisdictions, JurisdictionView{j, change, lock})
	}
	slices.SortFunc(v.Fields, func(a, b FieldView) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(v.Jurisdictions, func(a, b JurisdictionView) int { return strings.Compare(a.ID, b.ID) })
	return v
}

// changeSeenBy returns the change of an object as a workspace sees it, and the lock if the change belongs to another
// workspace.
func changeSeenBy(changes map[string]Change, id, workspaceID string) (ChangeType, *Lock) {
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

func idOfField(f *Field) string { return f.ID }

func idOfJurisdiction(j *Jurisdiction) string { return j.ID }

func byID[T any](list []T, idOf func(*T) string) map[string]*T {
	found := make(map[string]*T, len(list))
	for i := range list {
		found[idOf(&list[i])] = &list[i]
	}
	return found
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

// isSameField reports whether two fields differ in their versions at most.
func isSameField(a, b *Field) bool {
	x, y := *a, *b
	x.Version, y.Version = 0, 0
	return isSame(x, y)
}

// isSame reports whether two objects have the same JSON form, in which empty lists are absent.
func isSame(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
