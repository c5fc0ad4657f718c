package evaluate

import (
	"slices"

	"sluice/shared/policy"
)

// newTemplate returns an evaluated field as far as it is the same for all entities.
func newTemplate(f *field) EvaluatedField {
	s := f.source
	out := EvaluatedField{IsIndexable: s.IsIndexable, IsMaterialData: s.IsMaterialData}
	out.GroupField = GroupField{
		DataKey: s.DataKey, Name: s.Name, Description: orNull(s.Description), FieldType: s.FieldType,
		FieldTypeID: orNull(s.FieldTypeID), Order: s.Order, LinkChildFieldDataKey: orNull(s.LinkChildFieldDataKey),
		LinkedParentFieldDataKey:    orNull(s.LinkedParentFieldDataKey),
		ExternalSearchAPIProviderID: orNull(s.ExternalSearchAPIProviderID),
		IsConditional:               len(s.Conditions) > 0, IsSensitiveData: s.IsSensitiveData,
		FieldAccessLayers: layersOf(s.AccessLayers), UIDecoration: orNull(s.UIDecoration),
		UIDecorationColor: orNull(s.UIDecorationColor), ValidationErrors: []ValidationError{},
	}
	return out
}

func layersOf(l *policy.AccessLayers) *FieldLayers {
	if l == nil {
		return nil
	}
	return &FieldLayers{append([]string{}, l.Geographic...), append([]string{}, l.BusinessRelated...)}
}

// orNull returns nil for a text that is absent.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// evaluateField returns a field that is shown, with its values and rules.
func (e *evaluation) evaluateField(s *shown) GroupField {
	out := s.template.GroupField
	out.IsMasked = e.isMasked(s.field)
	out.ShouldClearValue = s.shouldClear
	for _, other := range s.mergedWith {
		out.IsMasked = out.IsMasked || e.isMasked(other)
		out.IsConditional = out.IsConditional && len(other.source.Conditions) > 0
	}
	rules := e.resolveShown(s)
	out.ValidationData, out.TimeZoneID = rules.validationData, rules.timeZoneID
	out.IsRequired, out.IsReadOnly = rules.isRequired, rules.isReadOnly || s.isMarkedReadOnly()
	var decidedBy []string
	if !e.request.SkipValuesEvaluation && !s.shouldClear {
		decidedBy = e.evaluateValues(s.field, &out)
	}
	if e.request.ReturnValidationErrors && !s.shouldClear {
		out.ValidationErrors = append(out.ValidationErrors, e.validate(s.field, rules)...)
	}
	if e.request.Explain {
		out.DecidedBy = slices.Concat(s.decidedBy, decidedBy, rules.decidedBy)
	}
	return out
}

// isMarkedReadOnly reports whether one of the fields with the data key is read-only independently of its rules.
func (s *shown) isMarkedReadOnly() bool {
	return s.source.IsReadOnly || slices.ContainsFunc(s.mergedWith, func(f *field) bool { return f.source.IsReadOnly })
}

// category returns the category under which a field is shown: the first of those that it has and that are asked for.
func (e *evaluation) category(f *field) string {
	all := f.source.Categories
	if len(all) == 0 {
		return ""
	}
	return all[max(0, slices.IndexFunc(all, func(category string) bool { return e.categories[category] }))]
}

// evaluateSingle returns a field of the policy itself that is a single value.
func (e *evaluation) evaluateSingle(s *shown) EvaluatedField {
	out := s.template
	out.GroupField, out.Category = e.evaluateField(s), e.category(s.field)
	return out
}

// evaluateCustom returns a custom group with the fields in it.
func (e *evaluation) evaluateCustom(s *shown) CustomDataGroup {
	t, g := &s.template, s.group.source
	out := CustomDataGroup{
		DataKey: t.DataKey, DataGroupID: g.ID, VersionNumber: g.Version, DataGroupName: g.Name, Name: t.Name,
		Description: t.Description, Category: e.category(s.field), Order: t.Order, IsConditional: t.IsConditional,
		SingleFields: []GroupField{}, CustomNestedFields: []CustomDataGroup{},
	}
	if e.request.Explain {
		out.DecidedBy = s.decidedBy
	}
	all := e.findShown(s.group.fields)
	e.calculate(s.group.calculated, all)
	for _, inner := range all {
		if inner.group == nil || inner.shouldClear {
			out.SingleFields = append(out.SingleFields, e.evaluateField(&inner))
		} else {
			out.CustomNestedFields = append(out.CustomNestedFields, e.evaluateCustom(&inner))
		}
	}
	return out
}
