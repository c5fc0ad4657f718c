package evaluate_test

import "sluice/shared/policy"

// rules returns rules of any kinds. In a hostile policy they may have members of other rules.
func (p *fuzzedPolicy) rules() policy.ValidationRules {
	rule := func(value func() policy.RuleValue) *policy.Rule {
		if p.roll(5) != 1 {
			return nil
		}
		any := func() policy.RuleValue {
			if p.isHostile && p.roll(6) == 1 {
				value = p.anyRuleValue
			}
			v := value()
			v.ErrorMessage = p.text()
			return v
		}
		r := &policy.Rule{IsActive: p.roll(4) != 3, DynamicRules: some(p.dice, 2, func() policy.DynamicRule {
			return policy.DynamicRule{Condition: p.condition(), Value: any(), Priority: int64(p.roll(2))}
		})}
		if p.roll(3) != 2 || len(r.DynamicRules) == 0 {
			v := any()
			r.StaticRule = &v
		}
		return r
	}
	none := func() policy.RuleValue { return policy.RuleValue{} }
	numbers := func() policy.RuleValue {
		return policy.RuleValue{MinValue: one(p.dice, "-1.5", ""), MaxValue: one(p.dice, "10", "9.99")}
	}
	limit := func() policy.RuleValue { return policy.RuleValue{Limit: ptr(int64(p.roll(3)))} }
	provider := func() policy.RuleValue { return policy.RuleValue{ProviderID: one(p.dice, "", "p")} }
	return policy.ValidationRules{
		Mandatory: rule(none), ReadOnly: rule(none), SpecialCharacters: rule(none), NoNumbers: rule(none),
		OnlyInteger: rule(none), NoNegative: rule(none), OnlyDecimal: rule(none), CharacterLimit: rule(limit),
		NumberLimit: rule(numbers), NoFutureDates: rule(none), NoPastDates: rule(none), MultiSelectLimit: rule(limit),
		CollectionMaximumCount: rule(limit), ConditionalLimit: rule(numbers),
		Regex: rule(func() policy.RuleValue {
			return policy.RuleValue{RegexValue: one(p.dice, "^a+$", `\p{L}{50}`, "x|y"),
				IsCaseSensitive: one(p.dice, nil, new(bool), ptr(true))}
		}),
		DateLimit: rule(func() policy.RuleValue {
			return policy.RuleValue{MinDate: one(p.dice, "2020-01-01", ""),
				MaxDate: one(p.dice, "2026-01-01T00:00:00+02:00", "2025-12-31")}
		}),
		CollectionMinimumCount: rule(func() policy.RuleValue {
			return policy.RuleValue{OverallMinimumCount: ptr(int64(p.roll(3))),
				RequiredTypesMinCount: some(p.dice, 2, func() policy.RequiredTypeMinCount {
					return policy.RequiredTypeMinCount{Type: one(p.dice, "a", "12"), MinCount: int64(p.roll(3))}
				})}
		}),
		ExternalProvider:          rule(provider),
		ExternalDataGroupProvider: rule(provider),
		TimeZoneID: rule(func() policy.RuleValue {
			return policy.RuleValue{TimeZoneID: one(p.dice, "Europe/Berlin", "UTC")}
		}),
	}
}

// anyRuleValue returns any members with any values.
func (p *fuzzedPolicy) anyRuleValue() policy.RuleValue {
	number := func() *int64 {
		return one(p.dice, nil, new(int64), ptr[int64](1), ptr[int64](-1), ptr[int64](1<<62))
	}
	return policy.RuleValue{
		RegexValue:      one(p.dice, "", "(?=a)", `(a)\1`, "(a{1000}){1000}", "([ab]{30}c){30}", "[", p.text()),
		IsCaseSensitive: one(p.dice, nil, new(bool)), MinValue: one(p.dice, "", "1", p.text()), MaxValue: one(p.dice,
			"", "0", p.text()),
		MinDate: one(p.dice, "", "2020-01-01", p.text()), MaxDate: one(p.dice, "", "2019-01-01",
			p.text()), Limit: number(),
		OverallMinimumCount: number(), RequiredTypesMinCount: some(p.dice, 2, func() policy.RequiredTypeMinCount {
			return policy.RequiredTypeMinCount{Type: p.text(), MinCount: int64(p.roll(3)) - 1}
		}),
		ProviderID: p.text(), TimeZoneID: one(p.dice, "", "Local", "../../etc/passwd", p.text()),
	}
}
