package evaluate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// nested returns an operand that is nested as deep as wanted.
func nested(depth int) policy.Operand {
	o := policy.Operand{FieldName: "p", Operation: policy.IsEmpty}
	for range depth - 1 {
		o = policy.Operand{Operands: []policy.Operand{o}}
	}
	return o
}

func repeat(s string, n int) []string { return slices.Repeat([]string{s}, n) }

// TestProblemsOfOperands compiles operands that cannot be, and those at the bounds that can.
func TestProblemsOfOperands(t *testing.T) {
	t.Parallel()
	compare := func(operation policy.Operation, values ...string) policy.Operand {
		return policy.Operand{FieldName: "p", Operation: operation, Value: values}
	}
	for name, tt := range map[string]struct {
		o policy.Operand
		// path is the path of the problem from the operand on, "" if there is none.
		path string
	}{
		"no operation":      {policy.Operand{FieldName: "p"}, ".operation"},
		"unknown operation": {policy.Operand{FieldName: "p", Operation: "EQUAL", Value: []string{"a"}}, ".operation"},
		"no field":          {policy.Operand{Operation: policy.IsEmpty}, ".fieldName"},
		"a whole source":    {policy.Operand{DataSource: "relatedParties", Operation: policy.IsEmpty}, ""},
		"the longest name":  {policy.Operand{FieldName: strings.Repeat("é", 700), Operation: policy.IsEmpty}, ""},
		"too long a name": {
			policy.Operand{FieldName: strings.Repeat("é", 701), Operation: policy.IsEmpty}, ".fieldName",
		},
		"too long a source": {
			policy.Operand{DataSource: strings.Repeat("é", 701), Operation: policy.IsEmpty}, ".dataSource",
		},
		"no value":     {policy.Operand{FieldName: "p", Operation: policy.Equal}, ".value"},
		"the most":     {compare(policy.Equal, repeat("a", 500)...), ""},
		"too many":     {compare(policy.Equal, repeat("a", 501)...), ".value"},
		"the most IDs": {policy.Operand{FieldName: "p", Operation: policy.Equal, ValueID: repeat("a", 500)}, ""},
		"too many IDs": {policy.Operand{FieldName: "p", Operation: policy.Equal, ValueID: repeat("a", 501)},
			".valueId"},
		"longest value": {compare(policy.Equal, repeat(strings.Repeat("é", 2000), 2)...), ""},
		"too long a value": {
			compare(policy.Equal, "a", strings.Repeat("é", 2001)), ".value[1]",
		},
		"contains nothing": {compare(policy.Contains, "a", ""), ".value[1]"},
		"more than a text": {compare(policy.GreaterThan, "1", "a"), ".value[1]"},
		"more than an ID": {
			policy.Operand{FieldName: "p", Operation: policy.GreaterThan, Value: []string{"1"}, ValueID: []string{"1"}},
			".valueId",
		},
		"a count that is no number": {compare(policy.CountEqual, "1.5"), ".value[0]"},
		"a negative count":          {compare(policy.CountEqual, "-1"), ".value[0]"},
		"the largest count":         {compare(policy.CountEqual, "999999999"), ""},
		"too large a count":         {compare(policy.CountEqual, "1000000000"), ".value[0]"},
		"between one":               {compare(policy.CountBetween, "1"), ".value"},
		"between three":             {compare(policy.CountBetween, "1", "2", "3"), ".value"},
		"between backwards":         {compare(policy.CountBetween, "2", "1"), ".value"},
		"value and field": {policy.Operand{FieldName: "p", Operation: policy.Equal, Value: []string{"1"},
			ValueField: "q"}, ".valueField"},
		"a field is empty": {policy.Operand{FieldName: "p", Operation: policy.IsEmpty, ValueField: "q"},
			".valueField"},
		"too long a field": {
			policy.Operand{FieldName: "p", Operation: policy.Equal, ValueField: strings.Repeat("é", 701)},
			".valueField",
		},
		"any without operands": {policy.Operand{FieldName: "p", Operation: policy.Any}, ".operands"},
		"equal with operands": {
			policy.Operand{FieldName: "p", Operation: policy.Equal, Value: []string{"a"},
				Operands: []policy.Operand{nested(1)}},
			".operation",
		},
		"an item itself": {
			policy.Operand{FieldName: "p", Operation: policy.Any,
				Operands: []policy.Operand{{Operation: policy.IsEmpty}}}, "",
		},
		"unknown logic": {policy.Operand{LogicalOperation: "XOR", Operands: []policy.Operand{nested(1)}},
			".logicalOperation"},
		"the deepest": {nested(8), ""},
		"too deep":    {nested(9), strings.Repeat(".operands[0]", 7) + ".operands"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate.Compile(policy.Contents{Fields: []policy.Field{
				{ID: "id", DataKey: "key", Conditions: []policy.Condition{{}, {ID: "c",
					Operands: []policy.Operand{nested(1), tt.o}}}},
			}})
			var problems evaluate.Problems
			if err != nil && !errors.As(err, &problems) {
				t.Fatalf("the error is a %T", err)
			}
			var got []string
			for _, p := range problems {
				if p.FieldID != "id" || p.DataKey != "key" || p.Message == "" {
					t.Errorf("the problem does not name the field: %+v", p)
				}
				got = append(got, p.Path)
			}
			var want []string
			if tt.path != "" {
				want = []string{"conditions[1].operands[1]" + tt.path}
			}
			if !slices.Equal(got, want) {
				t.Errorf("problems at %q, want %q: %v", got, want, err)
			}
		})
	}
}

// TestProblemsOfVersions compiles versions that cannot be for another reason than an operand.
func TestProblemsOfVersions(t *testing.T) {
	t.Parallel()
	group := func(id string, fields ...policy.Field) policy.DataGroup {
		return policy.DataGroup{ID: id, Fields: fields}
	}
	custom := func(id string) policy.Field {
		return policy.Field{ID: id, DataKey: id, FieldType: policy.TypeCustom, FieldTypeID: id}
	}
	collection := func(id string) policy.Field {
		return policy.Field{ID: id, DataKey: id, FieldType: policy.TypeCollection, FieldTypeID: id}
	}
	chain := func(n int) policy.Contents {
		c := policy.Contents{Fields: []policy.Field{custom("g1")}}
		for i := range n {
			c.DataGroups = append(c.DataGroups, group(fmt.Sprint("g", i+1), custom(fmt.Sprint("g", i+2))))
		}
		c.DataGroups[n-1].Fields = nil
		return c
	}
	operands := func(n int) policy.Contents {
		var c policy.Contents
		for i := range n {
			c.Fields = append(c.Fields, policy.Field{ID: fmt.Sprint(i), DataKey: "k"})
			c.Fields[i].Conditions = []policy.Condition{{Operands: slices.Repeat([]policy.Operand{nested(1)}, 5)}}
		}
		return c
	}
	wide := func(n int) policy.Contents {
		c := policy.Contents{DataGroups: []policy.DataGroup{group("g", slices.Repeat([]policy.Field{{DataKey: "k"}},
			49)...)}}
		for range n {
			c.Fields = append(c.Fields, collection("g"))
		}
		return c
	}
	with := func(field policy.Field, groups ...policy.DataGroup) policy.Contents {
		return policy.Contents{Fields: []policy.Field{field}, DataGroups: groups}
	}
	when := func(o policy.Operand) []policy.Condition { return []policy.Condition{{Operands: []policy.Operand{o}}} }
	oneMore := func(c policy.Contents, f policy.Field) policy.Contents {
		c.Fields = append(c.Fields, f)
		return c
	}
	for name, tt := range map[string]struct {
		c policy.Contents
		// want is part of the only problem. It is "" if there is none.
		want string
	}{
		"no data group": {policy.Contents{Fields: []policy.Field{custom("g")}},
			`field "g" (g), fieldTypeId: `},
		"five groups":       {chain(5), ""},
		"six groups":        {chain(6), "nested at most 5 deep"},
		"a group in itself": {with(custom("g"), group("g", custom("g"))), "nested at most 5 deep"},
		"a collection in a group": {with(custom("a"), group("a", collection("b")), group("b")),
			`data group a, field "b" (b), fieldType: `},
		"a collection in a item": {with(collection("a"), group("a", collection("b")), group("b")),
			`data group a, field "b" (b), fieldType: `},
		"a group in an item": {with(collection("a"), group("a", custom("b")), group("b")),
			`data group a, field "b" (b), fieldType: `},
		"the most operands": {operands(2000), ""},
		"too many operands": {oneMore(operands(2000), policy.Field{ID: "x", DataKey: "x",
			Conditions: when(nested(1))}), "at most 10000 operands"},
		"the most fields":        {wide(100), ""},
		"too many fields":        {oneMore(wide(100), policy.Field{ID: "x", DataKey: "x"}), "at most 5000 fields"},
		"the most jurisdictions": {policy.Contents{Jurisdictions: make([]policy.Jurisdiction, 500)}, ""},
		"too many jurisdictions": {policy.Contents{Jurisdictions: make([]policy.Jurisdiction, 501)},
			"at most 500 jurisdictions"},
		"jurisdictions of a field": {policy.Contents{Fields: []policy.Field{{ID: "f", DataKey: "k",
			JurisdictionIDs: []string{"j", "J"}}}, Jurisdictions: []policy.Jurisdiction{{ID: "J"}}}, ""},
		"no jurisdiction of the policy": {policy.Contents{Fields: []policy.Field{{ID: "f", DataKey: "k",
			JurisdictionIDs: []string{"j", "gone"}}}, Jurisdictions: []policy.Jurisdiction{{ID: "j"}}},
			`field "k" (f), jurisdictionIds[1]: The policy has no jurisdiction "gone"`},
		"a jurisdiction of another policy in a data group": {with(custom("g"), group("g", policy.Field{DataKey: "k",
			JurisdictionIDs: []string{"j"}})), ""},
		"a jurisdiction's operand": {policy.Contents{Jurisdictions: []policy.Jurisdiction{{ID: "j",
			Conditions: when(policy.Operand{FieldName: "p"})}}},
			"jurisdiction j, conditions[0].operands[0].operation: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate.Compile(tt.c)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) ||
				len(err.(evaluate.Problems)) != 1):
				t.Errorf("got %v, want one problem with %q", err, tt.want)
			}
		})
	}
}
