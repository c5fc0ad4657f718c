package evaluate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/property"
)

// evaluated evaluates a policy for a request.
func evaluated(t *testing.T, c policy.Contents, r evaluate.Request) evaluate.Result {
	t.Helper()
	p, err := evaluate.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Evaluate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// keysOf returns the data keys of fields, with what is remarkable about them.
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
			{ID: "ie", Name: "Ireland", Conditions: when("c", "Irish")}, {ID: "es", Name: "Spain", Conditions: when("d",
				"Spanish")},
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
		"not of the policy": {evaluate.Request{Jurisdictions: []string{"pt"}}, without("ireland", "spain"), ""},
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
			if keys := keysOf(got.EvaluatedFields); keys != tt.want {
				t.Errorf("fields are %s,\nwant %s", keys, tt.want)
			}
			var names []string
			for _, j := range got.EvaluatedJurisdictions {
				names = append(names, j.Name)
			}
			if got := strings.Join(names, ", "); got != tt.jurisdictions {
				t.Errorf("jurisdictions are %q, want %q", got, tt.jurisdictions)
			}
		})
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
			if keys := keysOf(got.EvaluatedFields); keys != tt.want {
				t.Errorf("fields are %s, want %s", keys, tt.want)
			}
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
			if len(got.EvaluatedFields) > 0 {
				t.Errorf("a field without a value is to be cleared: %+v", got.EvaluatedFields)
			}
		}
	})
}

// groupContents is a policy with a collection and with custom groups in each other.
func groupContents() policy.Contents {
	isIn := func(source, field, v string) []policy.Condition {
		return []policy.Condition{{ID: field + " is " + v, Operands: []policy.Operand{
			{DataSource: source, FieldName: field, Operation: policy.Equal, Value: []string{v}},
		}}}
	}
	return policy.Contents{
		Fields: []policy.Field{
			{
				ID: "1", DataKey: "owners", Name: "Owners", FieldType: policy.TypeCollection, FieldTypeID: "owner",
				Order:      1,
				Categories: []string{"Ownership"}, Conditions: when("a company", "company"), IsReadOnly: true,
			},
			{
				ID: "2", DataKey: "address", Name: "Address", FieldType: policy.TypeCustom, FieldTypeID: "place",
				Order:                              2,
				ClearValueIfTriggerConditionNotMet: true, Conditions: when("a company", "company"),
			},
		},
		DataGroups: []policy.DataGroup{
			{ID: "owner", Version: 3, Name: "Owner", PrimaryField: "role", Fields: []policy.Field{
				{ID: "o1", DataKey: "name", Name: "Name", FieldType: "Text", Order: 1},
				{ID: "o2", DataKey: "share", Order: 2, Conditions: isIn("currentDataGroupItem", "role", "shareholder")},
				{ID: "o3", DataKey: "licence", Order: 3, Conditions: isIn("", "address.country", "IE")},
				{ID: "o4", DataKey: "name", Name: "Second name", Order: 4},
			}},
			{ID: "place", Version: 1, Name: "Place", Fields: []policy.Field{
				{ID: "p1", DataKey: "city", Order: 2},
				{ID: "p2", DataKey: "region", Order: 1, FieldType: policy.TypeCustom, FieldTypeID: "region",
					Conditions: isIn("", "address.country", "IE")},
			}},
			{ID: "region", Version: 7, Name: "Region", Fields: []policy.Field{{ID: "r1", DataKey: "county"}}},
		},
	}
}

func groupRequest(kind string) evaluate.Request {
	item := func(role string) property.SplitItem {
		return property.SplitItem{Properties: map[string]property.Text{"role": value(role)}}
	}
	return evaluate.Request{Explain: true, Properties: property.Split{
		SingleProperties: map[string]property.Text{"kind": value(kind)},
		CollectionProperties: map[string]property.SplitCollection{"owners": {Items: map[string]property.SplitItem{
			"i1": item("shareholder"), "i2": item("director"), "i3": {},
		}}},
		CustomProperties: map[string]property.Split{"address": {
			SingleProperties: map[string]property.Text{"country": value("ie")},
		}},
	}}
}

// TestGroups evaluates a collection and custom groups.
func TestGroups(t *testing.T) {
	t.Parallel()
	got := evaluated(t, groupContents(), groupRequest("company"))
	if len(got.EvaluatedFields) != 0 || len(got.EvaluatedCollectionDataGroups) != 1 ||
		len(got.EvaluatedCustomDataGroups) != 1 {
		t.Fatalf("got %d fields, %d collections, %d groups, want 0, 1, 1", len(got.EvaluatedFields),
			len(got.EvaluatedCollectionDataGroups), len(got.EvaluatedCustomDataGroups))
	}
	g := got.EvaluatedCollectionDataGroups[0]
	items := map[string]string{}
	for id, item := range g.EvaluatedItems {
		for _, f := range item.EvaluatedFields {
			items[id] += fmt.Sprint(f.DataKey, f.DecidedBy, " ")
		}
	}
	if diff := cmp.Diff(map[string]string{
		"i1": "name[] share[role is shareholder] licence[address.country is IE] ",
		"i2": "name[] licence[address.country is IE] ",
		"i3": "name[] licence[address.country is IE] ",
	}, items); diff != "" {
		t.Errorf("the items differ (-want +got):\n%s", diff)
	}
	if g.EvaluatedItems["i2"].EvaluatedFields[0] != g.EvaluatedItems["i3"].EvaluatedFields[0] {
		t.Error("equal fields of items are not shared")
	}
	g.EvaluatedItems = nil
	primary := "role"
	if diff := cmp.Diff(evaluate.CollectionDataGroup{GroupHeader: evaluate.GroupHeader{
		DataKey: "owners", DataGroupID: "owner", DataGroupVersionNumber: 3, DataGroupName: "Owner", Name: "Owners",
		Category: "Ownership", Order: 1, IsReadOnly: true, IsConditional: true, PrimaryDataGroupField: &primary,
		Columns: []evaluate.Column{
			{DataKey: "name", FieldType: "Text", Name: "Name", Order: 1}, {DataKey: "share", Order: 2,
				IsConditional: true},
			{DataKey: "licence", Order: 3, IsConditional: true},
		},
		ValidationData: map[string]evaluate.ResolvedRule{}, ValidationErrors: []evaluate.ValidationError{},
	}}, g); diff != "" {
		t.Errorf("the collection differs (-want +got):\n%s", diff)
	}
	custom := got.EvaluatedCustomDataGroups[0]
	if len(custom.SingleFields) != 1 || custom.SingleFields[0].DataKey != "city" ||
		len(custom.CustomNestedFields) != 1 ||
		custom.CustomNestedFields[0].DataGroupID != "region" || custom.CustomNestedFields[0].VersionNumber != 7 ||
		len(custom.CustomNestedFields[0].SingleFields) != 1 || custom.DataGroupName != "Place" ||
		custom.Name != "Address" {
		t.Errorf("the custom group is %+v", custom)
	}
}

// TestGroupsThatAreNotShown leaves out a collection, and returns a custom group that has a value to be cleared as a field.
func TestGroupsThatAreNotShown(t *testing.T) {
	t.Parallel()
	got := evaluated(t, groupContents(), groupRequest("person"))
	if keys := keysOf(got.EvaluatedFields); keys != "address clear conditional a company" {
		t.Errorf("fields are %s", keys)
	}
	if n := len(got.EvaluatedCollectionDataGroups) + len(got.EvaluatedCustomDataGroups); n > 0 {
		t.Errorf("%d groups are shown", n)
	}
}

// TestDataSources reads the data sources of the contract in the forms that clients give them.
func TestDataSources(t *testing.T) {
	t.Parallel()
	r := evaluate.Request{DataSources: map[string]jsontext.Value{
		"relatedParties":       jsontext.Value(`[{"type": "Company", "properties": {"country": "IE"}}, {"type": "Individual"}]`),
		"changedFields":        jsontext.Value(`["income", "country"]`),
		"currentJourneys":      jsontext.Value(`{"inProgressJourneyTypes": ["Onboarding"]}`),
		"currentUser":          jsontext.Value(`{"teamIds": ["t1", "t2"], "isSystemUser": false}`),
		"entityDataMetadata":   jsontext.Value(`{"entityType": "Company"}`),
		"currentField":         jsontext.Value(`{"dataKey": "income", "value": "5"}`),
		"journeyLevelData":     jsontext.Value(`{"singleProperties": {"risk": {"value": "High", "valueId": "h"}}}`),
		"screeningMateriality": jsontext.Value(`{"mainEntity": true, "pepMaterialityJurisdictions": ["IE"]}`),
		"mainEntity":           jsontext.Value(`{"properties": {"turnover": {"type": "Single", "value": "10"}}, "id": "e1"}`),
		"broken":               jsontext.Value(`{"a":`),
		"deep":                 jsontext.Value(strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17)),
	}}
	is := func(source, field string, operation policy.Operation, values ...string) policy.Operand {
		return policy.Operand{DataSource: source, FieldName: field, Operation: operation, Value: values}
	}
	inner := func(o policy.Operand, operands ...policy.Operand) policy.Operand {
		o.Operands = operands
		return o
	}
	company := is("", "type", policy.Equal, "company")
	for _, tt := range []struct {
		o    policy.Operand
		want bool
	}{
		{is("relatedParties", "country", policy.Equal, "IE"), true},
		{is("relatedParties", "type", policy.Equal, "Individual"), true},
		{is("relatedParties", "", policy.CountEqual, "2"), true},
		{inner(is("relatedParties", "", policy.Any), company, is("", "country", policy.Equal, "IE")), true},
		{inner(is("relatedParties", "", policy.Any), company, is("currentDataGroupItem", "country", policy.IsEmpty)),
			false},
		{inner(is("relatedParties", "", policy.All), company), false},
		{inner(is("relatedParties", "", policy.None), is("", "type", policy.Equal, "Trust")), true},
		{inner(is("relatedParties", "", policy.Any), is("entityDataMetadata", "entityType", policy.Equal, "Company")),
			true},
		{inner(is("currentUser", "teamIds", policy.Any), is("", "", policy.Equal, "t2")), true},
		{is("changedFields", "income", policy.IsDefined), true},
		{is("changedFields", "name", policy.IsDefined), false},
		{is("changedFields", "", policy.Contains, "country"), true},
		{is("currentJourneys", "inProgressJourneyTypes", policy.Contains, "onboarding"), true},
		{is("currentUser", "teamIds", policy.Equal, "t3"), false},
		{is("currentUser", "isSystemUser", policy.Equal, "false"), true},
		{is("currentField", "dataKey", policy.Equal, "income"), true},
		{is("currentField", "value", policy.GreaterThan, "4.5"), true},
		{is("journeyLevelData", "risk", policy.Equal, "high"), true},
		{policy.Operand{DataSource: "journeyLevelData", FieldName: "risk", Operation: policy.Equal,
			ValueID: []string{"h"}}, true},
		{is("screeningMateriality", "mainEntity", policy.Equal, "true"), true},
		{is("screeningMateriality", "pepMaterialityJurisdictions", policy.Equal, "ie"), true},
		{is("screeningMateriality", "sanctionsProceedDecision", policy.IsDefined), false},
		{is("mainEntity", "turnover", policy.GreaterThanOrEqual, "10.0"), true},
		{is("mainEntity", "id", policy.Equal, "e1"), true},
		{is("mainEntity", "", policy.IsNotEmpty), true},
		{is("broken", "a", policy.IsDefined), false},
		{is("broken", "", policy.IsDefined), false},
		{is("deep", strings.TrimSuffix(strings.Repeat("a.", 15), "."), policy.IsDefined), true},
		{is("deep", strings.TrimSuffix(strings.Repeat("a.", 17), "."), policy.IsDefined), false},
		{is("absent", "a", policy.IsNotDefined), true},
		{inner(is("absent", "a", policy.None), company), true},
		{inner(is("absent", "a", policy.Any), company), false},
	} {
		if got := isMet(t, tt.o, r); got != tt.want {
			text, _ := json.Marshal(tt.o)
			t.Errorf("%s is met: %v, want %v", text, got, tt.want)
		}
	}
}

// TestProgramsAreUsedAtTheSameTime evaluates with one program in many goroutines.
func TestProgramsAreUsedAtTheSameTime(t *testing.T) {
	t.Parallel()
	r := newRandom(1)
	c := groupContents()
	for i := range 20 {
		f := policy.Field{ID: fmt.Sprint("f", i), DataKey: fmt.Sprint("f", i), Conditions: r.conditions()}
		f.ConditionalValues = []policy.ConditionalValue{{Condition: policy.Condition{Operands: r.operands(2, false)},
			Value: "v"}}
		c.Fields = append(c.Fields, f)
		c.DataGroups[0].Fields = append(c.DataGroups[0].Fields, f)
	}
	p, err := evaluate.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	textOf := func(request evaluate.Request) string {
		result, err := p.Evaluate(t.Context(), request, nil)
		if err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(result)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	var group sync.WaitGroup
	for range 8 {
		request := r.request()
		request.Properties.CollectionProperties["owners"] = r.items()
		want := textOf(request)
		for range 4 {
			group.Go(func() {
				for range 10 {
					if got := textOf(request); got != want {
						t.Error("the same request is answered differently")
					}
				}
			})
		}
	}
	group.Wait()
}
