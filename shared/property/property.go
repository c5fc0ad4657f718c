// Package property holds the values of entities and documents: single values, collections of items, and custom groups.
package property

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Kinds of a Property.
const (
	Single     = "Single"
	Collection = "Collection"
	Custom     = "Custom"
)

// MaxDepth is how deep custom groups may lie inside each other.
const MaxDepth = 8

// Property is a value of a kind; only the fields of its kind are set.
type Property struct {
	Type string `json:"type"`

	// Single
	Value   *string `json:"value,omitempty"`
	ValueID *string `json:"valueId,omitempty"`

	// Collection
	DataGroupID            string          `json:"dataGroupId,omitempty"`
	DataGroupVersionNumber *int64          `json:"dataGroupVersionNumber,omitempty"`
	Collections            map[string]Item `json:"collections,omitempty"`

	// Custom
	CustomTypeID string              `json:"customTypeId,omitempty"`
	Properties   map[string]Property `json:"properties,omitempty"`
}

// Item is one item of a collection.
type Item struct {
	Properties     map[string]*string `json:"properties"`
	PropertiesInfo map[string]Info    `json:"propertiesInfo,omitempty"`
	IsValid        *bool              `json:"isValid,omitempty"`
}

// Info tells the id of a value that was chosen from a list.
type Info struct {
	ValueID *string `json:"valueId"`
}

// Report takes a fault: the path of the place with dots, and what is wrong there.
type Report func(name, message string)

// Empty reports whether p says nothing: a single value that is null.
func (p Property) Empty() bool { return p.Type == Single && p.Value == nil && p.ValueID == nil }

// Check reports what is wrong with properties: their kind, fields that belong to another kind, ids that are no UUIDs, keys of
// more than maxKey bytes, and texts of more than maxText characters.
func Check(name string, all map[string]Property, maxKey, maxText int, report Report) {
	check(name, all, limits{maxKey, maxText}, MaxDepth, report)
}

type limits struct{ key, text int }

func check(name string, all map[string]Property, l limits, depth int, report Report) {
	if len(all) == 0 {
		return
	}
	if depth == 0 {
		report(name, fmt.Sprintf("Properties lie more than %d deep.", MaxDepth))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		p, at := all[key], name+"."+key
		if key == "" || len(key) > l.key {
			report(at, fmt.Sprintf("A key has 1 to %d bytes.", l.key))
			continue
		}
		single := p.Value != nil || p.ValueID != nil
		collection := p.DataGroupID != "" || p.DataGroupVersionNumber != nil || p.Collections != nil
		custom := p.CustomTypeID != "" || p.Properties != nil
		switch {
		case p.Type != Single && p.Type != Collection && p.Type != Custom:
			report(at+".type", "The type must be one of Single, Collection, Custom.")
		case p.Type != Single && single, p.Type != Collection && collection, p.Type != Custom && custom:
			report(at, "The property has fields of another type than "+p.Type+".")
		default:
			p.ids(at, report)
			p.lengths(at, l, report)
			check(at+".properties", p.Properties, l, depth-1, report)
		}
	}
}

// ids checks the id that a kind needs.
func (p Property) ids(at string, report Report) {
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
		report(at+"."+name, "The value must be a UUID.")
	}
}

func (p Property) lengths(at string, l limits, report Report) {
	long := func(where string, text *string) {
		if text != nil && len(*text) > l.text && utf8.RuneCountInString(*text) > l.text {
			report(where, fmt.Sprintf("The value has more than %d characters.", l.text))
		}
	}
	fits := func(key, where string) bool {
		ok := key != "" && len(key) <= l.key
		if !ok {
			report(where, fmt.Sprintf("A key has 1 to %d bytes.", l.key))
		}
		return ok
	}
	long(at+".value", p.Value)
	long(at+".valueId", p.ValueID)
	for _, id := range slices.Sorted(maps.Keys(p.Collections)) {
		item, in := p.Collections[id], at+".collections"
		if !fits(id, in) {
			continue
		}
		in += "." + id
		for _, key := range slices.Sorted(maps.Keys(item.Properties)) {
			if fits(key, in+".properties") {
				long(in+"."+key, item.Properties[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(item.PropertiesInfo)) {
			if fits(key, in+".propertiesInfo") {
				long(in+".propertiesInfo."+key, item.PropertiesInfo[key].ValueID)
			}
		}
	}
}

// Merge returns the properties with those of change put over them. Neither map is changed.
func Merge(old, change map[string]Property) map[string]Property {
	out := maps.Clone(old)
	if out == nil {
		out = map[string]Property{}
	}
	maps.Copy(out, change)
	return out
}
