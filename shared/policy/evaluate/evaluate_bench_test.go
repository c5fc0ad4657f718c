package evaluate

import (
	"fmt"
	"testing"

	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
)

// one returns a property with a value.
func one(value string) property.Text { return property.Text{Value: &value} }

// benchRequest returns a request with n single properties p0, p1, ... and a collection owners of the given number of
// items, each with as many properties.
func benchRequest(n, items int) Request {
	r := Request{Properties: property.Split{
		SingleProperties: map[string]property.Text{}, CollectionProperties: map[string]property.SplitCollection{},
	}}
	owners := map[string]property.SplitItem{}
	for i := range items {
		item := property.SplitItem{Properties: map[string]property.Text{}}
		for k := range n {
			item.Properties[fmt.Sprintf("p%d", k)] = one(fmt.Sprint((i + k) % 7))
		}
		owners[fmt.Sprintf("item-%04d", i)] = item
	}
	for k := range n {
		r.Properties.SingleProperties[fmt.Sprintf("p%d", k)] = one(fmt.Sprint(k % 7))
	}
	if items > 0 {
		r.Properties.CollectionProperties["owners"] = property.SplitCollection{Items: owners}
	}
	return r
}

// benchFields returns n fields, each with a condition of two operands on the properties of a data source.
func benchFields(n int, source string) []policy.Field {
	out := make([]policy.Field, n)
	for i := range out {
		out[i] = policy.Field{
			ID: fmt.Sprint(i), DataKey: fmt.Sprintf("p%d", i), Name: fmt.Sprintf("Property %d", i), FieldType: "Text",
			Order: float64(i), Conditions: []policy.Condition{{ID: fmt.Sprint(i), Operands: []policy.Operand{
				{FieldName: fmt.Sprintf("p%d", (i+1)%n), DataSource: source, Operation: policy.NotEqual,
					Value: []string{"x"}},
				{FieldName: fmt.Sprintf("p%d", (i+2)%n), DataSource: source, Operation: policy.LessThan,
					Value: []string{"6"}},
			}}},
		}
	}
	return out
}

func benchmarkEvaluate(b *testing.B, c policy.Contents, r Request) {
	p := errtest.Must(Compile(c))(b)
	b.ReportAllocs()
	for b.Loop() {
		errtest.Fatal(b, errtest.Of(p.Evaluate(b.Context(), r, nil)))
	}
}

// BenchmarkEvaluateFields evaluates a policy of 2,000 fields with a condition each.
func BenchmarkEvaluateFields(b *testing.B) {
	benchmarkEvaluate(b, policy.Contents{Fields: benchFields(2000, "")}, benchRequest(2000, 0))
}

// BenchmarkEvaluateItems evaluates a collection of 1,000 items with 30 fields with a condition each.
func BenchmarkEvaluateItems(b *testing.B) {
	benchmarkEvaluate(b, itemContents(), benchRequest(30, 1000))
}

func itemContents() policy.Contents {
	return policy.Contents{
		Fields: []policy.Field{{ID: "owners", DataKey: "owners", FieldType: policy.TypeCollection,
			FieldTypeID: "owner"}},
		DataGroups: []policy.DataGroup{{ID: "owner", Version: 1, Fields: benchFields(30, sourceCurrentItem)}},
	}
}

// BenchmarkCondition evaluates one condition of a few operations, its values looked up already.
func BenchmarkCondition(b *testing.B) {
	for name, o := range map[string]policy.Operand{
		"equal":       {FieldName: "p1", Operation: policy.Equal, Value: []string{"Ireland", "Spain"}},
		"notEqual":    {FieldName: "p1", Operation: policy.NotEqual, Value: []string{"Ireland", "Spain"}},
		"equal500":    {FieldName: "p1", Operation: policy.Equal, Value: manyValues(policy.MaxOperandValues)},
		"contains":    {FieldName: "p1", Operation: policy.Contains, Value: []string{"land"}},
		"greaterThan": {FieldName: "p2", Operation: policy.GreaterThan, Value: []string{"10000"}},
		"date":        {FieldName: "p3", Operation: policy.GreaterThan, Value: []string{"2026-01-01"}},
		"isEmpty":     {FieldName: "p1", Operation: policy.IsEmpty},
	} {
		b.Run(name, func(b *testing.B) {
			p := errtest.Must(Compile(policy.Contents{Fields: []policy.Field{{ID: "f", DataKey: "f",
				Conditions: []policy.Condition{
					{Operands: []policy.Operand{o}},
				}}}}))(b)
			r := Request{Properties: property.Split{SingleProperties: map[string]property.Text{
				"p1": one("Netherlands"), "p2": one("12345.67"), "p3": one("2026-11-22"),
			}}}
			e := newEvaluation(b.Context(), p, &r)
			isMet := p.fields[0].shown.conditions[0].predicate
			b.ReportAllocs()
			for b.Loop() {
				isMet(e)
			}
		})
	}
}

func manyValues(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("Country number %d", i)
	}
	return out
}
