package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// EncodeContents returns contents as JSON and the SHA-256 of that in hexadecimal digits. The same contents have the
// same bytes, independently of the order of their parts: fields, jurisdictions and data groups are sorted by their
// IDs. It returns ErrTooLarge for more than MaxBundleBytes.
func EncodeContents(c Contents) (text []byte, digest string, err error) {
	c.Fields = append([]Field{}, c.Fields...)
	c.Jurisdictions = slices.Clone(c.Jurisdictions)
	c.DataGroups = slices.Clone(c.DataGroups)
	for i := range c.DataGroups {
		c.DataGroups[i] = c.DataGroups[i].pinned()
	}
	c.sort()
	text, err = json.Marshal(c)
	if err != nil {
		return nil, "", fmt.Errorf("encode contents of a policy: %w", err)
	}
	if len(text) > MaxBundleBytes {
		return nil, "", ErrTooLarge
	}
	sum := sha256.Sum256(text)
	return text, hex.EncodeToString(sum[:]), nil
}

// DecodeContents is the inverse of EncodeContents. It does not compare the digest.
func DecodeContents(text []byte) (Contents, error) {
	var c Contents
	if err := json.Unmarshal(text, &c); err != nil {
		return Contents{}, fmt.Errorf("decode contents of a policy: %w", err)
	}
	return c, nil
}

// pinned returns a data group as bundles have it: without its revision and the reason for its status.
func (g DataGroup) pinned() DataGroup {
	g.Revision, g.Reason = 0, ""
	g.Fields = append([]Field{}, g.Fields...)
	return g
}

// DataGroupIDs returns the IDs of the fields' data groups, sorted and each once.
func DataGroupIDs(fields []Field) []string {
	var ids []string
	for _, f := range fields {
		if f.HasDataGroup() && f.FieldTypeID != "" {
			ids = append(ids, f.FieldTypeID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// CheckSize returns ErrTooMany if contents have more than MaxFields, including the fields of data groups, or more than
// MaxJurisdictions.
func (c Contents) CheckSize() error {
	fields := len(c.Fields)
	for _, g := range c.DataGroups {
		fields += len(g.Fields)
	}
	if fields > MaxFields || len(c.Jurisdictions) > MaxJurisdictions {
		return ErrTooMany
	}
	return nil
}

// groupBytesLimit bounds what GroupBytes counts, so that data groups that refer to each other in a circle have a size.
const groupBytesLimit = 1 << 40

// GroupBytes estimates the bytes of JSON of the data groups, each counted once for each field that refers to it. A
// program that is compiled of the contents can grow like that, however small the contents are themselves.
func (c Contents) GroupBytes() (int64, error) {
	own := make(map[string]int64, len(c.DataGroups))
	for _, g := range c.DataGroups {
		text, err := json.Marshal(g)
		if err != nil {
			return 0, fmt.Errorf("encode a data group of a policy: %w", err)
		}
		own[g.ID] = int64(len(text))
	}
	var known map[string]int64 // the sizes with the groups inside, one level deeper in each round
	for range MaxNesting + 1 {
		deeper := make(map[string]int64, len(own))
		for _, g := range c.DataGroups {
			deeper[g.ID] = min(own[g.ID]+sizeOfGroups(g.Fields, known), groupBytesLimit)
		}
		known = deeper
	}
	return min(sizeOfGroups(c.Fields, known), groupBytesLimit), nil
}

// sizeOfGroups returns the size of the data groups of fields, each counted once for every reference.
func sizeOfGroups(fields []Field, sizes map[string]int64) int64 {
	var total int64
	for i := range fields {
		if f := &fields[i]; f.FieldType == TypeCollection || f.FieldType == TypeCustom {
			total += sizes[f.FieldTypeID]
		}
	}
	return total
}

// ValidationRules are the rules for the value of a field, by the names that they have on the wire. A field has no rule
// of a kind that is nil. docs/contract/policy.md, Rules, defines their checks.
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

// All yields the rules that are not nil, with their names on the wire.
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

// Rule is one rule of a field: a value, or several from which conditions choose one.
type Rule struct {
	// IsActive means that the rule applies. A rule that is not active is still checked for problems.
	IsActive bool `json:"isActive"`
	// StaticRule applies when the condition of no dynamic rule is met; nil means that the rule then says nothing.
	StaticRule *RuleValue `json:"staticRule,omitempty"`
	// DynamicRules take the place of StaticRule. Of those whose conditions are met, the one with the lowest priority
	// number applies.
	DynamicRules []DynamicRule `json:"dynamicRules,omitempty"`
}

// DynamicRule is the value that a rule has if a condition is met.
type DynamicRule struct {
	Condition
	Value RuleValue `json:"value"`
	// Priority orders the dynamic rules of a rule: the lowest number comes first.
	Priority int64 `json:"priority"`
}

// RuleValue holds the message and the bounds of a rule. Each rule uses the members that docs/contract/policy.md lists
// for it; the others are absent.
type RuleValue struct {
	// ErrorMessage is the message for a value that breaks the rule; "" stands for a message of the service.
	ErrorMessage string `json:"errorMessage,omitempty"`

	// RegexValue is a regular expression of package pattern that the value must match.
	RegexValue string `json:"regexValue,omitempty"`
	// IsCaseSensitive means that RegexValue distinguishes upper and lower case. Nil means true.
	IsCaseSensitive *bool `json:"isCaseSensitive,omitempty"`

	// MinValue and MaxValue are the smallest and the largest number that is valid, as decimal text; "" means no bound.
	MinValue string `json:"minValue,omitempty"`
	MaxValue string `json:"maxValue,omitempty"`
	// MinDate and MaxDate are the first and the last date that is valid, as dates or date-times of RFC 3339; "" means
	// no bound.
	MinDate string `json:"minDate,omitempty"`
	MaxDate string `json:"maxDate,omitempty"`
	// Limit is the largest number of characters, of chosen values or of items.
	Limit *int64 `json:"limit,omitempty"`

	// OverallMinimumCount is the smallest number of items of a collection; nil means no minimum.
	OverallMinimumCount   *int64                 `json:"overallMinimumCount,omitempty"`
	RequiredTypesMinCount []RequiredTypeMinCount `json:"requiredTypesMinCount,omitempty"`

	// ProviderID is the ID of the external provider that supplies the value or the items. Nothing here evaluates it.
	ProviderID string `json:"providerId,omitempty"`
	// TimeZoneID is a name of the IANA database: the time zone of the dates of the field.
	TimeZoneID string `json:"timeZoneId,omitempty"`
}

// MatchesCase reports whether the regular expression tells upper from lower case, as it does unless the rule says
// otherwise.
func (v RuleValue) MatchesCase() bool { return v.IsCaseSensitive == nil || *v.IsCaseSensitive }

// RequiredTypeMinCount is how many items of a collection must be of one type.
type RequiredTypeMinCount struct {
	// Type is the value, or its ID, that these items have in the primary field of the data group.
	Type     string `json:"type"`
	MinCount int64  `json:"minCount"`
}
