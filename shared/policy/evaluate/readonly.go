package evaluate

// ReadOnlyResult is a result for display: normalized, without values, rules and errors. Its JSON form is
// the data of the reply.
type ReadOnlyResult struct {
	EvaluatedFields               []ReadOnlyField      `json:"evaluatedFields"`
	EvaluatedCollectionDataGroups []ReadOnlyCollection `json:"evaluatedCollectionDataGroups"`
}

// DisplayField is a field for display. A pointer is null where there is no such value.
type DisplayField struct {
	DataKey                  string  `json:"dataKey"`
	Name                     string  `json:"name"`
	Description              *string `json:"description"`
	FieldType                string  `json:"fieldType"`
	FieldTypeID              *string `json:"fieldTypeId"`
	Order                    float64 `json:"order"`
	LinkChildFieldDataKey    *string `json:"linkChildFieldDataKey"`
	LinkedParentFieldDataKey *string `json:"linkedParentFieldDataKey"`
	IsMasked                 bool    `json:"isMasked"`
	IsSensitiveData          bool    `json:"isSensitiveData"`
	UIDecoration             *string `json:"uiDecoration"`
	UIDecorationColor        *string `json:"uiDecorationColor"`
	TimeZoneID               *string `json:"timeZoneId"`
	// DecidedBy are the IDs of the conditions that decided, if that was asked for.
	DecidedBy []string `json:"decidedBy,omitempty"`
}

// ReadOnlyField is a field of the policy itself, for display.
type ReadOnlyField struct {
	DisplayField
	Category string `json:"category"`
}

// ReadOnlyCollection is a normalized collection, for display.
type ReadOnlyCollection struct {
	DataKey                string                    `json:"dataKey"`
	DataGroupID            string                    `json:"dataGroupId"`
	DataGroupVersionNumber int64                     `json:"dataGroupVersionNumber"`
	DataGroupName          string                    `json:"dataGroupName"`
	Name                   string                    `json:"name"`
	Description            *string                   `json:"description"`
	Category               string                    `json:"category"`
	Order                  float64                   `json:"order"`
	IsConditional          bool                      `json:"isConditional"`
	PrimaryDataGroupField  *string                   `json:"primaryDataGroupField"`
	Columns                []Column                  `json:"columns"`
	DecidedBy              []string                  `json:"decidedBy,omitempty"`
	EvaluatedFields        []*DisplayField           `json:"evaluatedFields"`
	EvaluatedItems         map[string]NormalizedItem `json:"evaluatedItems"`
}

// ForReadOnly returns the request with the options that are fixed for read-only results: values are not evaluated,
// rules report nothing, and fields are filtered by access layers.
func (r Request) ForReadOnly() Request {
	r.SkipValuesEvaluation, r.ReturnValidationErrors, r.EnableAccessLayersFiltering = true, false, true
	return r
}

// ReadOnly returns the result of a request from ForReadOnly for display. Fields that are
// there only because their values should be cleared are not shown, so they are left out. As soon as the distinct fields
// of collections have more than maxBytes as JSON, it returns ErrTooLarge.
func ReadOnly(r Result, maxBytes int) (ReadOnlyResult, error) {
	out := ReadOnlyResult{[]ReadOnlyField{}, []ReadOnlyCollection{}}
	for i := range r.EvaluatedFields {
		f := &r.EvaluatedFields[i]
		if d := displayOf(&f.GroupField); d != nil {
			out.EvaluatedFields = append(out.EvaluatedFields, ReadOnlyField{*d, f.Category})
		}
	}
	for _, g := range r.EvaluatedCollectionDataGroups {
		fields, items, err := normalizeItems(g.EvaluatedItems, &maxBytes, displayOf)
		if err != nil {
			return ReadOnlyResult{}, err
		}
		out.EvaluatedCollectionDataGroups = append(out.EvaluatedCollectionDataGroups, ReadOnlyCollection{
			DataKey: g.DataKey, DataGroupID: g.DataGroupID, DataGroupVersionNumber: g.DataGroupVersionNumber,
			DataGroupName: g.DataGroupName, Name: g.Name, Description: g.Description, Category: g.Category,
			Order: g.Order, IsConditional: g.IsConditional, PrimaryDataGroupField: g.PrimaryDataGroupField,
			Columns:   g.Columns,
			DecidedBy: g.DecidedBy, EvaluatedFields: fields, EvaluatedItems: items,
		})
	}
	return out, nil
}

// displayOf returns a field for display, nil if it is not shown.
func displayOf(f *GroupField) *DisplayField {
	if f.ShouldClearValue {
		return nil
	}
	return &DisplayField{
		DataKey: f.DataKey, Name: f.Name, Description: f.Description, FieldType: f.FieldType,
		FieldTypeID: f.FieldTypeID, Order: f.Order, LinkChildFieldDataKey: f.LinkChildFieldDataKey,
		LinkedParentFieldDataKey: f.LinkedParentFieldDataKey, IsMasked: f.IsMasked, IsSensitiveData: f.IsSensitiveData,
		UIDecoration:      f.UIDecoration,
		UIDecorationColor: f.UIDecorationColor, TimeZoneID: f.TimeZoneID, DecidedBy: f.DecidedBy,
	}
}
