package policyfile

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/policy"
)

// Comparison is what turns one policy into another.
type Comparison struct {
	// EntityType is set if the policies are for different types of entities.
	EntityType    []Difference `json:"entityType,omitempty"`
	Jurisdictions []Change     `json:"jurisdictions"`
	DataGroups    []Change     `json:"dataGroups"`
	Fields        []Change     `json:"fields"`
}

// IsEmpty reports whether the policies are the same.
func (c Comparison) IsEmpty() bool { return c.EntityType == nil && c.Count() == 0 }

// Count returns the number of changes.
func (c Comparison) Count() int { return len(c.Jurisdictions) + len(c.DataGroups) + len(c.Fields) }

// Change is what turns a field, jurisdiction or data group of one policy into that of another.
type Change struct {
	// Type is Added, Updated or Deleted.
	Type policy.ChangeType `json:"changeType"`
	ID   string            `json:"id"`
	Name string            `json:"name"`
	// DataKey is that of a field. Group names the data group whose field it is.
	DataKey string `json:"dataKey,omitempty"`
	Group   string `json:"dataGroup,omitempty"`
	// Scope is in what fields with the same data key differ: the categories and jurisdictions.
	Scope string `json:"scope,omitempty"`
	// Differences are those of something that is updated, in the order of their paths.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is a value that is another one in the second policy. Before or After is nil if there is none.
type Difference struct {
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Compare returns what turns a into b. What belongs together is found as by Resolve, so that the IDs of two files
// without IDs do not matter.
func Compare(a, b policy.Contents) Comparison {
	b = align(b, a)
	c := Comparison{Jurisdictions: []Change{}, DataGroups: []Change{}, Fields: []Change{}}
	if a.EntityType != b.EntityType {
		c.EntityType = []Difference{{"entityType", a.EntityType, b.EntityType}}
	}
	names := newScopes(a, b)
	c.Jurisdictions = compareAll(a.Jurisdictions, b.Jurisdictions, func(j policy.Jurisdiction) Change {
		return Change{ID: j.ID, Name: j.Name}
	}, names.rename)
	withoutFields := func(all []policy.DataGroup) []policy.DataGroup {
		all = slices.Clone(all)
		for i := range all {
			all[i].Fields, all[i].Version, all[i].Status, all[i].Revision = nil, 0, "", 0
		}
		return all
	}
	c.DataGroups = compareAll(withoutFields(a.DataGroups), withoutFields(b.DataGroups),
		func(g policy.DataGroup) Change { return Change{ID: g.ID, Name: g.Name} }, names.rename)
	c.Fields = compareFields("", a.Fields, b.Fields, names)
	for _, g := range b.DataGroups {
		before := slices.IndexFunc(a.DataGroups, func(other policy.DataGroup) bool { return other.ID == g.ID })
		if before >= 0 {
			c.Fields = append(c.Fields, compareFields(g.Name, a.DataGroups[before].Fields, g.Fields, names)...)
		}
	}
	return c
}

func compareFields(group string, a, b []policy.Field, names scopes) []Change {
	withoutVersions := func(all []policy.Field) []policy.Field {
		all = sortFields(all)
		for i := range all {
			all[i].Version = 0
		}
		return all
	}
	return compareAll(withoutVersions(a), withoutVersions(b), func(f policy.Field) Change {
		return Change{ID: f.ID, Name: f.Name, DataKey: f.DataKey, Group: group, Scope: names.describe(f)}
	}, names.rename)
}

// compareAll compares things with the same IDs. Describe returns what a change says of one of them.
func compareAll[T any](a, b []T, describe func(T) Change, rename func(string) string) []Change {
	changes := []Change{}
	before := map[string]T{}
	for _, t := range a {
		before[describe(t).ID] = t
	}
	after := map[string]bool{}
	for _, t := range b {
		change := describe(t)
		after[change.ID] = true
		old, isOld := before[change.ID]
		change.Type = policy.Added
		if isOld {
			change.Type = policy.Updated
			change.Differences = differences(old, t, rename)
		}
		if !isOld || change.Differences != nil {
			changes = append(changes, change)
		}
	}
	for _, t := range a {
		if change := describe(t); !after[change.ID] {
			change.Type = policy.Deleted
			changes = append(changes, change)
		}
	}
	return changes
}

// scopes are the names by which people know jurisdictions and data groups.
type scopes map[string]string

func newScopes(all ...policy.Contents) scopes {
	s := scopes{}
	for _, c := range all {
		for _, j := range c.Jurisdictions {
			s[j.ID] = j.Name
		}
		for _, g := range c.DataGroups {
			s[g.ID] = g.Name
		}
	}
	return s
}

func (s scopes) rename(id string) string {
	if s[id] == "" {
		return id
	}
	return s[id]
}

// describe returns the scope of a field.
func (s scopes) describe(f policy.Field) string {
	parts := []string{strings.Join(f.Categories, ", ")}
	var jurisdictions []string
	for _, id := range f.JurisdictionIDs {
		jurisdictions = append(jurisdictions, s.rename(id))
	}
	if jurisdictions != nil {
		parts = append(parts, strings.Join(jurisdictions, ", "))
	}
	return strings.Trim(strings.Join(parts, "; "), "; ")
}

// differences returns what differs between two values of a type, nil if nothing does. Rename is applied to texts, so
// that IDs are shown as names.
func differences(a, b any, rename func(string) string) []Difference {
	var found []Difference
	compareValues("", genericOf(a), genericOf(b), func(path string, before, after any) {
		found = append(found, Difference{path, renameAll(before, rename), renameAll(after, rename)})
	})
	return found
}

// genericOf returns a value as encoding/json reads it without a type.
func genericOf(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic("policyfile: " + err.Error()) // only numbers without a value cannot be written
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&out)
	return out
}

func compareValues(path string, a, b any, report func(path string, before, after any)) {
	if reflect.DeepEqual(a, b) {
		return
	}
	before, isObject := a.(map[string]any)
	after, areObjects := b.(map[string]any)
	if isObject && areObjects {
		for _, key := range mergeKeys(before, after) {
			compareValues(strings.TrimPrefix(path+"."+key, "."), before[key], after[key], report)
		}
		return
	}
	if olds, news, areLists := objectLists(a, b); areLists {
		compareLists(path, olds, news, report)
		return
	}
	report(path, a, b)
}

func mergeKeys(a, b map[string]any) []string {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	return slices.Sorted(maps.Keys(keys))
}

// objectLists reports whether two values are lists of objects: conditions, operands and the like.
func objectLists(a, b any) (olds, news []any, areLists bool) {
	olds, isList := a.([]any)
	news, isOther := b.([]any)
	isObject := func(v any) bool { _, ok := v.(map[string]any); return ok }
	areLists = isList && isOther && slices.ContainsFunc(slices.Concat(olds, news), isObject)
	return olds, news, areLists
}

// compareLists compares the elements of lists with the same IDs or, if not all have one, in the same places.
func compareLists(path string, a, b []any, report func(path string, before, after any)) {
	oldKeys, newKeys := keysOf(a), keysOf(b)
	if oldKeys == nil || newKeys == nil {
		oldKeys, newKeys = placesOf(a), placesOf(b)
	}
	before, after := map[string]any{}, map[string]any{}
	for i, key := range oldKeys {
		before[key] = a[i]
	}
	for i, key := range newKeys {
		after[key] = b[i]
	}
	isOld := func(key string) bool { return before[key] != nil }
	isNew := func(key string) bool { return after[key] != nil }
	for _, key := range newKeys {
		compareValues(path+"["+key+"]", before[key], after[key], report)
	}
	for _, key := range oldKeys {
		if !isNew(key) {
			report(path+"["+key+"]", before[key], nil)
		}
	}
	if was, is := filter(oldKeys, isNew), filter(newKeys, isOld); !slices.Equal(was, is) {
		report(path+" (order)", strings.Join(was, ", "), strings.Join(is, ", "))
	}
}

// keysOf returns the IDs of a list of objects, nil if not each has one of its own.
func keysOf(list []any) []string {
	keys, used := []string{}, map[string]bool{}
	for _, v := range list {
		object, _ := v.(map[string]any)
		id, _ := object["id"].(string)
		if id == "" || used[id] {
			return nil
		}
		used[id] = true
		keys = append(keys, id)
	}
	return keys
}

func placesOf(list []any) []string {
	places := make([]string, len(list))
	for i := range list {
		places[i] = strconv.Itoa(i)
	}
	return places
}

// filter returns the elements for which isKept holds.
func filter(all []string, isKept func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !isKept(s) })
}

// renameAll applies rename to all texts in a value.
func renameAll(v any, rename func(string) string) any {
	switch v := v.(type) {
	case string:
		return rename(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = renameAll(v[i], rename)
		}
		return out
	}
	return v
}
