package evaluate

import (
	"maps"
	"reflect"
	"slices"

	"sluice/shared/platform/property"
)

// evaluateCollection returns a collection with its items.
func (e *evaluation) evaluateCollection(s *shown) (CollectionDataGroup, error) {
	t, g := &s.template, s.group.source
	header := e.evaluateField(s)
	out := CollectionDataGroup{
		CollectionHeader: CollectionHeader{
			DataKey: t.DataKey, DataGroupID: g.ID, DataGroupVersionNumber: g.Version, DataGroupName: g.Name,
			Name: t.Name, Description: t.Description, Category: e.category(s.field), Order: t.Order,
			IsReadOnly:    header.IsReadOnly,
			IsConditional: header.IsConditional, ValidationData: header.ValidationData,
			PrimaryDataGroupField:               orNull(g.PrimaryField),
			DisableMultiselectPrimaryFieldOnAdd: g.DisableMultiselectPrimaryFieldOnAdd,
			Columns:                             e.columns(s.group), ValidationErrors: header.ValidationErrors,
			DecidedBy: header.DecidedBy,
		},
		EvaluatedItems: map[string]EvaluatedItem{},
	}
	if e.isOwnHidden(s.field) {
		return out, nil
	}
	items := e.request.Properties.CollectionProperties[s.source.DataKey].Items
	out.EvaluatedItems = make(map[string]EvaluatedItem, len(items))
	state := &itemsState{shown: make([]shown, 0, len(s.group.fields)), variants: make([]variants, len(s.group.fields))}
	fields := e.participants(s.group.fields)
	for _, id := range slices.Sorted(maps.Keys(items)) {
		if err := e.interrupted(); err != nil {
			return out, err
		}
		out.EvaluatedItems[id] = EvaluatedItem{e.evaluateItem(s.group, fields, items[id], state)}
	}
	return out, nil
}

// columns returns the fields of a collection, independently of its items.
func (e *evaluation) columns(g *group) []Column {
	out, seen := make([]Column, 0, len(g.fields)), make(map[int]bool, len(g.fields))
	for _, f := range g.fields {
		if !e.takesPart(f) || seen[f.key] {
			continue
		}
		seen[f.key] = true
		t := &f.template
		out = append(out, Column{
			t.DataKey, t.FieldType, t.FieldTypeID, t.Name, t.Description, t.Order, t.IsConditional,
		})
	}
	return out
}

// itemsState is memory that the evaluations of the items of a collection share.
type itemsState struct {
	shown []shown
	// variants are the fields that items had so far, by the position of the field in its group.
	variants []variants
	scratch  GroupField
}

// evaluateItem returns the evaluated fields of one item of a collection. fields are the ones that take part.
func (e *evaluation) evaluateItem(
	g *group, fields []*field, item property.SplitItem, state *itemsState,
) []*GroupField {
	e.setRoot(g.frame, node{item: nonNil(item.Properties)})
	state.shown = e.appendShown(state.shown[:0], fields)
	e.calculate(g.calculated, state.shown)
	out := make([]*GroupField, 0, len(state.shown))
	for i := range state.shown {
		s := &state.shown[i]
		state.scratch = e.evaluateField(s)
		out = append(out, state.variants[s.position].find(&state.scratch))
	}
	return out
}

// maxVariants is the number of different results of one field that are remembered. Most fields have few; a field with a
// calculated value can have a different one in every item.
const maxVariants = 16

// variants are results of one field in the items of a collection. Items share those that are equal, so that a large
// collection does not take much memory.
type variants struct {
	fields []*GroupField
	// next is the position of the oldest result, which the next new one replaces once there are maxVariants.
	next int
}

// find returns a result that is equal to f, which it copies if there is none.
func (v *variants) find(f *GroupField) *GroupField {
	for _, known := range v.fields {
		if sameResult(known, f) {
			return known
		}
	}
	added := *f
	if len(v.fields) < maxVariants {
		v.fields = append(v.fields, &added)
	} else {
		v.fields[v.next] = &added
		v.next = (v.next + 1) % maxVariants
	}
	return &added
}

// sameResult reports whether two results of the same field are equal, as far as that can be seen cheaply. Everything in
// which results of one field can differ is compared.
func sameResult(a, b *GroupField) bool {
	return a.IsRequired == b.IsRequired && a.IsReadOnly == b.IsReadOnly && a.IsConditional == b.IsConditional &&
		a.IsMasked == b.IsMasked && a.ShouldClearValue == b.ShouldClearValue &&
		a.HasEvaluatedDefaultValue == b.HasEvaluatedDefaultValue && sameText(a.DefaultValue, b.DefaultValue) &&
		a.HasEvaluatedConditionalValue == b.HasEvaluatedConditionalValue &&
		sameText(a.EvaluatedConditionalValue, b.EvaluatedConditionalValue) &&
		sameText(a.EvaluatedConditionalValueID, b.EvaluatedConditionalValueID) &&
		a.HasCalculatedValue == b.HasCalculatedValue && sameText(a.CalculatedFieldResult, b.CalculatedFieldResult) &&
		sameText(a.TimeZoneID, b.TimeZoneID) && sameMap(a.ValidationData, b.ValidationData) &&
		slices.Equal(a.ValidationErrors, b.ValidationErrors) && slices.Equal(a.DecidedBy, b.DecidedBy)
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// sameMap reports whether a and b are one map, or both empty.
func sameMap(a, b map[string]ResolvedRule) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer())
}
