package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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

// The names of the rules that decide more than whether a value is valid.
const (
	mandatoryRule   = "mandatory"
	readOnlyRule    = "readOnly"
	onlyIntegerRule = "onlyInteger"
	onlyDecimalRule = "onlyDecimal"
	regexRule       = "regex"
	timeZoneRule    = "timeZoneId"
)

// ruleDefinition is the meaning of a rule.
type ruleDefinition struct {
	// name is that on the wire.
	name string
	// ruleOf returns the rule of a field, nil if the field does not have it.
	ruleOf func(*policy.ValidationRules) *policy.Rule
	// members are the names of the members of the rule's values, beside the message. Unless all are optional, one must
	// be given.
	members            []string
	areMembersOptional bool
	// compile reads the members of a value, and reports those that cannot be used.
	compile func(v *policy.RuleValue, report reportMember) ruleCheck
}

// reportMember reports a member of a rule that cannot be used, with a message.
type reportMember func(member, format string, args ...any)

// ruleCheck is the compiled value of a rule. At most one of its functions is set; without any, no value breaks the
// rule.
type ruleCheck struct {
	// message is the message for a value that breaks the rule, unless the policy has its own. It never contains the
	// value.
	message string
	// isBroken checks any subject, whether it has values or not.
	isBroken func(*subject) bool
	// isTextBroken checks one text of a single field. It is not called for empty texts.
	isTextBroken func(text string, s *subject) bool
	// areItemsBroken checks a collection.
	areItemsBroken func(*subject) bool
	// zone is the time zone that the rule sets, nil if it sets none.
	zone *time.Location
	// size is the size of the regular expression, 0 without one.
	size int
}

// ruleTable lists all rules in the order of their messages in replies.
var ruleTable = []ruleDefinition{
	{mandatoryRule, func(r *policy.ValidationRules) *policy.Rule { return r.Mandatory }, nil, true,
		simpleRule(ruleCheck{message: "Enter a value.", isBroken: func(s *subject) bool { return !s.isPresent() }})},
	{readOnlyRule, func(r *policy.ValidationRules) *policy.Rule { return r.ReadOnly }, nil, true,
		simpleRule(ruleCheck{message: "This field cannot be changed."})},
	{"specialCharacters", func(r *policy.ValidationRules) *policy.Rule { return r.SpecialCharacters }, nil, true,
		simpleRule(ruleCheck{message: "Use only letters, digits and spaces.", isTextBroken: hasSpecialCharacters})},
	{"noNumbers", func(r *policy.ValidationRules) *policy.Rule { return r.NoNumbers }, nil, true,
		simpleRule(ruleCheck{message: "Do not use digits.", isTextBroken: hasDigits})},
	{onlyIntegerRule, func(r *policy.ValidationRules) *policy.Rule { return r.OnlyInteger }, nil, true,
		simpleRule(ruleCheck{message: "Enter a whole number.", isTextBroken: isNotInteger})},
	{"noNegative", func(r *policy.ValidationRules) *policy.Rule { return r.NoNegative }, nil, true,
		simpleRule(ruleCheck{message: "Enter a number that is not negative.", isTextBroken: isNegativeOrNotNumber})},
	{onlyDecimalRule, func(r *policy.ValidationRules) *policy.Rule { return r.OnlyDecimal }, nil, true,
		simpleRule(ruleCheck{message: "Enter a number with at most two decimal places.",
			isTextBroken: hasMoreThanCents})},
	{regexRule, func(r *policy.ValidationRules) *policy.Rule { return r.Regex },
		[]string{"regexValue", "isCaseSensitive"}, false, compileRegex},
	{"characterLimit", func(r *policy.ValidationRules) *policy.Rule { return r.CharacterLimit },
		[]string{"limit"}, false, compileCharacterLimit},
	{"numberLimit", func(r *policy.ValidationRules) *policy.Rule { return r.NumberLimit },
		[]string{"minValue", "maxValue"}, false, compileNumberLimit},
	{"noFutureDates", func(r *policy.ValidationRules) *policy.Rule { return r.NoFutureDates }, nil, true,
		simpleRule(ruleCheck{message: "Enter a date that is not in the future.", isTextBroken: isNotDateUntilNow})},
	{"noPastDates", func(r *policy.ValidationRules) *policy.Rule { return r.NoPastDates }, nil, true,
		simpleRule(ruleCheck{message: "Enter a date that is not in the past.", isTextBroken: isNotDateFromNow})},
	{"dateLimit", func(r *policy.ValidationRules) *policy.Rule { return r.DateLimit },
		[]string{"minDate", "maxDate"}, false, compileDateLimit},
	{"multiSelectLimit", func(r *policy.ValidationRules) *policy.Rule { return r.MultiSelectLimit },
		[]string{"limit"}, false, compileMultiSelectLimit},
	{"collectionMinimumCount", func(r *policy.ValidationRules) *policy.Rule { return r.CollectionMinimumCount },
		[]string{"overallMinimumCount", "requiredTypesMinCount"}, false, compileMinimumCount},
	{"collectionMaximumCount", func(r *policy.ValidationRules) *policy.Rule { return r.CollectionMaximumCount },
		[]string{"limit"}, false, compileMaximumCount},
	{"externalProvider", func(r *policy.ValidationRules) *policy.Rule { return r.ExternalProvider },
		[]string{"providerId"}, true, simpleRule(ruleCheck{message: "The value comes from an external provider."})},
	{"externalDataGroupProvider", func(r *policy.ValidationRules) *policy.Rule { return r.ExternalDataGroupProvider },
		[]string{"providerId"}, true, simpleRule(ruleCheck{message: "The items come from an external provider."})},
	{"conditionalLimit", func(r *policy.ValidationRules) *policy.Rule { return r.ConditionalLimit },
		[]string{"minValue", "maxValue"}, false, compileNumberLimit},
	{timeZoneRule, func(r *policy.ValidationRules) *policy.Rule { return r.TimeZoneID },
		[]string{"timeZoneId"}, false, compileTimeZone},
}

// order returns the place of the rule in ruleTable.
func (d *ruleDefinition) order() int {
	return slices.IndexFunc(ruleTable, func(other ruleDefinition) bool { return other.name == d.name })
}

// simpleRule returns the compile function of a rule that does not depend on its members.
func simpleRule(check ruleCheck) func(*policy.RuleValue, reportMember) ruleCheck {
	return func(*policy.RuleValue, reportMember) ruleCheck { return check }
}
