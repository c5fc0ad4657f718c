package evaluate_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"sluice/shared/access"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// maskedPolicy is a random policy whose parts refer to each other, for a caller who lacks some layers. Every part that
// reads a value can read a hidden one.
type maskedPolicy struct {
	*dice
	contents policy.Contents
	request  evaluate.Request
	nextID   int
}

// The data keys of random policies. Groups share some of their keys with the entity.
var (
	singleKeys = []string{"a", "b", "c", "d", "dot.ted", "value"}
	groupKeys  = map[string][]string{
		"people": {"a", "b", "role", "share"}, "assets": {"b", "c", "amount"}, "address": {"street", "a", "geo"},
		"geo": {"lat", "c"},
	}
	allKeys = []string{
		"a", "b", "c", "d", "dot.ted", "value", "people", "assets", "address", "geo", "role", "share", "amount",
		"street", "lat",
	}
)

// shortTexts are the values of entities, and what operands compare with.
var shortTexts = []string{"yes", "no", "1", "2", "10", "-3", "2026-01-01", "2027-05-05", "x", `["yes","1"]`, "a", ""}

func newMaskedPolicy(seed uint64) *maskedPolicy {
	p := &maskedPolicy{dice: &dice{rand.New(rand.NewPCG(seed, 1))}}
	for range 3 + p.roll(6) {
		p.contents.Fields = append(p.contents.Fields, p.single(one(p.dice, singleKeys...), nil))
	}
	for _, key := range []string{"people", "assets", "address", "people"} {
		if p.roll(3) == 0 {
			continue
		}
		f := p.field(key, nil)
		f.ValidationRules.CollectionMinimumCount = always(policy.RuleValue{
			RequiredTypesMinCount: []policy.RequiredTypeMinCount{{Type: one(p.dice, "yes", "1"), MinCount: 1}},
		})
		if f.FieldType, f.FieldTypeID = policy.TypeCollection, key; key == "address" {
			f.FieldType = policy.TypeCustom
		}
		p.contents.Fields = append(p.contents.Fields, f)
	}
	p.contents.Fields = append(p.contents.Fields, p.probes(30, false)...)
	for _, key := range []string{"people", "assets", "address", "geo"} {
		p.contents.DataGroups = append(p.contents.DataGroups, p.group(key))
	}
	p.contents.DataGroups[0].Fields = append(p.contents.DataGroups[0].Fields, p.probes(6, true)...)
	for _, id := range []string{"j1", "j2"} {
		p.contents.Jurisdictions = append(p.contents.Jurisdictions, policy.Jurisdiction{
			ID: id, Name: id, Conditions: some(p.dice, 2, func() policy.Condition { return p.condition(false) }),
		})
	}
	p.request = evaluate.Request{
		EvaluateJurisdictions: p.roll(2) == 0, Jurisdictions: one(p.dice, nil, nil, []string{"j1"}),
		Categories: one(p.dice, nil, nil, nil, []string{"KYC"}), TargetEntity: one(p.dice, "", "", "Client"),
		SkipValuesEvaluation: p.roll(8) == 0, ReturnValidationErrors: p.roll(8) > 0, Explain: p.roll(2) == 0,
		DisableFilteringForConditionalValues: p.roll(2) == 0, EnableAccessLayersFiltering: p.roll(2) == 0, Now: now,
		Layers: access.Layers{
			Geographic:      one(p.dice, nil, []string{"DE"}, []string{"FR"}),
			BusinessRelated: one(p.dice, nil, nil, []string{"Private"}),
		},
	}
	return p
}

// probes returns fields that each show the outcome of one operand.
func (p *maskedPolicy) probes(n int, isItem bool) []policy.Field {
	var out []policy.Field
	for i := range n {
		key := fmt.Sprint("probe", i)
		out = append(out, policy.Field{ID: key, DataKey: key, FieldType: "Text", Conditions: []policy.Condition{
			{ID: key, Operands: []policy.Operand{p.operand(2, isItem, false)}},
		}})
	}
	return out
}

func (p *maskedPolicy) group(key string) policy.DataGroup {
	g := policy.DataGroup{ID: key, Version: 1, Name: key, PrimaryField: one(p.dice, groupKeys[key]...)}
	for _, inner := range groupKeys[key] {
		f := p.single(inner, groupKeys[key])
		if inner == "geo" {
			f = p.field(inner, groupKeys[key])
			f.FieldType, f.FieldTypeID = policy.TypeCustom, inner
		}
		g.Fields = append(g.Fields, f)
	}
	return g
}

// field returns a field of the entity or of a group with the given keys.
func (p *maskedPolicy) field(key string, inGroup []string) policy.Field {
	p.nextID++
	isItem := inGroup != nil
	return policy.Field{
		ID: fmt.Sprint("f", p.nextID), Name: key, DataKey: key, Order: float64(p.roll(3)),
		Categories:      one(p.dice, nil, nil, []string{"KYC"}, []string{"Other"}),
		TargetEntities:  one(p.dice, nil, nil, nil, []string{"Client"}),
		JurisdictionIDs: one(p.dice, nil, nil, []string{"j1"}, []string{"j1", "j2"}),
		IsSensitiveData: p.roll(2) == 0, ClearValueIfTriggerConditionNotMet: p.roll(2) == 0,
		AccessLayers: one(p.dice, nil, nil, &policy.AccessLayers{Geographic: []string{"DE"}},
			&policy.AccessLayers{Geographic: []string{"FR", "DE"}},
			&policy.AccessLayers{BusinessRelated: []string{"Private"}}),
		Conditions:      some(p.dice, 2, func() policy.Condition { return p.condition(isItem) }),
		ValidationRules: p.rules(isItem),
	}
}

// single returns a field that is a single value.
func (p *maskedPolicy) single(key string, inGroup []string) policy.Field {
	f := p.field(key, inGroup)
	f.FieldType = "Text"
	if p.roll(3) == 0 {
		f.DefaultValue = ptr("default")
	}
	f.ConditionalValues = some(p.dice, 2, func() policy.ConditionalValue {
		return policy.ConditionalValue{Condition: p.condition(inGroup != nil), Value: one(p.dice, shortTexts...),
			Priority: int64(p.roll(2))}
	})
	if p.roll(2) == 0 {
		f.FormulaSchema = &policy.FormulaSchema{FormulaString: p.formula(key)}
	}
	return f
}

// formula returns a formula of keys that come after one in the alphabet, so that there is no circle.
func (p *maskedPolicy) formula(key string) string {
	var later []string
	for _, other := range slices.Concat(singleKeys, groupKeys["people"], groupKeys["assets"],
		[]string{"street", "lat"}) {
		if other > key {
			later = append(later, "{"+other+"}")
		}
	}
	later = append(later, "2", "0")
	return strings.Join([]string{one(p.dice, later...), one(p.dice, "+", "*", "/"), one(p.dice, later...)}, " ")
}

func (p *maskedPolicy) condition(isItem bool) policy.Condition {
	p.nextID++
	c := policy.Condition{ID: fmt.Sprint("c", p.nextID),
		LogicalOperation: one(p.dice, policy.And, policy.Or, policy.Or)}
	for range 1 + p.roll(2) {
		c.Operands = append(c.Operands, p.operand(1, isItem, false))
	}
	return c
}

// dataSources are all of the contract, and one more.
var dataSources = []string{
	"mainEntity", "relatedClient", "relatedParties", "relatedProducts", "relatedDocuments", "journeyLevelData",
	"changedFields",
	"currentField", "currentDataGroupItem", "currentJourneys", "currentUser", "entityDataMetadata",
	"screeningMateriality", "unknown",
}

// operand returns an operand. It is about an item inside any, all or none, or in the condition of an item.
func (p *maskedPolicy) operand(depth int, isItem, isInner bool) policy.Operand {
	o := policy.Operand{LogicalOperation: one(p.dice, policy.And, policy.Or), FieldName: p.fieldName(isInner)}
	switch p.roll(8) {
	case 0, 1:
		o.DataSource = one(p.dice, dataSources...)
		if p.roll(3) == 0 {
			o.FieldName = ""
		}
	case 2:
		o.DataSource, o.FieldName = "changedFields", one(p.dice, "", "", o.FieldName)
	case 3:
		o.DataSource, o.FieldName = "entityDataMetadata", one(p.dice, "entityType", o.FieldName)
	case 4:
		o.DataSource = "currentDataGroupItem"
	default:
		if isInner && p.roll(4) == 0 {
			o.FieldName = ""
		}
	}
	if depth < 3 && p.roll(4) == 0 {
		o.Operation = one(p.dice, "", policy.Any, policy.All, policy.None)
		for range 1 + p.roll(2) {
			o.Operands = append(o.Operands, p.operand(depth+1, isItem, o.Operation != "" || isInner))
		}
		if o.Operation != "" && o.DataSource == "" && !isInner {
			o.FieldName = one(p.dice, "people", "assets", "people", p.fieldName(isInner))
		}
		return o
	}
	o.Operation = one(p.dice, policy.Equal, policy.NotEqual, policy.Contains, policy.NotContains, policy.IsEmpty,
		policy.IsNotEmpty,
		policy.IsDefined, policy.IsNotDefined, policy.GreaterThan, policy.LessThanOrEqual, policy.CountEqual,
		policy.CountNotEqual, policy.CountGreaterThan, policy.CountBetween)
	p.addValuesTo(&o, isInner)
	return o
}

// fieldName returns a name that leads to a value in one of the forms of data sources.
func (p *maskedPolicy) fieldName(isInner bool) string {
	key := one(p.dice, allKeys...)
	return one(p.dice, key, key, key, key, one(p.dice, "people.role", "people.a", "assets.b", "address.street",
		"address.geo.lat",
		"address.geo", "address.a", "properties."+key, "properties."+key+".value", "singleProperties."+key,
		strings.ToUpper(key),
		"dataKey", "value", "properties", "collectionProperties.people.items", "people.collections", "entityType",
		"teamIds"))
}

func (p *maskedPolicy) addValuesTo(o *policy.Operand, isInner bool) {
	switch operation := string(o.Operation); {
	case strings.HasPrefix(operation, "is"):
	case operation == string(policy.CountBetween):
		o.Value = []string{"1", "2"}
	case strings.HasPrefix(operation, "count"):
		o.Value = []string{one(p.dice, "0", "1", "2")}
	case p.roll(3) == 0:
		o.FieldName, o.ValueField = one(p.dice, "a", "b", "c", "d"),
			one(p.dice, "a", "b", "c", "d", p.fieldName(isInner))
	case strings.HasPrefix(operation, "greater"), strings.HasPrefix(operation, "less"):
		o.Value = []string{one(p.dice, "1", "2026-06-01")}
	case p.roll(5) == 0:
		o.ValueID = []string{"id"}
	default:
		// The names of keys are what changedFields lists.
		o.Value = []string{one(p.dice, "yes", "no", "1", "x", one(p.dice, allKeys...))}
	}
}

// rules returns rules of all kinds, dynamic ones among them. Few values obey them all.
func (p *maskedPolicy) rules(isItem bool) policy.ValidationRules {
	var f policy.Field
	values := map[string]policy.RuleValue{
		"mandatory": {}, "readOnly": {}, "specialCharacters": {}, "noNumbers": {}, "onlyInteger": {}, "noNegative": {},
		"onlyDecimal": {}, "regex": {RegexValue: "^(yes|1)$"}, "characterLimit": {Limit: ptr[int64](2)},
		"numberLimit": {MinValue: "0", MaxValue: "5"}, "noFutureDates": {}, "noPastDates": {},
		"dateLimit":        {MinDate: "2026-01-01"},
		"multiSelectLimit": {Limit: ptr[int64](1)}, "collectionMaximumCount": {Limit: ptr[int64](1)},
		"collectionMinimumCount": {
			OverallMinimumCount:   ptr[int64](1),
			RequiredTypesMinCount: []policy.RequiredTypeMinCount{{Type: "yes", MinCount: 1}},
		},
		"conditionalLimit": {MaxValue: "1"}, "timeZoneId": {TimeZoneID: "Asia/Tokyo"},
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rule := always(values[name])
		switch p.roll(8) {
		case 0:
		case 1:
			dynamic := values[name]
			dynamic.ErrorMessage = "dynamic"
			rule.DynamicRules = []policy.DynamicRule{{Condition: p.condition(isItem), Value: dynamic}}
		default:
			continue
		}
		setRule(&f, name, rule)
	}
	return f.ValidationRules
}
