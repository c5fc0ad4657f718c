package evaluate

import (
	"cmp"
	"slices"

	"sluice/shared/policy"
)

// fieldFilter is what requests select a field by. An empty list means that the field is selected by anything.
type fieldFilter struct {
	targets       []string
	categories    []string
	jurisdictions []string
}

func newFieldFilter(f *policy.Field) fieldFilter {
	return fieldFilter{targets: f.TargetEntities, categories: f.Categories,
		jurisdictions: lowercaseAll(f.JurisdictionIDs)}
}

// takesPart reports whether a field takes part in the evaluation, before its conditions are asked.
func (e *evaluation) takesPart(f *field) bool {
	if e.request.EnableAccessLayersFiltering && !e.reachesLayers[f.layers] && !f.source.IsSensitiveData {
		return false
	}
	if e.request.JourneyLevelDataOnly && f.parent == nil && !f.source.IsJourneyLevelData {
		return false
	}
	return overlaps(f.filter.targets, e.target) && overlaps(f.filter.categories, e.categories) &&
		overlaps(f.filter.jurisdictions, e.jurisdictions)
}

// isFilteredOut reports whether a value on the way through these data keys is not seen, because no field of one of the
// keys takes part.
func (e *evaluation) isFilteredOut(keys []int) bool {
	if len(keys) == 0 || e.request.DisableFilteringForConditionalValues {
		return false
	}
	if e.takingPart == nil {
		e.takingPart = make([]memo, len(e.program.keys))
	}
	return slices.ContainsFunc(keys, func(key int) bool {
		if e.takingPart[key] == unknown {
			e.takingPart[key] = notMet
			if slices.ContainsFunc(e.program.byKey[key], e.takesPartWithParents) {
				e.takingPart[key] = met
			}
		}
		return e.takingPart[key] == notMet
	})
}

// takesPartWithParents reports whether a field takes part, and the groups that it is in.
func (e *evaluation) takesPartWithParents(f *field) bool {
	for ; f != nil; f = f.parent {
		if !e.takesPart(f) {
			return false
		}
	}
	return true
}

// overlaps reports whether one of the texts is in the set. It is true without texts and for a nil set, which mean any.
func overlaps(texts []string, set map[string]bool) bool {
	if len(texts) == 0 || set == nil {
		return true
	}
	for _, t := range texts {
		if set[t] {
			return true
		}
	}
	return false
}

// shown is a field that is in the result. Of several fields with one data key, it is the first.
type shown struct {
	*field
	// mergedWith are the other fields with the same data key that are shown. They can make the field masked, required,
	// read-only or unconditional, and do not count otherwise.
	mergedWith []*field
	// shouldClear means that no field with the data key is shown, and that the entity has a value that the client
	// should remove.
	shouldClear bool
	// decidedBy are the IDs of the conditions that decided, if that was asked for.
	decidedBy []string
}

// findShown returns the fields that are in the result, in its order: those that take part and whose conditions are met,
// and those whose values should be cleared.
func (e *evaluation) findShown(fields []*field) []shown {
	return e.appendShown(make([]shown, 0, len(fields)), e.participants(fields))
}

// participants returns the fields that take part.
func (e *evaluation) participants(fields []*field) []*field {
	out := make([]*field, 0, len(fields))
	for _, f := range fields {
		if e.takesPart(f) {
			out = append(out, f)
		}
	}
	return out
}

// appendShown appends the fields that are shown or should be cleared to an empty slice.
func (e *evaluation) appendShown(out []shown, fields []*field) []shown {
	if cap(e.shownAt) < len(e.program.keys) {
		e.shownAt = make([]int, len(e.program.keys))
	}
	// at holds the position in out of each data key, counted from 1; 0 means none. It is all zeros outside this
	// function.
	at, inOrder := e.shownAt, true
	for _, f := range fields {
		if !e.spend(1 + f.work) {
			break
		}
		s := shown{field: f}
		isShown, by := f.shown.decide(e)
		switch {
		case isShown && by != nil && e.request.Explain:
			s.decidedBy = []string{by.id}
		case !isShown:
			if !e.shouldClear(f) {
				continue
			}
			s.shouldClear = true
			s.decidedBy = e.allConditions(f)
		}
		i := at[f.key] - 1
		switch {
		case i < 0:
			out = append(out, s)
			at[f.key] = len(out)
		case out[i].shouldClear && !s.shouldClear:
			out[i], inOrder = s, false
		case !s.shouldClear:
			out[i].mergedWith = append(out[i].mergedWith, f)
			out[i].decidedBy = append(out[i].decidedBy, s.decidedBy...)
		}
	}
	for i := range out {
		at[out[i].key] = 0
	}
	if !inOrder {
		slices.SortFunc(out, func(a, b shown) int { return cmp.Compare(a.position, b.position) })
	}
	return out
}

// shouldClear reports whether the value of a field that is not shown should be removed: the field asks for that, and
// the entity has a value that the caller may know.
func (e *evaluation) shouldClear(f *field) bool {
	return f.source.ClearValueIfTriggerConditionNotMet && !e.isOwnHidden(f) && !e.ownValue(f).isEmpty()
}

// allConditions returns the IDs of the conditions of a field, if the request asks for an explanation.
func (e *evaluation) allConditions(f *field) []string {
	if !e.request.Explain {
		return nil
	}
	out := make([]string, 0, len(f.shown.conditions))
	for i := range f.shown.conditions {
		out = append(out, f.shown.conditions[i].id)
	}
	return out
}
