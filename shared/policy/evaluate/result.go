package evaluate

import "sluice/shared/policy"

// Result is the result of an evaluation: the shown parts of the policy, in the order of the fields. Single values,
// items of collections and custom groups are apart. Its JSON form is the data of the reply.
type Result struct {
	EvaluatedFields               []EvaluatedField        `json:"evaluatedFields"`
	EvaluatedCollectionDataGroups []CollectionDataGroup   `json:"evaluatedCollectionDataGroups"`
	EvaluatedCustomDataGroups     []CustomDataGroup       `json:"evaluatedCustomDataGroups"`
	EvaluatedJurisdictions        []EvaluatedJurisdiction `json:"evaluatedJurisdictions"`
}

// EvaluatedJurisdiction is a jurisdiction of an evaluation.
type EvaluatedJurisdiction struct {
	ID   string `json:"jurisdictionId"`
	Name string `json:"name"`
}

// GroupField is an evaluated field of a data group. A pointer is null where there is no such value.
type GroupField struct {
	DataKey                     string  `json:"dataKey"`
	Name                        string  `json:"name"`
	Description                 *string `json:"description"`
	FieldType                   string  `json:"fieldType"`
	FieldTypeID                 *string `json:"fieldTypeId"`
	Order                       float64 `json:"order"`
	LinkChildFieldDataKey       *string `json:"linkChildFieldDataKey"`
	LinkedParentFieldDataKey    *string `json:"linkedParentFieldDataKey"`
	ExternalSearchAPIProviderID *string `json:"externalSearchApiProviderId"`
	TimeZoneID                  *string `json:"timeZoneId"`

	IsRequired bool `json:"isRequired"`
	IsReadOnly bool `json:"isReadOnly"`
	// IsConditional means that every field with the data key has conditions.
	IsConditional bool `json:"isConditional"`
	// IsMasked means that the field is sensitive and the caller lacks its layers.
	IsMasked        bool `json:"isMasked"`
	IsSensitiveData bool `json:"isSensitiveData"`
	// FieldAccessLayers is nil if every caller reaches the field.
	FieldAccessLayers *FieldLayers `json:"fieldAccessLayers"`
	UIDecoration      *string      `json:"uiDecoration"`
	UIDecorationColor *string      `json:"uiDecorationColor"`
	// ShouldClearValue means that the field is not shown, and that the client should remove its value.
	ShouldClearValue bool `json:"shouldClearValue"`

	// The three kinds of values are independent of each other; the client decides which one it uses. Each has a flag
	// for its presence. A field whose value is hidden has none of them.
	DefaultValue                 *string `json:"defaultValue"`
	HasEvaluatedDefaultValue     bool    `json:"hasEvaluatedDefaultValue"`
	EvaluatedConditionalValue    *string `json:"evaluatedConditionalValue"`
	EvaluatedConditionalValueID  *string `json:"evaluatedConditionalValueId"`
	HasEvaluatedConditionalValue bool    `json:"hasEvaluatedConditionalValue"`
	CalculatedFieldResult        *string `json:"calculatedFieldResult"`
	HasCalculatedValue           bool    `json:"hasCalculatedValue"`

	// ValidationData are the rules of the field as they are for this entity, by their names.
	ValidationData map[string]ResolvedRule `json:"validationData"`
	// ValidationErrors are the errors of the value by the rules and of the formula, if any.
	ValidationErrors []ValidationError `json:"validationErrors"`

	// DecidedBy are the IDs of the conditions that decided, if that was asked for.
	DecidedBy []string `json:"decidedBy,omitempty"`
}

// FieldLayers are the access layers of an evaluated field.
type FieldLayers struct {
	Geographic      []string `json:"geographic"`
	BusinessRelated []string `json:"businessRelated"`
}

// ResolvedRule is a rule with the static or dynamic value that counts.
type ResolvedRule struct {
	Active  bool   `json:"active"`
	Message string `json:"message"`

	RegexValue      string `json:"regexValue,omitempty"`
	IsCaseSensitive *bool  `json:"isCaseSensitive,omitempty"`
	MinValue        string `json:"minValue,omitempty"`
	MaxValue        string `json:"maxValue,omitempty"`
	MinDate         string `json:"minDate,omitempty"`
	MaxDate         string `json:"maxDate,omitempty"`
	Limit           *int64 `json:"limit,omitempty"`

	OverallMinimumCount   *int64                        `json:"overallMinimumCount,omitempty"`
	RequiredTypesMinCount []policy.RequiredTypeMinCount `json:"requiredTypesMinCount,omitempty"`
	ProviderID            string                        `json:"providerId,omitempty"`
	TimeZoneID            string                        `json:"timeZoneId,omitempty"`
}

// ValidationError is the error of the value of a field by a rule.
type ValidationError struct {
	// Validator is the name of the rule, or "formula".
	Validator string `json:"validator"`
	Message   string `json:"message"`
}

// EvaluatedField is an evaluated field of the policy itself.
type EvaluatedField struct {
	GroupField
	// Category is the first category of the field that was asked for, or else its first; "" if it has none.
	Category       string `json:"category"`
	IsIndexable    bool   `json:"isIndexable"`
	IsMaterialData bool   `json:"isMaterialData"`
}

// CollectionHeader is a collection without its items.
type CollectionHeader struct {
	DataKey                             string                  `json:"dataKey"`
	DataGroupID                         string                  `json:"dataGroupId"`
	DataGroupVersionNumber              int64                   `json:"dataGroupVersionNumber"`
	DataGroupName                       string                  `json:"dataGroupName"`
	Name                                string                  `json:"name"`
	Description                         *string                 `json:"description"`
	Category                            string                  `json:"category"`
	Order                               float64                 `json:"order"`
	IsReadOnly                          bool                    `json:"isReadOnly"`
	IsConditional                       bool                    `json:"isConditional"`
	ValidationData                      map[string]ResolvedRule `json:"validationData"`
	PrimaryDataGroupField               *string                 `json:"primaryDataGroupField"`
	DisableMultiselectPrimaryFieldOnAdd bool                    `json:"disableMultiselectPrimaryFieldOnAdd"`
	Columns                             []Column                `json:"columns"`
	// ValidationErrors are those about the number of items.
	ValidationErrors []ValidationError `json:"validationErrors"`
	// DecidedBy are the IDs of the conditions that decided, if that was asked for.
	DecidedBy []string `json:"decidedBy,omitempty"`
}

// Column is a field of a collection, independently of its items.
type Column struct {
	DataKey       string  `json:"dataKey"`
	FieldType     string  `json:"fieldType"`
	FieldTypeID   *string `json:"fieldTypeId"`
	Name          string  `json:"name"`
	Description   *string `json:"description"`
	Order         float64 `json:"order"`
	IsConditional bool    `json:"isConditional"`
}

// CollectionDataGroup is a collection with its items by ID.
type CollectionDataGroup struct {
	CollectionHeader
	EvaluatedItems map[string]EvaluatedItem `json:"evaluatedItems"`
}

// EvaluatedItem is one item of a collection.
type EvaluatedItem struct {
	// EvaluatedFields are the fields of the item in their order. Items share fields that are equal as far as evaluation
	// notices it cheaply, so that a collection of a thousand items has some dozens of fields in memory; nobody changes
	// a field once it is in a result.
	EvaluatedFields []*GroupField `json:"evaluatedFields"`
}

// CustomDataGroup is a group of fields and of nested groups.
type CustomDataGroup struct {
	DataKey            string            `json:"dataKey"`
	DataGroupID        string            `json:"dataGroupId"`
	VersionNumber      int64             `json:"versionNumber"`
	DataGroupName      string            `json:"dataGroupName"`
	Name               string            `json:"name"`
	Description        *string           `json:"description"`
	Category           string            `json:"category"`
	Order              float64           `json:"order"`
	IsConditional      bool              `json:"isConditional"`
	SingleFields       []GroupField      `json:"singleFields"`
	CustomNestedFields []CustomDataGroup `json:"customNestedFields"`
	// DecidedBy are the IDs of the conditions that decided, if that was asked for.
	DecidedBy []string `json:"decidedBy,omitempty"`
}
