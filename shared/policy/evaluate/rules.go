package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the time zones of rules must be the same wherever a function runs

	"sluice/shared/policy"
	"sluice/shared/policy/formula"
)

// fieldRules are the compiled rules of a field.
type fieldRules struct {
	// rules are the active ones in the order of ruleTable.
	rules []rule
	// fixed is what the rules resolve to if none of them depends on conditions; otherwise nil.
	fixed *resolvedRules
}

// rule is one active rule.
type rule struct {
	name string
	// static is nil if the rule says nothing unless one of the dynamic rules is met.
	static *ruleValue
	// dynamic is in the order of priority.
	dynamic []dynamicRule
}

// dynamicRule is the value of a rule if its condition is met.
type dynamicRule struct {
	condition
	value *ruleValue
}

// ruleValue is a compiled value of a rule.
type ruleValue struct {
	name string
	// order is the place of the rule in ruleTable.
	order    int
	resolved ResolvedRule
	check    ruleCheck
}

// resolvedRules are the rules of a field as they are for one entity or item. They do not change, so that they can be
// shared.
type resolvedRules struct {
	// validationData are the rules by their names.
	validationData map[string]ResolvedRule
	// values are those that count, in the order of ruleTable.
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

// compileRules compiles the rules of a field.
func (c *compiler) compileRules(f *field) {
	isFixed := true
	for i := range ruleTable {
		definition := &ruleTable[i]
		source := definition.of(&f.source.ValidationRules)
		if source == nil {
			continue
		}
		r := c.compileRule(definition, source, f)
		if source.IsActive {
			f.rules.rules = append(f.rules.rules, r)
			isFixed = isFixed && len(r.dynamic) == 0
		}
	}
	if isFixed {
		f.rules.fixed = newResolvedRules(f.rules.rules, make([]byte, 2*len(f.rules.rules)))
	}
}

// compileRule compiles one rule of a field. Rules that are not active are checked as well, so that they can be
// activated.
func (c *compiler) compileRule(d *ruleDefinition, source *policy.Rule, f *field) rule {
	r, path := rule{name: d.name}, "validationRules."+d.name
	switch {
	case source.StaticRule != nil:
		r.static = c.compileRuleValue(d, path+".staticRule", source.StaticRule)
	case len(source.DynamicRules) > 0:
	case d.areMembersOptional:
		r.static = c.compileRuleValue(d, path, &policy.RuleValue{})
	case source.IsActive:
		c.report(path, "The rule is active and has neither a static rule nor dynamic ones.")
	}
	byPriority := make([]int, len(source.DynamicRules))
	for i := range byPriority {
		byPriority[i] = i
	}
	slices.SortStableFunc(byPriority, func(a, b int) int {
		return cmp.Compare(source.DynamicRules[a].Priority, source.DynamicRules[b].Priority)
	})
	if !c.spend(&c.conditions, len(byPriority), path+".dynamicRules") {
		return r
	}
	for _, i := range byPriority {
		dynamic, path := &source.DynamicRules[i], fmt.Sprintf("%s.dynamicRules[%d]", path, i)
		r.dynamic = append(r.dynamic, dynamicRule{
			c.compileCondition(path, &dynamic.Condition, f.scope), c.compileRuleValue(d, path+".value", &dynamic.Value),
		})
	}
	return r
}

// compileRuleValue compiles a value of a rule at a path of the field.
func (c *compiler) compileRuleValue(d *ruleDefinition, path string, source *policy.RuleValue) *ruleValue {
	given := givenMembers(source)
	for _, member := range given {
		if !slices.Contains(d.members, member) {
			c.report(path+"."+member, "The rule %s has no member %s.", d.name, member)
		}
	}
	if !d.areMembersOptional && len(given) == 0 {
		c.report(path, "The rule %s needs %s.", d.name, strings.Join(d.members, " or "))
		return &ruleValue{name: d.name, order: d.order()}
	}
	check := c.compileCheck(d, path, source)
	v := &ruleValue{d.name, d.order(), ResolvedRule{
		Active: true, Message: cmp.Or(source.ErrorMessage, check.message),
		RegexValue: source.RegexValue, IsCaseSensitive: source.IsCaseSensitive,
		MinValue: source.MinValue, MaxValue: source.MaxValue, MinDate: source.MinDate, MaxDate: source.MaxDate,
		Limit: source.Limit, OverallMinimumCount: source.OverallMinimumCount,
		ProviderID: source.ProviderID, TimeZoneID: source.TimeZoneID,
	}, check}
	for _, t := range source.RequiredTypesMinCount {
		v.resolved.RequiredTypesMinCount = append(v.resolved.RequiredTypesMinCount, RequiredType(t))
	}
	return v
}

// patternKey says which regular expressions are equal.
type patternKey struct {
	text            string
	isCaseSensitive bool
}

// compileCheck compiles what a value of a rule checks. Equal regular expressions share one.
func (c *compiler) compileCheck(d *ruleDefinition, path string, source *policy.RuleValue) ruleCheck {
	report := func(member, format string, args ...any) { c.report(path+"."+member, format, args...) }
	if d.name != regexRule {
		return d.compile(source, report)
	}
	key := patternKey{source.RegexValue, source.MatchesCase()}
	check, ok := c.patterns[key]
	if ok || c.patternSize > maxPatterns {
		return check
	}
	check = d.compile(source, report)
	if c.patternSize += check.size; c.patternSize > maxPatterns {
		c.report(path, "The regular expressions of the version are too large together: they have more than %d steps.",
			maxPatterns)
	}
	if check.isTextBroken != nil {
		c.patterns[key] = check
	}
	return check
}

// givenMembers returns the names of the members that a value of a rule has beside the message.
func givenMembers(v *policy.RuleValue) []string {
	var given []string
	for _, member := range []struct {
		name    string
		isGiven bool
	}{
		{"regexValue", v.RegexValue != ""}, {"isCaseSensitive", v.IsCaseSensitive != nil},
		{"minValue", v.MinValue != ""}, {"maxValue", v.MaxValue != ""}, {"minDate", v.MinDate != ""},
		{"maxDate", v.MaxDate != ""},
		{"limit", v.Limit != nil}, {"overallMinimumCount", v.OverallMinimumCount != nil},
		{"requiredTypesMinCount", len(v.RequiredTypesMinCount) > 0}, {"providerId", v.ProviderID != ""},
		{"timeZoneId", v.TimeZoneID != ""},
	} {
		if member.isGiven {
			given = append(given, member.name)
		}
	}
	return given
}

// ruleChoice names a resolution of the rules of a field: for each rule two bytes that say which value counts.
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

// choose returns the number of the dynamic rule that counts, from 1 on, or 0 if none is met.
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

// add makes a value count.
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

// resolveShown returns the rules of a field that is shown. Those of the fields that it is merged with do not count, but
// for mandatory and readOnly.
func (e *evaluation) resolveShown(s *shown) *resolvedRules {
	rules := e.resolveRules(s.field)
	for _, f := range s.others {
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

// validate holds the value of a field against its rules, in the order of ruleTable. The rules say nothing about a
// hidden value. The value of a calculated field is its result.
func (e *evaluation) validate(f *field, rules *resolvedRules) []ValidationError {
	if len(rules.values) == 0 || e.isOwnHidden(f) {
		return nil
	}
	s := e.newSubject(f)
	s.zone = rules.zone
	var out []ValidationError
	for _, v := range rules.values {
		if !e.spend(v.work(s)) {
			break
		}
		if v.isBrokenBy(s) {
			out = append(out, ValidationError{v.name, v.resolved.Message})
		}
	}
	return out
}

// newSubject returns the value of a field.
func (e *evaluation) newSubject(f *field) *subject {
	s := &subject{now: e.request.Now}
	if result, ok := e.calculatedText(f); ok {
		s.addTexts(text{value: result, hasValue: result != ""})
		return s
	}
	value := e.ownValue(f)
	if f.group == nil || !f.group.isCollection {
		s.addTexts(value.texts()...)
		return s
	}
	s.group, s.items = f.group, int64(len(value.items))
	primary := f.group.source.PrimaryField
	s.countOfType = func(wanted string) (int64, bool) {
		return countItems(value.items, primary, wanted), !e.isHiddenName(primary)
	}
	return s
}

// addTexts adds the texts that are not empty.
func (s *subject) addTexts(texts ...text) {
	for _, t := range texts {
		if t.id != "" || strings.TrimSpace(t.value) != "" {
			s.texts = append(s.texts, t)
		}
	}
}

// countItems returns how many items have a value, or its ID, in their primary field.
func countItems(items []node, primary, wanted string) int64 {
	count := int64(0)
	for _, item := range items {
		var values reading
		if t, ok := item.lookup(primary).asText(); ok {
			values.addText(t)
		}
		if slices.ContainsFunc(values.texts(), func(t text) bool {
			return t.hasValue && t.value == wanted || t.hasID && t.id == wanted
		}) {
			count++
		}
	}
	return count
}

// work returns how much work it is to hold a value against the rule.
func (v *ruleValue) work(s *subject) int {
	if s.group != nil {
		return len(v.resolved.RequiredTypesMinCount) * int(s.items)
	}
	work := 0
	for i := range s.texts {
		work += len(s.texts[i].value) * v.check.size / patternStepsPerWork
	}
	return work
}

// isBrokenBy reports whether a value breaks the rule. Rules about texts say nothing about empty ones.
func (v *ruleValue) isBrokenBy(s *subject) bool {
	switch {
	case v.check.isBroken != nil:
		return v.check.isBroken(s)
	case v.check.areItemsBroken != nil:
		return s.group != nil && v.check.areItemsBroken(s)
	case v.check.isTextBroken != nil:
		return slices.ContainsFunc(s.texts, func(t text) bool {
			return strings.TrimSpace(t.value) != "" && v.check.isTextBroken(t.value, s)
		})
	}
	return false
}
