package evaluate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

func TestRulesOfSingleValues(t *testing.T) {
	t.Parallel()
	limit := func(n int64) policy.RuleValue { return policy.RuleValue{Limit: &n} }
	for _, tt := range []struct {
		rule          string
		value         policy.RuleValue
		message       string
		valid, broken []string
	}{
		{"mandatory", policy.RuleValue{}, "Enter a value.", []string{"x", "0", `["a"]`},
			[]string{"", " ", "\t\n", "[]", `[""]`}},
		{"readOnly", policy.RuleValue{}, "", []string{"", "x"}, nil},
		{"specialCharacters", policy.RuleValue{}, "Use only letters, digits and spaces.",
			[]string{"Zoë 2", "Ωμέγα", "e\u0301", "आयु", "١٢", "", `["a","b"]`},
			[]string{"O'Brien", "a-b", "a.", "€", "a\tb", "a\x00", "½", "\u200b", `["a","b;"]`}},
		{"noNumbers", policy.RuleValue{}, "Do not use digits.", []string{"abc", "", "-"},
			[]string{"a1", "٣", `["a","2"]`}},
		{"onlyInteger", policy.RuleValue{}, "Enter a whole number.", []string{"0", "-12", "+7", "007", ""},
			[]string{"1.0", "1.5", "1e3", "a", "-", "1 000", "0x1"}},
		{"noNegative", policy.RuleValue{}, "Enter a number that is not negative.",
			[]string{"0", "-0", "-0.00", "1.5", ""}, []string{"-1", "-0.01", "a"}},
		{"onlyDecimal", policy.RuleValue{}, "Enter a number with at most two decimal places.",
			[]string{"0", "-1.5", "1.25", ""}, []string{"1.255", "1.000", "1.", ".5", "1,5", "a"}},
		{"regex", policy.RuleValue{RegexValue: "^[A-Z]{2}$"}, "The value does not have the form that is required.",
			[]string{"AB", "", `["AB","CD"]`}, []string{"ab", "ABC", "A", `["AB","c"]`, strings.Repeat("A", 4001)}},
		{"regex", policy.RuleValue{RegexValue: "^[A-Z]{2}$", IsCaseSensitive: ptr(false)},
			"The value does not have the form that is required.", []string{"AB", "ab"}, []string{"A", "1a"}},
		{"regex", policy.RuleValue{RegexValue: "b", IsCaseSensitive: ptr(true)},
			"The value does not have the form that is required.", []string{"abc"}, []string{"aBc"}},
		{"characterLimit", limit(3), "Enter at most 3 characters.", []string{"", "abc", "äöü", "日本語"},
			[]string{"abcd", "    a"}},
		{"characterLimit", limit(1), "Enter at most 1 character.", []string{"a"}, []string{"ab"}},
		{"numberLimit", policy.RuleValue{MinValue: "-1.5", MaxValue: "10"}, "Enter a number from -1.5 to 10.",
			[]string{"-1.5", "-1.50", "0", "10", "10.0", "9.999", ""},
			[]string{"-1.51", "10.0001", "11", "a", "1e1", "-2"}},
		{"numberLimit", policy.RuleValue{MinValue: "0"}, "Enter a number of at least 0.", []string{"0", "-0", "1"},
			[]string{"-1"}},
		{"numberLimit", policy.RuleValue{MaxValue: "0"}, "Enter a number of at most 0.", []string{"0", "-1"},
			[]string{"0.1"}},
		{"conditionalLimit", policy.RuleValue{MaxValue: "0"}, "Enter a number of at most 0.", []string{"0", "-1"},
			[]string{"0.1"}},
		{"noFutureDates", policy.RuleValue{}, "Enter a date that is not in the future.",
			[]string{"2026-03-01", "2020-02-29", "2026-03-01T22:30:00Z", "2026-03-01T23:30:00+01:00", ""},
			[]string{"2026-03-02", "2026-03-01T22:30:01Z", "01.03.2026", "a"}},
		{"noPastDates", policy.RuleValue{}, "Enter a date that is not in the past.",
			[]string{"2026-03-01", "2026-03-02", "2026-03-01T22:30:00Z", ""},
			[]string{"2026-02-28", "2026-03-01T22:29:59Z", "2027"}},
		{"dateLimit", policy.RuleValue{MinDate: "2026-01-01", MaxDate: "2026-12-31"},
			"Enter a date from 2026-01-01 to 2026-12-31.",
			[]string{"2026-01-01", "2026-12-31", "2026-12-31T23:59:59Z", "2026-01-01T00:00:00Z", ""},
			[]string{"2025-12-31", "2027-01-01", "2027-01-01T00:00:00Z", "2026-02-30"}},
		{"dateLimit", policy.RuleValue{MinDate: "2026-01-01T12:00:00Z"},
			"Enter a date on or after 2026-01-01T12:00:00Z.",
			[]string{"2026-01-01", "2026-01-01T12:00:00Z"}, []string{"2026-01-01T11:59:59Z", "2025-12-31"}},
		{"dateLimit", policy.RuleValue{MaxDate: "2026-01-01"}, "Enter a date on or before 2026-01-01.",
			[]string{"2026-01-01"}, []string{"2026-01-02"}},
		{"multiSelectLimit", limit(2), "Choose at most 2 values.",
			[]string{"", "a", `["a","b"]`, "a,b,c", `["a","b",""]`}, []string{`["a","b","c"]`}},
		{"multiSelectLimit", limit(0), "Choose at most 0 values.", []string{"", "[]"}, []string{"a"}},
		{"collectionMinimumCount", policy.RuleValue{OverallMinimumCount: ptr[int64](1)}, "", []string{"", "a"}, nil},
		{"collectionMaximumCount", limit(0), "", []string{"a"}, nil},
		{"externalProvider", policy.RuleValue{ProviderID: "p"}, "", []string{"", "a"}, nil},
		{"externalDataGroupProvider", policy.RuleValue{ProviderID: "p"}, "", []string{"", "a"}, nil},
		{"timeZoneId", policy.RuleValue{TimeZoneID: "Asia/Tokyo"}, "", []string{"", "a"}, nil},
	} {
		for _, value := range slices.Concat(tt.valid, tt.broken) {
			want := []evaluate.ValidationError{}
			if slices.Contains(tt.broken, value) {
				want = append(want, evaluate.ValidationError{Validator: tt.rule, Message: tt.message})
			}
			f := policy.Field{ID: "1", DataKey: "k", FieldType: "Text"}
			setRule(&f, tt.rule, always(tt.value))
			result := mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
				ReturnValidationErrors: true, Properties: property.Split{SingleProperties: texts("k", value)},
			})
			difftest.Equal(t, fmt.Sprintf("%s %+v of %.30q", tt.rule, tt.value, value), want,
				result.EvaluatedFields[0].ValidationErrors)
		}
	}
}

// The ID of a list entry is a value, and a value that is absent or null is none.
func TestMandatoryValues(t *testing.T) {
	t.Parallel()
	f := policy.Field{ID: "1", DataKey: "k", FieldType: "Text"}
	setRule(&f, "mandatory", &policy.Rule{IsActive: true})
	setRule(&f, "characterLimit", always(policy.RuleValue{Limit: ptr[int64](1)}))
	for name, tt := range map[string]struct {
		properties map[string]property.Text
		want       int
	}{
		"absent":  {nil, 1},
		"null":    {map[string]property.Text{"k": {}}, 1},
		"only ID": {map[string]property.Text{"k": {ValueID: ptr("long ID")}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			result := mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
				ReturnValidationErrors: true, Properties: property.Split{SingleProperties: tt.properties},
			})
			got := result.EvaluatedFields[0]
			if len(got.ValidationErrors) != tt.want {
				t.Errorf("got %v, want %d errors", got.ValidationErrors, tt.want)
			}
			if !got.IsRequired {
				t.Error("the field is not required")
			}
		})
	}
}

func TestDatesOfAFieldAreInItsTimeZone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone, value   string
		isFuture, was bool
	}{ // it is 22:30 on 1 March in UTC
		{"", "2026-03-02", true, false},
		{"Asia/Tokyo", "2026-03-02", false, false},
		{"Asia/Tokyo", "2026-03-01", false, true},
		{"America/Los_Angeles", "2026-03-01", false, false},
	} {
		f := policy.Field{ID: "1", DataKey: "k", FieldType: "Date"}
		setRule(&f, "noFutureDates", &policy.Rule{IsActive: true})
		setRule(&f, "noPastDates", &policy.Rule{IsActive: true})
		if tt.zone != "" {
			setRule(&f, "timeZoneId", always(policy.RuleValue{TimeZoneID: tt.zone}))
		}
		got := mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
			ReturnValidationErrors: true, Properties: property.Split{SingleProperties: texts("k", tt.value)},
		}).EvaluatedFields[0]
		if zone := got.TimeZoneID; tt.zone != "" && (zone == nil || *zone != tt.zone) || tt.zone == "" && zone != nil {
			t.Errorf("got time zone %v, want %q", zone, tt.zone)
		}
		var want []string
		if tt.isFuture {
			want = append(want, "noFutureDates")
		}
		if tt.was {
			want = append(want, "noPastDates")
		}
		var broken []string
		for _, e := range got.ValidationErrors {
			broken = append(broken, e.Validator)
		}
		difftest.Equal(t, fmt.Sprintf("%s in %q", tt.value, tt.zone), want, broken)
	}
}

func TestRulesOfCollections(t *testing.T) {
	t.Parallel()
	counts := func(overall int64, types ...policy.RequiredTypeMinCount) policy.RuleValue {
		return policy.RuleValue{OverallMinimumCount: &overall, RequiredTypesMinCount: types}
	}
	directors := policy.RequiredTypeMinCount{Type: "Director", MinCount: 2}
	for _, tt := range []struct {
		rule  string
		value policy.RuleValue
		types []string
		want  string
	}{
		{"mandatory", policy.RuleValue{}, nil, "Enter a value."},
		{"mandatory", policy.RuleValue{}, []string{""}, ""},
		{"collectionMaximumCount", policy.RuleValue{Limit: ptr[int64](1)}, []string{"a"}, ""},
		{"collectionMaximumCount", policy.RuleValue{Limit: ptr[int64](1)}, []string{"a", "b"}, "Add at most 1 item."},
		{"collectionMinimumCount", counts(2), []string{"a", "b"}, ""},
		{"collectionMinimumCount", counts(2), []string{"a"}, "Add at least 2 items."},
		{"collectionMinimumCount", counts(1, directors), []string{"Director", "Director"}, ""},
		{"collectionMinimumCount", counts(1, directors), []string{"Director", "Owner", "director"},
			"Add at least 1 item, 2 items of the type Director."},
		{"collectionMinimumCount", counts(0, directors), []string{`["Owner","Director"]`, "id:Director"}, ""},
		{"collectionMinimumCount", policy.RuleValue{RequiredTypesMinCount: []policy.RequiredTypeMinCount{directors}},
			nil, "Add at least 2 items of the type Director."},
		{"characterLimit", policy.RuleValue{Limit: ptr[int64](1)}, []string{"long", "long"}, ""},
		{"noNumbers", policy.RuleValue{}, []string{"1"}, ""},
	} {
		f := policy.Field{ID: "1", DataKey: "people", FieldType: policy.TypeCollection, FieldTypeID: "g"}
		setRule(&f, tt.rule, always(tt.value))
		items := map[string]property.SplitItem{}
		for i, value := range tt.types {
			item := property.Text{Value: &value}
			if id, isID := strings.CutPrefix(value, "id:"); isID {
				item = property.Text{ValueID: &id}
			}
			items[fmt.Sprint(i)] = property.SplitItem{Properties: map[string]property.Text{"role": item}}
		}
		result := mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}, DataGroups: []policy.DataGroup{
			{ID: "g", PrimaryField: "role", Fields: []policy.Field{{ID: "2", DataKey: "role", FieldType: "Text"}}},
		}}, evaluate.Request{ReturnValidationErrors: true, Properties: property.Split{
			CollectionProperties: map[string]property.SplitCollection{"people": {Items: items}},
		}})
		want := []evaluate.ValidationError{}
		if tt.want != "" {
			want = append(want, evaluate.ValidationError{Validator: tt.rule, Message: tt.want})
		}
		difftest.Equal(t, fmt.Sprintf("%s %+v of %q", tt.rule, tt.value, tt.types), want,
			result.EvaluatedCollectionDataGroups[0].ValidationErrors)
	}
}

// Of the dynamic rules that are met, that with the lowest priority number counts, then the first; without one the
// static rule does.
func TestDynamicRules(t *testing.T) {
	t.Parallel()
	dynamic := func(id string, priority int64, fieldName string, limit int64) policy.DynamicRule {
		return policy.DynamicRule{
			Condition: policy.Condition{ID: id, Operands: []policy.Operand{
				{FieldName: fieldName, Operation: policy.Equal, Value: []string{"yes"}},
			}},
			Value: policy.RuleValue{Limit: &limit, ErrorMessage: id}, Priority: priority,
		}
	}
	withStatic := always(policy.RuleValue{Limit: ptr[int64](0), ErrorMessage: "static"})
	withStatic.DynamicRules = []policy.DynamicRule{
		dynamic("c", 2, "c", 3), dynamic("a", 1, "a", 1), dynamic("b", 1, "b", 2),
	}
	withoutStatic := &policy.Rule{IsActive: true, DynamicRules: withStatic.DynamicRules}
	inactive := &policy.Rule{StaticRule: withStatic.StaticRule, DynamicRules: withStatic.DynamicRules}
	for _, tt := range []struct {
		rule *policy.Rule
		met  []string
		want string
	}{
		{withStatic, nil, "static"},
		{withStatic, []string{"a", "b", "c"}, "a"},
		{withStatic, []string{"b", "c"}, "b"},
		{withStatic, []string{"c"}, "c"},
		{withoutStatic, nil, ""},
		{withoutStatic, []string{"c"}, "c"},
		{inactive, []string{"a"}, ""},
	} {
		f := policy.Field{ID: "1", DataKey: "k", FieldType: "Text"}
		setRule(&f, "characterLimit", tt.rule)
		properties := texts("k", "four")
		for _, key := range tt.met {
			properties[key] = property.Text{Value: ptr("yes")}
		}
		got := mustEvaluate(t, policy.Contents{Fields: []policy.Field{f}}, evaluate.Request{
			ReturnValidationErrors: true, Explain: true, Properties: property.Split{SingleProperties: properties},
		}).EvaluatedFields[0]
		resolved, isThere := got.ValidationData["characterLimit"]
		if resolved.Message != tt.want || isThere != (tt.want != "") || isThere != resolved.Active {
			t.Errorf("with %v: got rule %+v, want %q", tt.met, resolved, tt.want)
		}
		isBroken := len(got.ValidationErrors) == 1 && got.ValidationErrors[0].Message == tt.want
		if isBroken != isThere {
			t.Errorf("with %v: got errors %v, want %q", tt.met, got.ValidationErrors, tt.want)
		}
		if isDynamic := tt.want != "" && tt.want != "static"; isDynamic != slices.Contains(got.DecidedBy, tt.want) {
			t.Errorf("with %v: got decided by %v, want %q", tt.met, got.DecidedBy, tt.want)
		}
	}
}

// Of fields that are merged, the rules of the first count, but for mandatory and readOnly.
func TestRulesOfMergedFields(t *testing.T) {
	t.Parallel()
	fields := []policy.Field{
		{ID: "2", DataKey: "k", FieldType: "Text", Order: 2}, {ID: "1", DataKey: "k", FieldType: "Text", Order: 1},
		{ID: "3", DataKey: "k", FieldType: "Text", Order: 3},
	}
	setRule(&fields[0], "mandatory", always(policy.RuleValue{ErrorMessage: "second"}))
	setRule(&fields[0], "noNumbers", &policy.Rule{IsActive: true})
	setRule(&fields[1], "regex", always(policy.RuleValue{RegexValue: "x"}))
	setRule(&fields[2], "mandatory", always(policy.RuleValue{ErrorMessage: "third"}))
	setRule(&fields[2], "readOnly", &policy.Rule{IsActive: true})
	result := mustEvaluate(t, policy.Contents{Fields: fields}, evaluate.Request{ReturnValidationErrors: true})
	difftest.Equal(t, "fields", 1, len(result.EvaluatedFields))
	got := result.EvaluatedFields[0]
	difftest.Equal(t, "required", []any{true, true}, []any{got.IsRequired, got.IsReadOnly})
	want := map[string]evaluate.ResolvedRule{
		"mandatory": {Active: true, Message: "second"},
		"readOnly":  {Active: true, Message: "This field cannot be changed."},
		"regex":     {Active: true, Message: "The value does not have the form that is required.", RegexValue: "x"},
	}
	difftest.Equal(t, "rules", want, got.ValidationData)
	wantErrors := []evaluate.ValidationError{{Validator: "mandatory", Message: "second"}}
	difftest.Equal(t, "errors", wantErrors, got.ValidationErrors)
	// The items of a collection share the merged rules.
	contents := policy.Contents{
		Fields:     []policy.Field{{ID: "c", DataKey: "c", FieldType: policy.TypeCollection, FieldTypeID: "g"}},
		DataGroups: []policy.DataGroup{{ID: "g", Fields: fields}},
	}
	items := mustEvaluate(t, contents, evaluate.Request{Properties: property.Split{
		CollectionProperties: map[string]property.SplitCollection{"c": {Items: map[string]property.SplitItem{
			"1": {}, "2": {}}}},
	}}).EvaluatedCollectionDataGroups[0].EvaluatedItems
	if first := items["1"].EvaluatedFields[0]; first != items["2"].EvaluatedFields[0] || !first.IsRequired {
		t.Errorf("the fields of the items are %+v, want one field that is required", items)
	}
}

func TestRulesThatCannotBe(t *testing.T) {
	t.Parallel()
	typeCount := func(name string, count int64) policy.RuleValue {
		return policy.RuleValue{RequiredTypesMinCount: []policy.RequiredTypeMinCount{{Type: name, MinCount: count}}}
	}
	for _, tt := range []struct {
		rule          string
		value         policy.RuleValue
		path, message string
	}{
		{"regex", policy.RuleValue{RegexValue: "(a"}, ".regexValue", "not in RE2 syntax"},
		{"regex", policy.RuleValue{RegexValue: `(?=a)`}, ".regexValue", "lookahead"},
		{"regex", policy.RuleValue{IsCaseSensitive: ptr(true)}, ".regexValue", "missing"},
		{"regex", policy.RuleValue{}, "", "needs regexValue"},
		{"characterLimit", policy.RuleValue{Limit: ptr[int64](-1)}, ".limit", "must not be negative"},
		{"characterLimit", policy.RuleValue{}, "", "needs limit"},
		{"characterLimit", policy.RuleValue{Limit: ptr[int64](1), MaxValue: "1"}, ".maxValue", "no member maxValue"},
		{"multiSelectLimit", policy.RuleValue{Limit: ptr[int64](-1)}, ".limit", "must not be negative"},
		{"collectionMaximumCount", policy.RuleValue{Limit: ptr[int64](-1)}, ".limit", "must not be negative"},
		{"numberLimit", policy.RuleValue{MinValue: "2", MaxValue: "1.9"}, ".minValue", "must not be greater"},
		{"numberLimit", policy.RuleValue{MinValue: "1e3"}, ".minValue", "decimal number"},
		{"numberLimit", policy.RuleValue{MaxValue: "a"}, ".maxValue", "decimal number"},
		{"numberLimit", policy.RuleValue{}, "", "needs minValue or maxValue"},
		{"conditionalLimit", policy.RuleValue{MinValue: "2", MaxValue: "1"}, ".minValue", "must not be greater"},
		{"dateLimit", policy.RuleValue{MinDate: "2026-02-30"}, ".minDate", "must be a date"},
		{"dateLimit", policy.RuleValue{MaxDate: "soon"}, ".maxDate", "must be a date"},
		{"dateLimit", policy.RuleValue{MinDate: "2026-03-02", MaxDate: "2026-03-01"}, ".minDate", "must not be after"},
		{"collectionMinimumCount", policy.RuleValue{OverallMinimumCount: ptr[int64](-1)}, ".overallMinimumCount",
			"must not be negative"},
		{"collectionMinimumCount", typeCount("a", -1), ".requiredTypesMinCount[0].minCount", "must not be negative"},
		{"collectionMinimumCount", typeCount("", 1), ".requiredTypesMinCount[0].type", "missing"},
		{"timeZoneId", policy.RuleValue{TimeZoneID: "Mars/Base"}, ".timeZoneId", "unknown"},
		{"timeZoneId", policy.RuleValue{TimeZoneID: "Local"}, ".timeZoneId", "unknown"},
		{"timeZoneId", policy.RuleValue{TimeZoneID: "../etc/passwd"}, ".timeZoneId", "unknown"},
		{"timeZoneId", policy.RuleValue{}, "", "needs timeZoneId"},
		{"mandatory", policy.RuleValue{Limit: ptr[int64](1)}, ".limit", "no member limit"},
	} {
		static := always(tt.value)
		dynamic := &policy.Rule{DynamicRules: []policy.DynamicRule{{Value: tt.value}}}
		for path, rule := range map[string]*policy.Rule{"staticRule": static, "dynamicRules[0].value": dynamic} {
			f := policy.Field{ID: "f1", DataKey: "k", FieldType: "Text"}
			setRule(&f, tt.rule, rule)
			_, err := evaluate.Compile(policy.Contents{Fields: []policy.Field{f}})
			checkProblem(t, err, evaluate.Problem{
				FieldID: "f1", DataKey: "k", Path: "validationRules." + tt.rule + "." + path + tt.path,
				Message: tt.message,
			})
		}
	}
	f := policy.Field{ID: "f1", DataKey: "k", FieldType: "Text"}
	setRule(&f, "regex", &policy.Rule{IsActive: true})
	_, err := evaluate.Compile(policy.Contents{Fields: []policy.Field{f}})
	checkProblem(t, err, evaluate.Problem{
		FieldID: "f1", DataKey: "k", Path: "validationRules.regex",
		Message: "neither a static rule nor",
	})
}

// checkProblem checks that an error is one problem at a place, with a message that contains the wanted one.
func checkProblem(t *testing.T, err error, want evaluate.Problem) {
	t.Helper()
	problems, ok := err.(evaluate.Problems)
	if !ok || len(problems) != 1 {
		t.Errorf("got error %v, want one problem: %v", err, want)
		return
	}
	got := problems[0]
	if !strings.Contains(got.Message, want.Message) {
		t.Errorf("got problem %v, want a message with %q", got, want.Message)
	}
	got.Message = want.Message
	difftest.Equal(t, "problem", want, got)
}
