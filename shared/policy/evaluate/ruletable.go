package evaluate

import (
	"slices"
	"time"

	"sluice/shared/policy"
)

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
