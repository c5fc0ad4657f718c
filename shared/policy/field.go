package policy

// Field is one field of a policy or of a data group. It has its JSON form in bundles, and its members have the names
// that they have on the wire (docs/contract/policy.md). Several fields of a policy may have the same data key, for
// other jurisdictions or categories; evaluation merges them.
type Field struct {
	ID string `json:"fieldId"`
	// Version is 1 for a new field and grows by one with every change that is published.
	Version int64 `json:"fieldVersion"`
	// Name is shown to people; it need not be unique.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// DataKey is the key of the field's value in the properties of an entity.
	DataKey string `json:"dataKey"`
	// FieldType is TypeCollection, TypeCustom or any other text, which is a single value.
	FieldType string `json:"fieldType"`
	// FieldTypeID is the ID of the data group of a collection or a custom group. For other types it is the text that
	// the client makes of it, for example the ID of a list of values.
	FieldTypeID string `json:"fieldTypeId,omitempty"`
	// Order places the field among the others: ascending, fields with the same order by data key and ID.
	Order float64 `json:"order"`
	// LinkChildFieldDataKey and LinkedParentFieldDataKey link fields whose values depend on each other in the client's
	// lists.
	LinkChildFieldDataKey    string      `json:"linkChildFieldDataKey,omitempty"`
	LinkedParentFieldDataKey string      `json:"linkedParentFieldDataKey,omitempty"`
	Tags                     []string    `json:"tags,omitempty"`
	References               []Reference `json:"references,omitempty"`

	// Categories, TargetEntities (of policy.TargetEntities) and JurisdictionIDs select the requests in which the field
	// takes part; an empty list means for all. IDs of jurisdictions are the same in upper and lower case.
	Categories      []string `json:"categories,omitempty"`
	TargetEntities  []string `json:"targetEntities,omitempty"`
	JurisdictionIDs []string `json:"jurisdictionIds,omitempty"`
	// DataProtectionJurisdictionID and Classification are kept for the client. Nothing here evaluates them.
	DataProtectionJurisdictionID string `json:"dataProtectionJurisdictionId,omitempty"`
	Classification               string `json:"classification,omitempty"`
	// AccessLayers are those that a caller needs to see the field or its value. Nil means that every caller reaches it.
	AccessLayers *AccessLayers `json:"accessLayers,omitempty"`

	// IsReadOnly makes the field read-only independently of its rules.
	IsReadOnly bool `json:"isReadOnly,omitempty"`
	// IsJourneyLevelData marks the fields that requests for data of journeys alone ask for.
	IsJourneyLevelData bool `json:"isJourneyLevelData,omitempty"`
	IsIndexable        bool `json:"isIndexable,omitempty"`
	// IsSensitiveData masks the field for callers without its layers, and hides its value from them.
	IsSensitiveData bool `json:"isSensitiveData,omitempty"`
	IsMaterialData  bool `json:"isMaterialData,omitempty"`
	// ClearValueIfTriggerConditionNotMet asks the client to remove the value of the field when its conditions are not
	// met.
	ClearValueIfTriggerConditionNotMet bool   `json:"clearValueIfTriggerConditionNotMet,omitempty"`
	UIDecoration                       string `json:"uiDecoration,omitempty"`
	UIDecorationColor                  string `json:"uiDecorationColor,omitempty"`

	ExternalSearchAPIProviderID string `json:"externalSearchApiProviderId,omitempty"`

	// Conditions decide whether the field is shown: it is if one of them is met, or if there are none.
	Conditions []Condition `json:"conditions,omitempty"`
	// ConditionalValues are the values that conditions give the field. Of those whose conditions are met, the one with
	// the lowest priority number applies.
	ConditionalValues []ConditionalValue `json:"conditionalValues,omitempty"`
	// DefaultValue is the value to begin with; nil means none, "" an empty one.
	DefaultValue                *string                      `json:"defaultValue,omitempty"`
	ValidationRules             ValidationRules              `json:"validationRules,omitzero"`
	FormulaSchema               *FormulaSchema               `json:"formulaSchema,omitempty"`
	DateTimePeriodFormulaSchema *DateTimePeriodFormulaSchema `json:"dateTimePeriodFormulaSchema,omitempty"`
}

// Limits of fields and their conditions. Lengths are in characters.
const (
	// MaxNameLength is the length of the longest name, data key, or name of a field or data source in an operand.
	MaxNameLength = 700
	// MaxOperandDepth is how deep operands can be nested.
	MaxOperandDepth = 8
	// MaxOperandValues is how many values, or IDs of values, an operand can be compared with.
	MaxOperandValues = 500
	// MaxOperandLength is the length of the longest of these values.
	MaxOperandLength = 2000
)

// The field types that refer to a data group. Every other type is a single value.
const (
	TypeCollection = "Collection"
	TypeCustom     = "Custom"
)

// HasDataGroup reports whether the field is a collection or a custom group, whose FieldTypeID names a data group.
func (f Field) HasDataGroup() bool { return f.FieldType == TypeCollection || f.FieldType == TypeCustom }

// Reference is where the rule of a field comes from, such as a law.
type Reference struct {
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
}

// AccessLayers are access layers as bundles store them, with other member names than in package access. An empty
// list means the default layers of package access.
type AccessLayers struct {
	Geographic      []string `json:"geographic,omitempty"`
	BusinessRelated []string `json:"businessRelated,omitempty"`
}

// Logical is how operands are combined.
type Logical string

// The logical operations. An empty one means And.
const (
	And Logical = "AND"
	Or  Logical = "OR"
)

// Condition is met if its operands are, combined by the logical operation. One without operands is met.
type Condition struct {
	ID               string    `json:"id"`
	Name             string    `json:"name,omitempty"`
	Description      string    `json:"description,omitempty"`
	LogicalOperation Logical   `json:"logicalOperation,omitempty"`
	Operands         []Operand `json:"operands,omitempty"`
}

// Operand is a comparison of one value of a data source or, if it has operands itself, their combination.
type Operand struct {
	// FieldName names the value in the data source: a data key, or several from the outside to the inside with points
	// between them.
	FieldName string `json:"fieldName,omitempty"`
	// Value is compared with the value and ValueID with the ID of its list entry; one of them is enough for equality.
	Value   []string `json:"value,omitempty"`
	ValueID []string `json:"valueId,omitempty"`
	// ValueType is kept for the client. Nothing here evaluates it.
	ValueType string `json:"valueType,omitempty"`
	// DataSource names where the value is taken from; "" means the properties of the entity.
	DataSource       string    `json:"dataSource,omitempty"`
	Operation        Operation `json:"operation,omitempty"`
	LogicalOperation Logical   `json:"logicalOperation,omitempty"`
	Operands         []Operand `json:"operands,omitempty"`
	// ValueField names a field of the same data source whose value takes the place of Value; "" if Value is given.
	ValueField string `json:"valueField,omitempty"`
}

// Operation is how an operand compares.
type Operation string

// The operations. Those that begin with Count compare the number of items of a collection; Any, All and None ask which
// of its items meet the operands inside.
const (
	Equal              Operation = "equal"
	NotEqual           Operation = "notEqual"
	Contains           Operation = "contains"
	NotContains        Operation = "notContains"
	IsEmpty            Operation = "isEmpty"
	IsNotEmpty         Operation = "isNotEmpty"
	IsDefined          Operation = "isDefined"
	IsNotDefined       Operation = "isNotDefined"
	GreaterThan        Operation = "greaterThan"
	GreaterThanOrEqual Operation = "greaterThanOrEqual"
	LessThan           Operation = "lessThan"
	LessThanOrEqual    Operation = "lessThanOrEqual"

	CountEqual              Operation = "countEqual"
	CountNotEqual           Operation = "countNotEqual"
	CountLessThan           Operation = "countLessThan"
	CountLessThanOrEqual    Operation = "countLessThanOrEqual"
	CountGreaterThan        Operation = "countGreaterThan"
	CountGreaterThanOrEqual Operation = "countGreaterThanOrEqual"
	CountBetween            Operation = "countBetween"
	CountNotBetween         Operation = "countNotBetween"

	Any  Operation = "any"
	All  Operation = "all"
	None Operation = "none"
)

// ConditionalValue is the value that a field has if a condition is met.
type ConditionalValue struct {
	Condition
	Value string `json:"value"`
	// ValueID is the ID of the list entry of Value; "" if it was not chosen from a list.
	ValueID string `json:"valueId,omitempty"`
	// Priority orders the conditional values of a field: the lowest number comes first.
	Priority int64 `json:"priority"`
}

// FormulaSchema is the formula of a calculated field.
type FormulaSchema struct {
	// FormulaSetID and VersionNumber say where the client has the formula from. Nothing here evaluates them.
	FormulaSetID  string `json:"formulaSetId,omitempty"`
	VersionNumber int64  `json:"versionNumber,omitempty"`
	// FormulaString is the formula, with data keys in braces: ({turnover} - {costs}) / 12.
	FormulaString string `json:"formulaString"`
	// FormulaVariables are the data keys of the formula.
	FormulaVariables []string `json:"formulaVariables,omitempty"`
}

// DateTimePeriodFormulaSchema is kept as the client gives it. Nothing here evaluates it.
type DateTimePeriodFormulaSchema struct {
	FormulaSetID     string   `json:"formulaSetId,omitempty"`
	VersionNumber    int64    `json:"versionNumber,omitempty"`
	FormulaString    string   `json:"formulaString,omitempty"`
	FormulaVariables []string `json:"formulaVariables,omitempty"`
}
