package main

import (
	"fmt"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
)

// Names that the policies of the bench use.
const (
	category     = "KYC"
	targetEntity = "Client"
	groupID      = "6f0d9a52-0b53-4f0e-9d0c-3f4a4b1f7a11"
	groupKey     = "relatedParties"
)

// largePolicy returns a policy of n single fields with conditions, conditional values, formulas and rules, as a bank's
// policy has them.
func largePolicy(n int) policy.Contents {
	contents := policy.Contents{EntityType: "Company"}
	for i := range n {
		contents.Fields = append(contents.Fields, benchField(i, ""))
	}
	return contents
}

// collectionPolicy returns a policy with one collection whose items have n fields.
func collectionPolicy(n int) policy.Contents {
	group := policy.DataGroup{ID: groupID, Version: 1, Status: policy.DataGroupPublished, Name: "Related party",
		PrimaryField: benchKey(0)}
	for i := range n {
		group.Fields = append(group.Fields, benchField(i, "currentDataGroupItem"))
	}
	return policy.Contents{
		EntityType: "Company",
		Fields: []policy.Field{{
			ID: fieldID(9999), Version: 1, Name: "Related parties", DataKey: groupKey, FieldType: policy.TypeCollection,
			FieldTypeID: groupID,
			Categories:  []string{category}, TargetEntities: []string{targetEntity},
		}},
		DataGroups: []policy.DataGroup{group},
	}
}

func benchKey(i int) string { return fmt.Sprintf("field%04d", i) }

func fieldID(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// benchField returns field i. Its logic reads the values of its neighbours in a data source.
func benchField(i int, source string) policy.Field {
	read := func(o policy.Operand) policy.Operand { o.DataSource = source; return o }
	neighbour := benchKey(i / 10 * 10)
	f := policy.Field{
		ID: fieldID(i), Version: 1, Name: fmt.Sprintf("Field %d", i), DataKey: benchKey(i), FieldType: "Text",
		Order:       float64(i),
		Description: "What the institution must know, and from which document it is taken.",
		Categories:  []string{category}, TargetEntities: []string{targetEntity},
	}
	if i%3 > 0 {
		f.Conditions = []policy.Condition{{ID: fmt.Sprint("condition ", i), Operands: []policy.Operand{
			read(operand(neighbour, policy.IsNotEmpty)),
			combine(policy.Or, read(operand(neighbour, policy.NotEqual, "24")),
				read(operand(benchKey(i), policy.Contains, "7"))),
		}}}
	}
	for n := range int64(3 * (i % 4 / 3)) {
		f.ConditionalValues = append(f.ConditionalValues, policy.ConditionalValue{
			Condition: policy.Condition{ID: fmt.Sprint("value ", n), Operands: []policy.Operand{
				read(operand(neighbour, policy.GreaterThan, fmt.Sprint(10*n))),
			}}, Value: fmt.Sprint("conditional ", n), Priority: n,
		})
	}
	if i%10 == 9 {
		f.FormulaSchema = &policy.FormulaSchema{FormulaString: fmt.Sprintf("({%s} + 1) * 1.25 / 3", neighbour)}
	}
	f.ValidationRules = benchRules(i, read(operand(neighbour, policy.Equal, "12")))
	return f
}

// benchRules returns the rules of field i, with an operand that decides a dynamic one.
func benchRules(i int, when policy.Operand) policy.ValidationRules {
	limit := int64(40)
	rules := policy.ValidationRules{
		Mandatory: &policy.Rule{IsActive: i%2 == 0,
			StaticRule: &policy.RuleValue{ErrorMessage: "The field is required."}},
		CharacterLimit: &policy.Rule{IsActive: true,
			StaticRule: &policy.RuleValue{ErrorMessage: "The text is too long.", Limit: &limit}},
	}
	if i%5 == 0 {
		rules.Regex = &policy.Rule{IsActive: true, StaticRule: &policy.RuleValue{
			ErrorMessage: "The text has another form.", RegexValue: `^[A-Za-z0-9 ]{0,20}$`,
		}}
	}
	if i%10 == 1 {
		rules.Mandatory.DynamicRules = []policy.DynamicRule{{
			Condition: policy.Condition{ID: fmt.Sprint("rule ", i), Operands: []policy.Operand{when}}, Priority: 1,
			Value: policy.RuleValue{ErrorMessage: "The field is required here."},
		}}
	}
	return rules
}

// benchValue returns the value of field i. Values repeat after kinds.
func benchValue(i, kinds int) property.Text {
	text := fmt.Sprint(12 * (i % kinds))
	return property.Text{Value: &text}
}

// singleValues returns the values of n fields of an entity.
func singleValues(n int) property.Split {
	values := map[string]property.Text{}
	for i := range n {
		values[benchKey(i)] = benchValue(i, 7)
	}
	return property.Split{SingleProperties: values}
}

// collectionValues returns an entity with a collection of some items, each with the values of some fields.
func collectionValues(items, fields int) property.Split {
	all := map[string]property.SplitItem{}
	for item := range items {
		values := map[string]property.Text{}
		for i := range fields {
			values[benchKey(i)] = benchValue(item, 4)
		}
		all[fieldID(item)] = property.SplitItem{Properties: values}
	}
	return property.Split{CollectionProperties: map[string]property.SplitCollection{groupKey: {CollectionID: groupID,
		Items: all}}}
}
