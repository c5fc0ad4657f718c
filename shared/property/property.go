// Package property holds the values of entities and documents: single values, collections of items, and custom groups.
package property

import (
	"fmt"
	"maps"
	"slices"
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

// Check reports what is wrong with properties: their kind, and fields that belong to another kind.
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
			p.lengths(at, l, report)
			check(at+".properties", p.Properties, l, depth-1, report)
		}
	}
}

func (p Property) lengths(at string, l limits, report Report) {
	long := func(where string, text *string) {
		if text != nil && len(*text) > l.text {
			report(where, fmt.Sprintf("The value has more than %d bytes.", l.text))
		}
	}
	long(at+".value", p.Value)
	long(at+".valueId", p.ValueID)
	long(at+".dataGroupId", &p.DataGroupID)
	long(at+".customTypeId", &p.CustomTypeID)
	for _, id := range slices.Sorted(maps.Keys(p.Collections)) {
		if len(id) > l.key {
			report(at+".collections", fmt.Sprintf("A key has 1 to %d bytes.", l.key))
		}
		item := p.Collections[id]
		for _, key := range slices.Sorted(maps.Keys(item.Properties)) {
			long(at+".collections."+id+"."+key, item.Properties[key])
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
