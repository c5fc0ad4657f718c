package evaluate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// value returns a property with a value.
func value(v string) property.Text { return property.Text{Value: &v} }

// withID returns a property with a value and the ID of that.
func withID(v, id string) property.Text { return property.Text{Value: &v, ValueID: &id} }

// kindsOfValues are properties and data sources with a value of each kind, by the names of the kinds.
func kindsOfValues() evaluate.Request {
	id := "id-1"
	return evaluate.Request{
		Properties: property.Split{
			SingleProperties: map[string]property.Text{
				"null": {}, "empty": value(""), "text": value("Ireland"), "number": value("10.50"),
				"zeros": value("007"),
				"day":   value("2026-03-01"), "moment": value("2026-03-01T23:30:00-01:00"), "id": {ValueID: &id},
				"chosen": withID("Ireland", "id-1"), "several": withID(`["Ireland","12","2026-03-05"]`,
					`["id-1","id-2","id-3"]`),
				"none chosen": value("[]"), "one chosen": value(`["Ireland"]`), "no list": value(`["Ireland"`),
			},
			CollectionProperties: map[string]property.SplitCollection{
				"items": {Items: map[string]property.SplitItem{
					"a": {Properties: map[string]property.Text{"share": value("10"), "name": value("Ann")}},
					"b": {Properties: map[string]property.Text{"share": value("60")}},
				}},
				"no items": {},
			},
			CustomProperties: map[string]property.Split{
				"group":       {SingleProperties: map[string]property.Text{"city": value("Ireland")}},
				"empty group": {SingleProperties: map[string]property.Text{"city": value("")}},
			},
		},
		DataSources: map[string]jsontext.Value{"s": jsontext.Value(`{
			"text": "Ireland", "number": 1050e-2, "true": true, "null": null, "list": ["Ireland", 12, null],
				"object": {"x": ""}
		}`)},
	}
}

// kinds lists the names in kindsOfValues, and one that is missing.
func kinds() []string {
	return []string{
		"missing", "null", "empty", "text", "number", "zeros", "day", "moment", "id", "chosen", "several",
		"none chosen",
		"one chosen", "no list", "items", "no items", "group", "empty group",
		"s.missing", "s.text", "s.number", "s.true", "s.null", "s.list", "s.object",
	}
}

// isMet evaluates an operand for a request.
func isMet(t *testing.T, o policy.Operand, r evaluate.Request) bool {
	t.Helper()
	p := errtest.Must(evaluate.Compile(policy.Contents{Fields: []policy.Field{
		{ID: "1", DataKey: "f", Conditions: []policy.Condition{{ID: "c", Operands: []policy.Operand{o}}}},
	}}))(t)
	result := errtest.Must(p.Evaluate(t.Context(), r, nil))(t)
	return len(result.EvaluatedFields) > 0
}

// TestOperations asks each operation of a value of each kind.
func TestOperations(t *testing.T) {
	t.Parallel()
	const (
		ireland = "text, chosen, several, one chosen, s.text, s.list"
		empty   = "missing, null, empty, none chosen, no items, empty group, s.missing, s.null, s.object"
	)
	for _, tt := range []struct {
		operation policy.Operation
		values    []string
		ids       []string
		// met lists the kinds that meet the operation; after "not: ", the kinds that do not.
		met string
	}{
		{policy.Equal, []string{"iRELAND"}, nil, ireland},
		{policy.NotEqual, []string{"iRELAND"}, nil, "not: " + ireland},
		{policy.Equal, []string{"Ire", "Spain"}, nil, ""},
		{policy.Equal, []string{"Spain", "ireland"}, nil, ireland},
		{policy.Equal, []string{""}, nil, "empty"},
		{policy.Equal, []string{"10.5"}, nil, "number, s.number"},
		{policy.Equal, []string{"10.500", "12.0"}, nil, "number, s.number, several, s.list"},
		{policy.Equal, []string{"+10.5", "010.5", "7"}, nil, ""},
		{policy.Equal, []string{"007"}, nil, "zeros"},
		{policy.Equal, []string{"TRUE"}, nil, "s.true"},
		{policy.Equal, []string{"2026-03-01T00:30:00Z"}, nil, ""},
		{policy.Equal, nil, []string{"ID-1"}, "id, chosen, several"},
		{policy.NotEqual, nil, []string{"ID-1"}, "not: id, chosen, several"},
		{policy.Equal, []string{"10.5"}, []string{"id-3"}, "number, s.number, several"},
		{policy.Contains, []string{"LAND"}, nil, "text, chosen, no list, s.text"},
		{policy.NotContains, []string{"LAND"}, nil, "not: text, chosen, no list, s.text"},
		{policy.Contains, []string{"ireland"}, nil, ireland + ", no list"},
		{policy.Contains, []string{"0.5", "07"}, nil, "number, zeros, s.number"},
		{policy.Contains, []string{"12.0"}, []string{"id-1"}, "id, chosen, several, s.list"},
		{policy.IsEmpty, nil, nil, empty},
		{policy.IsNotEmpty, nil, nil, "not: " + empty},
		{policy.IsDefined, nil, nil, "not: missing, s.missing"},
		{policy.IsNotDefined, nil, nil, "missing, s.missing"},
		{policy.GreaterThan, []string{"10.4"}, nil, "number, several, s.number, s.list"},
		{policy.GreaterThan, []string{"10.50"}, nil, "several, s.list"},
		{policy.GreaterThanOrEqual, []string{"10.5"}, nil, "number, several, s.number, s.list"},
		{policy.LessThan, []string{"10.5"}, nil, "zeros"},
		{policy.LessThanOrEqual, []string{"10.5"}, nil, "number, zeros, s.number"},
		{policy.LessThan, []string{"7", "8"}, nil, "zeros"},
		{policy.GreaterThan, []string{"2026-02-28"}, nil, "day, moment, several"},
		{policy.GreaterThan, []string{"2026-03-01"}, nil, "moment, several"},
		{policy.LessThanOrEqual, []string{"2026-03-01"}, nil, "day"},
		{policy.GreaterThanOrEqual, []string{"2026-03-02T00:30:00Z"}, nil, "moment, several"},
		{policy.GreaterThan, []string{"2026-03-02T00:30:00Z"}, nil, "several"},
		{policy.LessThan, []string{"2026-03-02T00:30:01Z"}, nil, "day, moment"},
		{policy.LessThan, []string{"2026-03-02", "11"}, nil, "number, zeros, day, s.number"},
		{policy.CountEqual, []string{"0"}, nil, empty + ", group"},
		{policy.CountEqual, []string{"2", "3"}, nil, "several, items, s.list"},
		{policy.CountNotEqual, []string{"2", "3"}, nil, "not: several, items, s.list"},
		{policy.CountGreaterThan, []string{"2"}, nil, "several, s.list"},
		{policy.CountGreaterThanOrEqual, []string{"2"}, nil, "several, items, s.list"},
		{policy.CountGreaterThanOrEqual, []string{"2", "3"}, nil, "several, items, s.list"},
		{policy.CountLessThan, []string{"2"}, nil, "not: several, items, s.list"},
		{policy.CountLessThanOrEqual, []string{"1", "2"}, nil, "not: several, s.list"},
		{policy.CountBetween, []string{"2", "3"}, nil, "several, items, s.list"},
		{policy.CountBetween, []string{"3", "3"}, nil, "several, s.list"},
		{policy.CountNotBetween, []string{"2", "3"}, nil, "not: several, items, s.list"},
	} {
		name := string(tt.operation) + " " + strings.Join(tt.values, ",") + " " + strings.Join(tt.ids, ",")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, isOpposite := strings.CutPrefix(tt.met, "not: ")
			var want []string
			for _, kind := range kinds() {
				if slices.Contains(strings.Split(list, ", "), kind) != isOpposite {
					want = append(want, kind)
				}
			}
			var got []string
			for _, kind := range kinds() {
				o := policy.Operand{FieldName: kind, Operation: tt.operation, Value: tt.values, ValueID: tt.ids}
				if in, isSource := strings.CutPrefix(kind, "s."); isSource {
					o.DataSource, o.FieldName = "s", in
				}
				if isMet(t, o, kindsOfValues()) {
					got = append(got, kind)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("met for %q,\nwant %q", got, want)
			}
		})
	}
}

// TestManyValues compares with as many values as are compared one after another, and with more.
func TestManyValues(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 8, 9, 500} {
		given := make([]string, 0, n)
		for i := range n - 1 {
			given = append(given, strings.Repeat("x", i+1))
		}
		for name, last := range map[string]string{"text": "IRELAND", "number": "10.5", "zeros": "007",
			"day": "2026-03-01"} {
			o := policy.Operand{FieldName: name, Operation: policy.Equal, Value: append(slices.Clone(given), last)}
			if !isMet(t, o, kindsOfValues()) {
				t.Errorf("%s is not one of %d values", name, n)
			}
			if o.Value[n-1] = last + "1"; isMet(t, o, kindsOfValues()) {
				t.Errorf("%s is one of %d other values", name, n)
			}
		}
		numbers := make([]string, n)
		for i := range numbers {
			numbers[i] = strings.Repeat("1", i%100+1) + "." + strings.Repeat("2", i/100+1)
		}
		numbers[n-1] = "10.5000"
		if !isMet(t, policy.Operand{FieldName: "number", Operation: policy.Equal, Value: numbers}, kindsOfValues()) {
			t.Errorf("the number is not one of %d numbers", n)
		}
	}
}

// TestCaseOfOtherScripts compares texts that are not ASCII.
func TestCaseOfOtherScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value, given string
		want         bool
	}{
		{"Straße", "STRASSE", false}, {"ΣΊΣΥΦΟΣ", "σίσυφος", true}, {"ЗАВОД", "завод", true}, {"\u212Aelvin", "kelvin",
			true},
		{"\xff", "\xff", true}, {"é", "É", true}, {"e\u0301", "É", false},
	} {
		r := evaluate.Request{}
		r.Properties.SingleProperties = map[string]property.Text{"p": value(tt.value)}
		others := append(strings.Split("abcdefgh", ""), tt.given)
		for _, o := range []policy.Operand{
			{FieldName: "p", Operation: policy.Equal, Value: []string{tt.given}},
			{FieldName: "p", Operation: policy.Contains, Value: []string{tt.given}},
			{FieldName: "p", Operation: policy.Equal, Value: append(others, "z")},
		} {
			difftest.Equal(t, fmt.Sprintf("%q %s %q", tt.value, o.Operation, o.Value), tt.want, isMet(t, o, r))
		}
	}
}

// TestDaysOfMoments compares dates with date-times at the beginning and at the end of the day.
func TestDaysOfMoments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		moment, day    string
		isMore, isLess bool
	}{
		{"2026-03-02T00:00:00Z", "2026-03-02", false, false}, {"2026-03-01T23:59:59.999Z", "2026-03-02", false, true},
		{"2026-03-02T23:59:59Z", "2026-03-02", false, false}, {"2026-03-03T00:00:00Z", "2026-03-02", true, false},
		{"1969-12-31T00:00:00Z", "1969-12-31", false, false}, {"1969-12-31T23:59:59Z", "1969-12-31", false, false},
		{"1969-12-30T23:59:59Z", "1969-12-31", false, true}, {"1970-01-01T00:00:00Z", "1969-12-31", true, false},
		{"2026-03-02T23:30:00-01:00", "2026-03-02", true, false}, {"0001-01-01T00:00:00Z", "0001-01-01", false, false},
		{"2026-03-02T00:00:00.5Z", "2026-03-02T00:00:00.25Z", true, false},
		{"2026-03-02T00:00:00Z", "2026-03-02T01:00:00+01:00", false, false},
	} {
		r := evaluate.Request{}
		r.Properties.SingleProperties = map[string]property.Text{"p": value(tt.moment)}
		for operation, want := range map[policy.Operation]bool{
			policy.GreaterThan: tt.isMore, policy.LessThan: tt.isLess,
			policy.GreaterThanOrEqual: !tt.isLess, policy.LessThanOrEqual: !tt.isMore,
		} {
			o := policy.Operand{FieldName: "p", Operation: operation, Value: []string{tt.day}}
			difftest.Equal(t, fmt.Sprintf("%s is %s %s", tt.moment, operation, tt.day), want, isMet(t, o, r))
		}
	}
}
