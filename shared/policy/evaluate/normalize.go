package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// NormalizedResult is a Result whose collections have each distinct field once. Its JSON form is the data of the reply.
type NormalizedResult struct {
	EvaluatedFields               []EvaluatedField        `json:"evaluatedFields"`
	EvaluatedCollectionDataGroups []NormalizedCollection  `json:"evaluatedCollectionDataGroups"`
	EvaluatedCustomDataGroups     []CustomDataGroup       `json:"evaluatedCustomDataGroups"`
	EvaluatedJurisdictions        []EvaluatedJurisdiction `json:"evaluatedJurisdictions"`
}

// NormalizedCollection is a collection with its distinct fields, and its items by ID.
type NormalizedCollection struct {
	CollectionHeader
	// EvaluatedFields are in the order of their first use; the items are used in the order of their IDs.
	EvaluatedFields []*GroupField             `json:"evaluatedFields"`
	EvaluatedItems  map[string]NormalizedItem `json:"evaluatedItems"`
}

// NormalizedItem is one item of a collection by references to fields.
type NormalizedItem struct {
	// EvaluatedFieldRefs are the fields of the item in their order, as indices into EvaluatedFields of the collection.
	EvaluatedFieldRefs []int `json:"evaluatedFieldRefs"`
}

// ErrTooLarge means that the distinct fields of a result have more bytes of JSON than the caller allows.
var ErrTooLarge = errors.New("evaluate: the distinct fields are too large")

// Normalize returns a result with each distinct field of a collection once: fields are the same if their JSON is. It
// shares its fields with r. As soon as the distinct fields have more than maxBytes as JSON, it returns ErrTooLarge.
func Normalize(r Result, maxBytes int) (NormalizedResult, error) {
	out := NormalizedResult{
		EvaluatedFields: r.EvaluatedFields, EvaluatedCollectionDataGroups: make([]NormalizedCollection, 0),
		EvaluatedCustomDataGroups: r.EvaluatedCustomDataGroups, EvaluatedJurisdictions: r.EvaluatedJurisdictions,
	}
	for _, g := range r.EvaluatedCollectionDataGroups {
		fields, items, err := normalizeItems(g.EvaluatedItems, &maxBytes, func(f *GroupField) *GroupField { return f })
		if err != nil {
			return NormalizedResult{}, err
		}
		out.EvaluatedCollectionDataGroups = append(out.EvaluatedCollectionDataGroups,
			NormalizedCollection{g.CollectionHeader, fields, items})
	}
	return out, nil
}

// normalizeItems returns the distinct fields of items in the order of their first use, and the items by references to
// them. sentOf returns the part of a field that is sent, nil for nothing; it is called once for a field that items
// share. The bytes of the distinct fields are subtracted from maxBytes.
func normalizeItems[F any](items map[string]EvaluatedItem, maxBytes *int, sentOf func(*GroupField) *F) (
	[]*F, map[string]NormalizedItem, error) {
	d := distinctFields[F]{sentOf: sentOf, bytesLeft: maxBytes, list: []*F{}, byField: map[*GroupField]int{},
		byText: map[string]int{}}
	out := make(map[string]NormalizedItem, len(items))
	for _, id := range slices.Sorted(maps.Keys(items)) {
		refs := make([]int, 0, len(items[id].EvaluatedFields))
		for _, f := range items[id].EvaluatedFields {
			i, err := d.indexOf(f)
			if err != nil {
				return nil, nil, err
			}
			if i != notSent {
				refs = append(refs, i)
			}
		}
		out[id] = NormalizedItem{refs}
	}
	return d.list, out, nil
}

// notSent stands for the index of a field that is not sent.
const notSent = -1

// distinctFields collects the distinct fields of one collection.
type distinctFields[F any] struct {
	sentOf func(*GroupField) *F
	list   []*F
	// bytesLeft is the number of bytes of JSON that further fields may have, of this and of other collections.
	bytesLeft *int
	// byField and byText find the index of a field by its address, which items of one result share, and by its JSON.
	byField map[*GroupField]int
	byText  map[string]int
}

// indexOf returns the index of a field, which it adds to the list if it is new.
func (d *distinctFields[F]) indexOf(f *GroupField) (int, error) {
	if i, ok := d.byField[f]; ok {
		return i, nil
	}
	i, err := d.findOrAdd(d.sentOf(f))
	if err != nil {
		return 0, err
	}
	d.byField[f] = i
	return i, nil
}

func (d *distinctFields[F]) findOrAdd(sent *F) (int, error) {
	if sent == nil {
		return notSent, nil
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return 0, fmt.Errorf("evaluate: encode a field: %w", err)
	}
	if i, ok := d.byText[string(text)]; ok {
		return i, nil
	}
	if *d.bytesLeft -= len(text); *d.bytesLeft < 0 {
		return 0, ErrTooLarge
	}
	i := len(d.list)
	d.list = append(d.list, sent)
	d.byText[string(text)] = i
	return i, nil
}

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
