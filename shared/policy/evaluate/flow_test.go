package evaluate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// evaluated evaluates a policy for a request.
func evaluated(t *testing.T, c policy.Contents, r evaluate.Request) evaluate.Result {
	t.Helper()
	p := errtest.Must(evaluate.Compile(c))(t)
	return errtest.Must(p.Evaluate(t.Context(), r, nil))(t)
}

// keysOf returns the data keys of fields, with marks for their flags.
func keysOf(fields []evaluate.EvaluatedField) string {
	var out []string
	for _, f := range fields {
		key := f.DataKey
		for _, mark := range []struct {
			name string
			has  bool
		}{
			{"required", f.IsRequired}, {"readOnly", f.IsReadOnly}, {"clear", f.ShouldClearValue}, {"masked",
				f.IsMasked},
			{"conditional", f.IsConditional}, {strings.Join(f.DecidedBy, "+"), len(f.DecidedBy) > 0},
		} {
			if mark.has {
				key += " " + mark.name
			}
		}
		out = append(out, key)
	}
	return strings.Join(out, ", ")
}

// when returns one condition, that the property kind has a value.
func when(id, kind string) []policy.Condition {
	return []policy.Condition{{ID: id, Operands: []policy.Operand{
		{FieldName: "kind", Operation: policy.Equal, Value: []string{kind}},
	}}}
}

// TestWhichFieldsTakePart evaluates with each filter and with combinations of them.
func TestWhichFieldsTakePart(t *testing.T) {
	t.Parallel()
	c := policy.Contents{
		Fields: []policy.Field{
			{ID: "1", Order: 1, DataKey: "any"},
			{ID: "2", Order: 2, DataKey: "client", TargetEntities: []string{"Client"}},
			{ID: "3", Order: 3, DataKey: "both", TargetEntities: []string{"Client", "Related Party"}},
			{ID: "4", Order: 4, DataKey: "tax", Categories: []string{"Tax", "More"}},
			{ID: "5", Order: 5, DataKey: "ireland", JurisdictionIDs: []string{"IE"}},
			{ID: "6", Order: 6, DataKey: "spain", JurisdictionIDs: []string{"ES", "PT"}},
			{ID: "7", Order: 7, DataKey: "journey", IsJourneyLevelData: true},
			{ID: "8", Order: 8, DataKey: "retail",
				AccessLayers: &policy.AccessLayers{BusinessRelated: []string{"Retail"}}},
			{
				ID: "9", Order: 9, DataKey: "secret", AccessLayers: &policy.AccessLayers{Geographic: []string{"IE"}},
				IsSensitiveData: true,
			},
		},
		Jurisdictions: []policy.Jurisdiction{
			{ID: "ie", Name: "Ireland", Conditions: when("c", "Irish")},
			{ID: "es", Name: "Spain", Conditions: when("d", "Spanish")},
			{ID: "pt", Name: "Portugal", Conditions: when("e", "Portuguese")},
		},
	}
	all := "any, client, both, tax, ireland, spain, journey, retail, secret masked"
	without := func(keys ...string) string {
		left := slices.DeleteFunc(strings.Split(all, ", "), func(key string) bool { return slices.Contains(keys, key) })
		return strings.Join(left, ", ")
	}
	kind := func(v string) property.Split {
		return property.Split{SingleProperties: map[string]property.Text{"kind": value(v)}}
	}
	for name, tt := range map[string]struct {
		r             evaluate.Request
		want          string
		jurisdictions string
	}{
		"nothing":           {evaluate.Request{}, all, ""},
		"client":            {evaluate.Request{TargetEntity: "Client"}, all, ""},
		"related party":     {evaluate.Request{TargetEntity: "Related Party"}, without("client"), ""},
		"category":          {evaluate.Request{Categories: []string{"Other", "More"}}, all, ""},
		"other category":    {evaluate.Request{Categories: []string{"Other"}}, without("tax"), ""},
		"journey level":     {evaluate.Request{JourneyLevelDataOnly: true}, "journey", ""},
		"jurisdiction":      {evaluate.Request{Jurisdictions: []string{"Es", "xx"}}, without("ireland"), "Spain"},
		"both":              {evaluate.Request{Jurisdictions: []string{"es", "ie"}}, all, "Ireland, Spain"},
		"not of the policy": {evaluate.Request{Jurisdictions: []string{"fr"}}, without("ireland", "spain"), ""},
		"worked out": {
			evaluate.Request{EvaluateJurisdictions: true, Jurisdictions: []string{"es"}, Properties: kind("Irish")},
			without("spain"), "Ireland",
		},
		"none worked out": {
			evaluate.Request{EvaluateJurisdictions: true, Properties: kind("x")}, without("ireland", "spain"), "",
		},
		"layers": {evaluate.Request{EnableAccessLayersFiltering: true}, without("retail"), ""},
		"layers of the caller": {
			evaluate.Request{
				EnableAccessLayersFiltering: true,
				Layers: access.Layers{Geographic: []string{"IE"},
					BusinessRelated: []string{"Retail"}},
			}, strings.Replace(all, " masked", "", 1), "",
		},
		"all": {
			evaluate.Request{
				TargetEntity: "Related Party", Categories: []string{"Other"}, Jurisdictions: []string{"ie"},
				EnableAccessLayersFiltering: true,
			}, without("client", "tax", "spain", "retail"), "Ireland",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluated(t, c, tt.r)
			difftest.Equal(t, "fields", tt.want, keysOf(got.EvaluatedFields))
			var names []string
			for _, j := range got.EvaluatedJurisdictions {
				names = append(names, j.Name)
			}
			difftest.Equal(t, "jurisdictions", tt.jurisdictions, strings.Join(names, ", "))
		})
	}
}

// TestCategory returns the category that was asked for.
func TestCategory(t *testing.T) {
	t.Parallel()
	c := policy.Contents{Fields: []policy.Field{{ID: "1", DataKey: "k", Categories: []string{"Tax", "Risk", "More"}}}}
	for asked, want := range map[string]string{"": "Tax", "Tax": "Tax", "More,Risk": "Risk", "More,None": "More"} {
		var r evaluate.Request
		if asked != "" {
			r.Categories = strings.Split(asked, ",")
		}
		difftest.Equal(t, fmt.Sprintf("categories %q: the field", asked), want,
			evaluated(t, c, r).EvaluatedFields[0].Category)
	}
}

// TestMerge evaluates fields with the same data key.
func TestMerge(t *testing.T) {
	t.Parallel()
	mandatory := policy.ValidationRules{Mandatory: &policy.Rule{IsActive: true, StaticRule: &policy.RuleValue{}}}
	field := func(id string, order float64, kind string) policy.Field {
		f := policy.Field{ID: id, Name: id, DataKey: "k", Order: order}
		if kind != "" {
			f.Conditions = when("if "+kind, kind)
		}
		return f
	}
	with := func(f policy.Field, change func(*policy.Field)) policy.Field {
		change(&f)
		return f
	}
	isReadOnly := func(f *policy.Field) { f.IsReadOnly = true }
	isRequired := func(f *policy.Field) { f.ValidationRules = mandatory }
	shouldClear := func(f *policy.Field) { f.ClearValueIfTriggerConditionNotMet = true }
	other := policy.Field{ID: "o", DataKey: "other", Order: 1.5}
	for name, tt := range map[string]struct {
		fields []policy.Field
		// want are the fields for the kind x; first is the name of the first one.
		want, first string
	}{
		"the lowest order":       {[]policy.Field{field("a", 2, ""), field("b", 1, "")}, "k", "b"},
		"then the lowest ID":     {[]policy.Field{field("b", 1, ""), field("a", 1, "")}, "k", "a"},
		"a negative order":       {[]policy.Field{field("a", 0, ""), field("b", -0.5, "")}, "k", "b"},
		"the first is not shown": {[]policy.Field{field("a", 1, "y"), field("b", 2, "")}, "k", "b"},
		"conditional if all are": {[]policy.Field{field("a", 1, "x"), field("b", 2, "x")}, "k conditional if x+if x",
			"a"},
		"not conditional": {[]policy.Field{field("a", 1, "x"), field("b", 2, "")}, "k if x", "a"},
		"one is read-only": {[]policy.Field{field("a", 1, ""), with(field("b", 2, ""), isReadOnly)},
			"k readOnly", "a"},
		"one is required": {[]policy.Field{field("a", 1, ""), with(field("b", 2, ""), isRequired)},
			"k required", "a"},
		"not if it is not shown": {[]policy.Field{field("a", 1, ""), with(field("b", 2, "y"), isRequired)}, "k", "a"},
		"cleared": {[]policy.Field{with(field("a", 1, "y"), shouldClear)}, "k clear conditional if y",
			"a"},
		"cleared once": {[]policy.Field{with(field("a", 1, "y"), shouldClear), with(field("b", 2, "z"),
			shouldClear)}, "k clear conditional if y", "a"},
		"shown and so not cleared": {[]policy.Field{with(field("a", 1, "y"), shouldClear), field("b", 2, ""), other},
			"other, k", ""},
		"shown before": {[]policy.Field{field("a", 1, ""), with(field("b", 2, "y"), shouldClear), other},
			"k, other", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluated(t, policy.Contents{Fields: tt.fields}, evaluate.Request{
				Explain: true, Properties: property.Split{SingleProperties: map[string]property.Text{"kind": value("x"),
					"k": value("v")}},
			})
			difftest.Equal(t, "fields", tt.want, keysOf(got.EvaluatedFields))
			if got := got.EvaluatedFields[0].Name; got != tt.first {
				t.Errorf("the first field is %s, want %s", got, tt.first)
			}
		})
	}
	t.Run("no value to clear", func(t *testing.T) {
		t.Parallel()
		for _, empty := range []property.Text{{}, value("")} {
			got := evaluated(t, policy.Contents{Fields: []policy.Field{with(field("a", 1, "y"), shouldClear)}},
				evaluate.Request{
					Properties: property.Split{SingleProperties: map[string]property.Text{"k": empty}},
				})
			difftest.Len(t, "a field without a value is to be cleared", 0, got.EvaluatedFields)
		}
	})
}
