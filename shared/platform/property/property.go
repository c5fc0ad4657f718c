// Package property holds the values of entities and documents: single values, collections of items, and groups of other
// properties. Their JSON form is the same on the wire and in storage.
package property

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
)

// The kinds of a property.
const (
	Single     = "Single"
	Collection = "Collection"
	Custom     = "Custom"
)

// MaxDepth is how deep custom properties may be nested.
const MaxDepth = 8

// Property is a value of one kind; only the fields of its kind are set.
type Property struct {
	// Type is the kind: Single, Collection or Custom.
	Type string `json:"type"`

	// Value and ValueID belong to a single property: the value, and the ID of the list entry from which it was chosen.
	Value   *string `json:"value,omitempty"`
	ValueID *string `json:"valueId,omitempty"`

	// DataGroupID, DataGroupVersionNumber and Collections belong to a collection: the UUID of its data group, the
	// version of that group, and the items by ID.
	DataGroupID            string          `json:"dataGroupId,omitempty"`
	DataGroupVersionNumber *int64          `json:"dataGroupVersionNumber,omitempty"`
	Collections            map[string]Item `json:"collections,omitempty"`

	// CustomTypeID and Properties belong to a custom property: the UUID of its type, and the properties inside it.
	CustomTypeID string              `json:"customTypeId,omitempty"`
	Properties   map[string]Property `json:"properties,omitempty"`
}

// Item is one item of a collection.
type Item struct {
	Properties     map[string]*string `json:"properties"`
	PropertiesInfo map[string]Info    `json:"propertiesInfo,omitempty"`
	IsValid        *bool              `json:"isValid,omitempty"`
}

// Info holds the ID of the list entry from which a value was chosen.
type Info struct {
	ValueID *string `json:"valueId"`
}

// IsEmpty reports whether p has no value: a single property that is null.
func (p Property) IsEmpty() bool { return p.Type == Single && p.Value == nil && p.ValueID == nil }

// Merge returns the properties overridden by changes. Neither map is changed.
func Merge(old, changes map[string]Property) map[string]Property {
	merged := maps.Clone(old)
	if merged == nil {
		merged = map[string]Property{}
	}
	maps.Copy(merged, changes)
	return merged
}

// Without returns the properties without those of the given keys, also inside collections and custom properties. The
// properties that are given are not changed.
func Without(properties map[string]Property, keys map[string]bool) map[string]Property {
	if len(keys) == 0 || properties == nil {
		return properties
	}
	isOut := func(key string) bool { return keys[key] }
	kept := make(map[string]Property, len(properties))
	for key, p := range properties {
		if isOut(key) {
			continue
		}
		p.Properties = Without(p.Properties, keys)
		if p.Collections != nil {
			items := make(map[string]Item, len(p.Collections))
			for id, item := range p.Collections {
				item.Properties = withoutKeys(item.Properties, isOut)
				item.PropertiesInfo = withoutKeys(item.PropertiesInfo, isOut)
				items[id] = item
			}
			p.Collections = items
		}
		kept[key] = p
	}
	return kept
}

func withoutKeys[V any](values map[string]V, isOut func(key string) bool) map[string]V {
	kept := maps.Clone(values)
	maps.DeleteFunc(kept, func(key string, _ V) bool { return isOut(key) })
	return kept
}

// ReportFunc is called with each thing wrong with properties: its path, with dots between the steps, and a message for
// the client.
type ReportFunc func(path, message string)

// Validate reports everything wrong with properties: an unknown kind, fields of another kind, IDs that are not UUIDs,
// empty keys and keys of more than maxKey bytes, values of more than maxText characters, and nesting deeper than
// MaxDepth. The path of each begins with path.
func Validate(path string, properties map[string]Property, maxKey, maxText int, report ReportFunc) {
	v := validator{maxKey, maxText, report}
	v.validate(path, properties, MaxDepth)
}

type validator struct {
	maxKey, maxText int
	report          ReportFunc
}

func (v validator) validate(path string, properties map[string]Property, depth int) {
	if len(properties) == 0 {
		return
	}
	if depth == 0 {
		v.report(path, fmt.Sprintf("Properties must not be nested more than %d deep.", MaxDepth))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		p, inner := properties[key], path+"."+key
		if !v.validKey(inner, key) {
			continue
		}
		isSingle := p.Value != nil || p.ValueID != nil
		isCollection := p.DataGroupID != "" || p.DataGroupVersionNumber != nil || p.Collections != nil
		isCustom := p.CustomTypeID != "" || p.Properties != nil
		switch {
		case p.Type != Single && p.Type != Collection && p.Type != Custom:
			v.report(inner+".type", "The type must be one of Single, Collection, Custom.")
		case p.Type != Single && isSingle, p.Type != Collection && isCollection, p.Type != Custom && isCustom:
			v.report(inner, "The property has fields that the type "+p.Type+" does not have.")
		default:
			v.validateID(inner, p)
			v.validateLengths(inner, p)
			v.validate(inner+".properties", p.Properties, depth-1)
		}
	}
}

// validKey reports a key that is empty or too long at the given path, and returns whether it is neither.
func (v validator) validKey(path, key string) bool {
	if key == "" || len(key) > v.maxKey {
		v.report(path, fmt.Sprintf("A key must have 1 to %d bytes.", v.maxKey))
		return false
	}
	return true
}

// validateID checks the UUID that a collection or a custom property must have.
func (v validator) validateID(path string, p Property) {
	name, id := "", ""
	switch p.Type {
	case Collection:
		name, id = "dataGroupId", p.DataGroupID
	case Custom:
		name, id = "customTypeId", p.CustomTypeID
	default:
		return
	}
	if _, err := uuid.Parse(id); err != nil || len(id) != len(uuid.Nil.String()) {
		v.report(path+"."+name, "The value must be a UUID.")
	}
}

func (v validator) validateLengths(path string, p Property) {
	v.validateText(path+".value", p.Value)
	v.validateText(path+".valueId", p.ValueID)
	path += ".collections"
	for _, id := range slices.Sorted(maps.Keys(p.Collections)) {
		if !v.validKey(path, id) {
			continue
		}
		item, itemPath := p.Collections[id], path+"."+id
		for _, key := range slices.Sorted(maps.Keys(item.Properties)) {
			if v.validKey(itemPath+".properties", key) {
				v.validateText(itemPath+"."+key, item.Properties[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(item.PropertiesInfo)) {
			if v.validKey(itemPath+".propertiesInfo", key) {
				v.validateText(itemPath+".propertiesInfo."+key, item.PropertiesInfo[key].ValueID)
			}
		}
	}
}

func (v validator) validateText(path string, text *string) {
	if text != nil && len(*text) > v.maxText && utf8.RuneCountInString(*text) > v.maxText {
		v.report(path, fmt.Sprintf("The value must have at most %d characters.", v.maxText))
	}
}

// Changes are properties as a client sends them to be merged into others: null removes a property.
type Changes map[string]*Property

// Normalized returns the changes with null in place of properties without a value.
func (c Changes) Normalized() Changes {
	out := maps.Clone(c)
	for key, p := range out {
		if p != nil && p.IsEmpty() {
			out[key] = nil
		}
	}
	return out
}

// Values returns the properties for Validate; null counts as a single property without a value.
func (c Changes) Values() map[string]Property {
	out := make(map[string]Property, len(c))
	for key, p := range c {
		if out[key] = (Property{Type: Single}); p != nil {
			out[key] = *p
		}
	}
	return out
}

// With returns the changes and, over them, those of later. Neither is changed.
func (c Changes) With(later Changes) Changes {
	all := maps.Clone(c)
	if all == nil {
		all = Changes{}
	}
	maps.Copy(all, later)
	return all
}

// Apply returns the properties after the changes. The map is not changed.
func (c Changes) Apply(old map[string]Property) map[string]Property {
	out := Merge(old, nil)
	for key, p := range c {
		if p == nil {
			delete(out, key)
			continue
		}
		out[key] = *p
	}
	return out
}
