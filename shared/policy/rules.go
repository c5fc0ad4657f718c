package policy

import (
	"iter"
	"reflect"
	"strings"
)

// ValidationRules are the rules for the value of a field, by the names that they have on the wire. A nil rule is none.
type ValidationRules struct {
	Mandatory                 *Rule `json:"mandatory,omitempty"`
	ReadOnly                  *Rule `json:"readOnly,omitempty"`
	SpecialCharacters         *Rule `json:"specialCharacters,omitempty"`
	NoNumbers                 *Rule `json:"noNumbers,omitempty"`
	OnlyInteger               *Rule `json:"onlyInteger,omitempty"`
	NoNegative                *Rule `json:"noNegative,omitempty"`
	OnlyDecimal               *Rule `json:"onlyDecimal,omitempty"`
	Regex                     *Rule `json:"regex,omitempty"`
	CharacterLimit            *Rule `json:"characterLimit,omitempty"`
	NumberLimit               *Rule `json:"numberLimit,omitempty"`
	NoFutureDates             *Rule `json:"noFutureDates,omitempty"`
	NoPastDates               *Rule `json:"noPastDates,omitempty"`
	DateLimit                 *Rule `json:"dateLimit,omitempty"`
	MultiSelectLimit          *Rule `json:"multiSelectLimit,omitempty"`
	CollectionMinimumCount    *Rule `json:"collectionMinimumCount,omitempty"`
	CollectionMaximumCount    *Rule `json:"collectionMaximumCount,omitempty"`
	ExternalProvider          *Rule `json:"externalProvider,omitempty"`
	ExternalDataGroupProvider *Rule `json:"externalDataGroupProvider,omitempty"`
	ConditionalLimit          *Rule `json:"conditionalLimit,omitempty"`
	TimeZoneID                *Rule `json:"timeZoneId,omitempty"`
}

// All yields the rules that are there, with their names on the wire.
func (r *ValidationRules) All() iter.Seq2[string, *Rule] {
	return func(yield func(string, *Rule) bool) {
		members := reflect.ValueOf(r).Elem()
		for i := range members.NumField() {
			name, _, _ := strings.Cut(members.Type().Field(i).Tag.Get("json"), ",")
			if rule := members.Field(i).Interface().(*Rule); rule != nil && !yield(name, rule) {
				return
			}
		}
	}
}

// Rule is one rule. If it is active, the dynamic rule with the lowest priority number that is met takes the place of
// the static one.
type Rule struct {
	IsActive     bool          `json:"isActive"`
	StaticRule   *RuleValue    `json:"staticRule,omitempty"`
	DynamicRules []DynamicRule `json:"dynamicRules,omitempty"`
}

// DynamicRule is what a rule is if a condition is met.
type DynamicRule struct {
	Condition
	Value    RuleValue `json:"value"`
	Priority int64     `json:"priority"`
}

// RuleValue holds the message and the bounds of a rule. Each rule uses the members that docs/contract/policy.md lists
// for it; the others are absent.
type RuleValue struct {
	ErrorMessage string `json:"errorMessage,omitempty"`

	RegexValue      string `json:"regexValue,omitempty"`
	IsCaseSensitive *bool  `json:"isCaseSensitive,omitempty"`

	// MinValue and MaxValue are decimal numbers as text.
	MinValue string `json:"minValue,omitempty"`
	MaxValue string `json:"maxValue,omitempty"`
	// MinDate and MaxDate are dates or date-times of RFC 3339.
	MinDate string `json:"minDate,omitempty"`
	MaxDate string `json:"maxDate,omitempty"`
	// Limit is a number of characters, of chosen values or of items.
	Limit *int64 `json:"limit,omitempty"`

	OverallMinimumCount   *int64                 `json:"overallMinimumCount,omitempty"`
	RequiredTypesMinCount []RequiredTypeMinCount `json:"requiredTypesMinCount,omitempty"`

	ProviderID string `json:"providerId,omitempty"`
	TimeZoneID string `json:"timeZoneId,omitempty"`
}

// MatchesCase reports whether the regular expression tells upper from lower case, as it does unless the rule says
// otherwise.
func (v RuleValue) MatchesCase() bool { return v.IsCaseSensitive == nil || *v.IsCaseSensitive }

// RequiredTypeMinCount is how many items of a collection must have a value in its primary field.
type RequiredTypeMinCount struct {
	Type     string `json:"type"`
	MinCount int64  `json:"minCount"`
}
