package evaluate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sluice/shared/policy/formula"
)

// resolvedRules are the rules of a field as they are for one entity or item. They do not change, so that they can be
// shared.
type resolvedRules struct {
	// validationData are the rules by their names.
	validationData map[string]ResolvedRule
	// values are the values of the rules that apply, in the order of ruleTable.
	values                 []*ruleValue
	isRequired, isReadOnly bool
	zone                   *time.Location
	// timeZoneID is nil if no rule sets the time zone.
	timeZoneID *string
	// decimals is the number of decimal places of a calculated value.
	decimals int
	// decidedBy are the IDs of the conditions of dynamic rules that count.
	decidedBy []string
}

// ruleChoice is the key of a resolution of the rules of a field: for each rule two bytes with the result of choose.
type ruleChoice struct {
	rules  *fieldRules
	values string
}

// resolveRules decides between the static and the dynamic rules of a field.
func (e *evaluation) resolveRules(f *field) *resolvedRules {
	if f.rules.fixed != nil {
		return f.rules.fixed
	}
	choice := make([]byte, 0, 2*len(ruleTable))
	for i := range f.rules.rules {
		n := f.rules.rules[i].choose(e)
		choice = append(choice, byte(n>>8), byte(n))
	}
	resolved, ok := e.resolved[ruleChoice{&f.rules, string(choice)}]
	if !ok {
		resolved = newResolvedRules(f.rules.rules, choice)
		if e.resolved == nil {
			e.resolved = map[ruleChoice]*resolvedRules{}
		}
		e.resolved[ruleChoice{&f.rules, string(choice)}] = resolved
	}
	return resolved
}

// choose returns the number, from 1 on, of the first dynamic rule whose condition is met, or 0 if none is.
func (r *rule) choose(e *evaluation) int {
	for i := range r.dynamic {
		if r.dynamic[i].predicate(e) {
			return i + 1
		}
	}
	return 0
}

// newResolvedRules returns the rules with the values of a choice.
func newResolvedRules(rules []rule, choice []byte) *resolvedRules {
	out := &resolvedRules{validationData: map[string]ResolvedRule{}, zone: time.UTC, decimals: formula.DefaultDecimals}
	for i := range rules {
		value := rules[i].static
		if n := int(choice[2*i])<<8 + int(choice[2*i+1]); n > 0 {
			dynamic := &rules[i].dynamic[n-1]
			value = dynamic.value
			out.decidedBy = append(out.decidedBy, dynamic.id)
		}
		if value != nil {
			out.add(value)
		}
	}
	return out
}

// add adds the value of a rule, and sets what follows from it.
func (r *resolvedRules) add(v *ruleValue) {
	r.validationData[v.name] = v.resolved
	r.values = append(r.values, v)
	switch v.name {
	case mandatoryRule:
		r.isRequired = true
	case readOnlyRule:
		r.isReadOnly = true
	case onlyIntegerRule:
		r.decimals = 0
	case onlyDecimalRule:
		r.decimals = min(r.decimals, 2)
	case timeZoneRule:
		r.zone, r.timeZoneID = v.check.zone, &v.resolved.TimeZoneID
	}
}

// resolveShown returns the rules of a field that is shown. Of the fields that it is merged with, only mandatory and
// readOnly are added.
func (e *evaluation) resolveShown(s *shown) *resolvedRules {
	rules := e.resolveRules(s.field)
	for _, f := range s.mergedWith {
		rules = e.mergeRules(rules, e.resolveRules(f))
	}
	return rules
}

// mergeRules returns rules with mandatory and readOnly of others, if those have them.
func (e *evaluation) mergeRules(rules, others *resolvedRules) *resolvedRules {
	isEnough := (rules.isRequired || !others.isRequired) && (rules.isReadOnly || !others.isReadOnly)
	if isEnough {
		return rules
	}
	pair := [2]*resolvedRules{rules, others}
	if merged, ok := e.merged[pair]; ok {
		return merged
	}
	merged := *rules
	merged.validationData, merged.values = maps.Clone(rules.validationData), slices.Clone(rules.values)
	for _, v := range others.values {
		if v.name == mandatoryRule && !rules.isRequired || v.name == readOnlyRule && !rules.isReadOnly {
			merged.add(v)
		}
	}
	slices.SortStableFunc(merged.values, func(a, b *ruleValue) int { return cmp.Compare(a.order, b.order) })
	if e.merged == nil {
		e.merged = map[[2]*resolvedRules]*resolvedRules{}
	}
	e.merged[pair] = &merged
	return &merged
}
