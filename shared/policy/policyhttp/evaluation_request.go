package policyhttp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// Limits of evaluations.
const (
	// maxEvaluationBody is the size of the largest request: the values of an entity with collections of some thousand
	// items.
	maxEvaluationBody = 4 << 20
	// maxCollectionItems is the largest number of items in all collections of a request together.
	maxCollectionItems = 10_000
	// maxDataSources is the largest number of data sources in a request; clients use about forty.
	maxDataSources = 100
	// maxAsked is the largest number of categories or jurisdictions in a request.
	maxAsked = policy.MaxJurisdictions
)

// entityRequest is the part of a request that all evaluations share: the entity and its journey.
type entityRequest struct {
	JourneyID             *string                   `json:"journeyId"`
	TargetEntity          string                    `json:"targetEntity"`
	EvaluateJurisdictions bool                      `json:"evaluateJurisdictions"`
	Jurisdictions         []string                  `json:"jurisdictions"`
	Categories            []string                  `json:"categories"`
	Properties            property.Split            `json:"properties"`
	DataSources           map[string]jsontext.Value `json:"dataSources"`
	JourneyLevelDataOnly  bool                      `json:"journeyLevelDataOnly"`

	DisableFilteringForConditionalValues bool `json:"disableFilteringForConditionalValues"`
}

// EvaluationRequest asks for the evaluation of a version of a policy.
type EvaluationRequest struct {
	entityRequest
	SkipValuesEvaluation        bool `json:"skipValuesEvaluation"`
	ReturnValidationErrors      bool `json:"returnValidationErrors"`
	EnableAccessLayersFiltering bool `json:"enableAccessLayersFiltering"`
}

// ReadOnlyRequest is EvaluationRequest for a result that is only displayed. Three options are fixed; they are named
// here so that clients that send them learn why they are refused.
type ReadOnlyRequest struct {
	entityRequest
	SkipValuesEvaluation        fixedOption `json:"skipValuesEvaluation"`
	ReturnValidationErrors      fixedOption `json:"returnValidationErrors"`
	EnableAccessLayersFiltering fixedOption `json:"enableAccessLayersFiltering"`
}

// fixedOption is an option that clients must not send.
type fixedOption struct{ isSent bool }

// UnmarshalJSONFrom records that the option was sent, and skips its value.
func (o *fixedOption) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.isSent = true
	return d.SkipValue()
}

// Check validates the data.
func (in *ReadOnlyRequest) Check(v *platform.ValidationErrors) {
	for _, o := range []struct {
		name   string
		option fixedOption
	}{
		{"skipValuesEvaluation", in.SkipValuesEvaluation}, {"returnValidationErrors", in.ReturnValidationErrors},
		{"enableAccessLayersFiltering", in.EnableAccessLayersFiltering},
	} {
		if o.option.isSent {
			v.Add(o.name, "The option is fixed in read-only evaluations. Leave it out.", codeForbidden)
		}
	}
	in.entityRequest.Check(v)
}

// Check validates the data.
func (in *entityRequest) Check(v *platform.ValidationErrors) {
	v.CheckOptionalUUID("journeyId", in.JourneyID)
	if in.TargetEntity != "" {
		v.RequireOneOf("targetEntity", in.TargetEntity, policy.TargetEntities...)
	}
	v.CheckUUIDs("jurisdictions", in.Jurisdictions, maxAsked)
	v.CheckNames("categories", in.Categories, maxAsked)
	c := propertyCheck{v: v}
	c.check("properties", in.Properties, property.MaxDepth)
	if c.items > maxCollectionItems {
		v.Add("properties", fmt.Sprintf("The collections have more than %d items together.", maxCollectionItems),
			platform.CodeCount)
	}
	in.checkDataSources(v)
}

// checkDataSources checks the names of data sources, and that each is an object or an array. Conditions look up their
// values, all of them optional.
func (in *entityRequest) checkDataSources(v *platform.ValidationErrors) {
	if !v.CheckCount("dataSources", len(in.DataSources), maxDataSources) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(in.DataSources)) {
		path := "dataSources." + name
		if name == "" || len(name) > platform.MaxName {
			v.Add("dataSources", fmt.Sprintf("A name must have 1 to %d bytes.", platform.MaxName), platform.CodeLength)
			continue
		}
		switch in.DataSources[name].Kind() {
		case 'n', '{', '[':
		default:
			v.Add(path, "A data source must be an object or an array.", platform.CodeProperty)
		}
	}
}

// request returns the request for the evaluation of a caller.
func (in *EvaluationRequest) request(r *platform.Request) evaluate.Request {
	out := in.entityRequest.request(r)
	out.SkipValuesEvaluation, out.ReturnValidationErrors = in.SkipValuesEvaluation, in.ReturnValidationErrors
	out.EnableAccessLayersFiltering = in.EnableAccessLayersFiltering
	return out
}

// request returns the request for the evaluation of a caller, without the options that not all evaluations have.
func (in *entityRequest) request(r *platform.Request) evaluate.Request {
	out := evaluate.Request{
		TargetEntity: in.TargetEntity, EvaluateJurisdictions: in.EvaluateJurisdictions, Categories: in.Categories,
		Properties: in.Properties, DataSources: map[string]jsontext.Value{},
		JourneyLevelDataOnly:                 in.JourneyLevelDataOnly,
		DisableFilteringForConditionalValues: in.DisableFilteringForConditionalValues, Layers: r.Layers,
	}
	if in.JourneyID != nil {
		out.JourneyID = strings.ToLower(*in.JourneyID)
	}
	for _, id := range in.Jurisdictions {
		out.Jurisdictions = append(out.Jurisdictions, strings.ToLower(id))
	}
	for name, value := range in.DataSources {
		if value.Kind() != 'n' { // null means absent
			out.DataSources[name] = value
		}
	}
	return out
}

// propertyCheck validates properties in split form, and counts the items of their collections.
type propertyCheck struct {
	v     *platform.ValidationErrors
	items int
}

func (c *propertyCheck) check(path string, p property.Split, depth int) {
	if depth == 0 {
		c.v.Add(path, fmt.Sprintf("Properties must not be nested more than %d deep.", property.MaxDepth),
			platform.CodeProperty)
		return
	}
	c.checkTexts(path+".singleProperties", p.SingleProperties)
	for _, key := range slices.Sorted(maps.Keys(p.CollectionProperties)) {
		at := path + ".collectionProperties." + key
		if !c.isKey(at, key) {
			continue
		}
		collection := p.CollectionProperties[key]
		c.v.CheckID(at+".collectionId", collection.CollectionID)
		c.items += len(collection.Items)
		for _, id := range slices.Sorted(maps.Keys(collection.Items)) {
			if c.isKey(at+".items", id) {
				c.checkTexts(at+".items."+id+".properties", collection.Items[id].Properties)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.CustomProperties)) {
		if at := path + ".customProperties." + key; c.isKey(at, key) {
			c.check(at, p.CustomProperties[key], depth-1)
		}
	}
}

// checkTexts checks single values. There can be a hundred thousand, so that paths and an order of errors are only made
// where something is wrong.
func (c *propertyCheck) checkTexts(path string, texts map[string]property.Text) {
	isFine := true
	for key, text := range texts {
		isFine = isFine && key != "" && len(key) <= policy.MaxNameLength && isShort(text.Value) && isShort(text.ValueID)
	}
	if isFine {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if c.isKey(path, key) {
			c.v.CheckOptionalText(path+"."+key+".value", texts[key].Value, platform.MaxText)
			c.v.CheckOptionalText(path+"."+key+".valueId", texts[key].ValueID, platform.MaxText)
		}
	}
}

// isShort reports whether a text is short enough even if each character is one byte.
func isShort(text *string) bool { return text == nil || len(*text) <= platform.MaxText }

// isKey reports whether a key is neither empty nor longer than data keys of fields can be, and adds an error otherwise.
func (c *propertyCheck) isKey(path, key string) bool {
	if key == "" || utf8.RuneCountInString(key) > policy.MaxNameLength {
		c.v.Add(path, fmt.Sprintf("A key must have 1 to %d characters.", policy.MaxNameLength), platform.CodeProperty)
		return false
	}
	return true
}
