package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/policy"
)

// fieldRules are the compiled rules of a field.
type fieldRules struct {
	// rules are the active ones in the order of ruleTable.
	rules []rule
	// fixed is the resolution of the rules if none of them depends on conditions; otherwise nil.
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

// compileRules compiles the rules of a field.
func (c *compiler) compileRules(f *field) {
	isFixed := true
	for i := range ruleTable {
		definition := &ruleTable[i]
		source := definition.ruleOf(&f.source.ValidationRules)
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
	return &ruleValue{d.name, d.order(), ResolvedRule{
		Active: true, Message: cmp.Or(source.ErrorMessage, check.message),
		RegexValue: source.RegexValue, IsCaseSensitive: source.IsCaseSensitive,
		MinValue: source.MinValue, MaxValue: source.MaxValue, MinDate: source.MinDate, MaxDate: source.MaxDate,
		Limit: source.Limit, OverallMinimumCount: source.OverallMinimumCount,
		RequiredTypesMinCount: source.RequiredTypesMinCount, ProviderID: source.ProviderID,
		TimeZoneID: source.TimeZoneID,
	}, check}
}

// patternKey identifies equal regular expressions.
type patternKey struct {
	text            string
	isCaseSensitive bool
}

// compileCheck compiles the check of a value of a rule. Equal regular expressions share one.
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
