package evaluate_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// attackedPolicy is a policy with the hidden keys secret and entityType, the hidden collection people with items that
// have a role, the hidden group home with a street, and the open collection assets whose primary field is the hidden
// key kind. The field probe is shown if the condition is met.
func attackedPolicy(o policy.Operand) policy.Contents {
	group := func(key, fieldType string) policy.Field {
		return policy.Field{ID: key, DataKey: key, FieldType: fieldType, FieldTypeID: key}
	}
	probe := single("probe")
	probe.Conditions = []policy.Condition{{ID: "c", Operands: []policy.Operand{o}}}
	assets := group("assets", policy.TypeCollection)
	setRule(&assets, "collectionMinimumCount", always(policy.RuleValue{
		RequiredTypesMinCount: []policy.RequiredTypeMinCount{{Type: "1", MinCount: 1}},
	}))
	cleared := sensitive(single("secret"))
	cleared.ID, cleared.ClearValueIfTriggerConditionNotMet = "cleared", true
	cleared.Conditions = []policy.Condition{{ID: "never", Operands: []policy.Operand{isYes("never")}}}
	ruled := sensitive(single("ruled"))
	setRule(&ruled, "onlyInteger", &policy.Rule{IsActive: true})
	// The key dup is hidden by a field that does not take part.
	dup := sensitive(single("dup"))
	dup.Categories = []string{"Other"}
	return policy.Contents{
		Fields: []policy.Field{
			probe, cleared, ruled, dup, single("dup"), sensitive(single("entityType")), assets,
			sensitive(group("people", policy.TypeCollection)),
			sensitive(group("home", policy.TypeCustom)), group("office", policy.TypeCustom),
			calculated("one", "{secret} * 2"), calculated("two", "{one} + 1"), calculated("three", "1 / {secret}"),
		},
		DataGroups: []policy.DataGroup{
			{ID: "people", Fields: []policy.Field{single("role"), calculated("double", "{role} * 2")}},
			{ID: "assets", PrimaryField: "kind", Fields: []policy.Field{sensitive(single("kind")),
				calculated("sum", "{kind} + 1")}},
			{ID: "home", Fields: []policy.Field{single("street"), calculated("far", "{street} + 1")}},
			{ID: "office", Fields: []policy.Field{sensitive(single("room"))}},
		},
		Jurisdictions: []policy.Jurisdiction{{ID: "j", Name: "j", Conditions: []policy.Condition{
			{ID: "c", Operands: []policy.Operand{o}},
		}}},
	}
}

// Nobody who lacks the layers can tell requests apart that differ in hidden values, however a condition reads them.
// Callers with the layers can.
func TestAttacksOnHiddenValues(t *testing.T) {
	t.Parallel()
	equal := func(source, name string, values ...string) policy.Operand {
		return policy.Operand{DataSource: source, FieldName: name, Operation: policy.Equal, Value: values}
	}
	is := func(source, name string, operation policy.Operation) policy.Operand {
		return policy.Operand{DataSource: source, FieldName: name, Operation: operation}
	}
	any := func(source, name string, inner policy.Operand) policy.Operand {
		return policy.Operand{DataSource: source, FieldName: name, Operation: policy.Any,
			Operands: []policy.Operand{inner}}
	}
	count := func(source, name string) policy.Operand {
		return policy.Operand{DataSource: source, FieldName: name, Operation: policy.CountEqual, Value: []string{"1"}}
	}
	source := func(name, one, other string) [2]evaluate.Request {
		var out [2]evaluate.Request
		for i, text := range []string{one, other} {
			out[i].DataSources = map[string]jsontext.Value{name: jsontext.Value(text)}
		}
		return out
	}
	singles := func(key, one, other string) [2]evaluate.Request {
		return [2]evaluate.Request{
			{Properties: property.Split{SingleProperties: texts(key, one, "open", "1")}},
			{Properties: property.Split{SingleProperties: texts(key, other, "open", "1")}},
		}
	}
	items := func(collection, key string, one, other []string) [2]evaluate.Request {
		var out [2]evaluate.Request
		for i, values := range [][]string{one, other} {
			items := map[string]property.SplitItem{}
			for n, value := range values {
				items[values[0]+string(rune('a'+n))] = property.SplitItem{Properties: texts(key, value)}
			}
			if collection == "assets" { // its items are not hidden
				items = map[string]property.SplitItem{"item": {Properties: texts(key, values[0])}}
			}
			out[i].Properties.CollectionProperties = map[string]property.SplitCollection{collection: {Items: items}}
		}
		return out
	}
	groups := func(group, key, one, other string) [2]evaluate.Request {
		var out [2]evaluate.Request
		for i, value := range []string{one, other} {
			out[i].Properties.CustomProperties = map[string]property.Split{group: {SingleProperties: texts(key, value)}}
		}
		return out
	}
	list := func(one, other string) [2]evaluate.Request { return source("changedFields", one, other) }
	no := equal("", "never", "yes")
	for name, tt := range map[string]struct {
		operand  policy.Operand
		requests [2]evaluate.Request
	}{
		"equal":        {equal("", "secret", "1"), singles("secret", "1", "2")},
		"isEmpty":      {is("", "secret", policy.IsEmpty), singles("secret", "", "2")},
		"isNotDefined": {is("", "secret", policy.IsNotDefined), singles("secret", "1", "2")},
		"valueField": {policy.Operand{FieldName: "open", ValueField: "secret",
			Operation: policy.Equal}, singles("secret", "1", "2")},
		"of valueField": {policy.Operand{FieldName: "secret", ValueField: "open",
			Operation: policy.NotEqual}, singles("secret", "1", "2")},
		"calculated":              {no, singles("secret", "1", "2")},
		"division by zero":        {no, singles("secret", "0", "2")},
		"no number":               {no, singles("secret", "x", "2")},
		"rule":                    {no, singles("ruled", "x", "2")},
		"hidden by another field": {equal("", "dup", "1"), singles("dup", "1", "2")},
		"mainEntity": {equal("mainEntity", "secret", "1"),
			source("mainEntity", `{"properties":{"secret":"1"}}`, `{"secret":"2"}`)},
		"mainEntity by steps": {equal("mainEntity", "properties.secret.value", "1"),
			source("mainEntity", `{"properties":{"secret":{"value":"1"}}}`, `{}`)},
		"mainEntity whole": {is("mainEntity", "properties", policy.IsEmpty),
			source("mainEntity", `{"properties":{"secret":"1"}}`, `{"properties":{}}`)},
		"relatedParties": {any("relatedParties", "", equal("", "secret", "1")),
			source("relatedParties", `[{"secret":"1"}]`, `[{"secret":"2"}]`)},
		"relatedParties, their people": {any("relatedParties", "", count("", "people")),
			source("relatedParties", `[{"people":[{"role":"1"}]}]`, `[{"people":[]}]`)},
		"changedFields":         {is("changedFields", "secret", policy.IsDefined), list(`["secret"]`, `[]`)},
		"changedFields whole":   {equal("changedFields", "", "secret"), list(`["secret","open"]`, `["open"]`)},
		"changedFields counted": {count("changedFields", ""), list(`["secret","open"]`, `["open"]`)},
		"changedFields of objects": {count("changedFields", ""),
			list(`[{"dataKey":"secret"},{"dataKey":"open"}]`, `[{"dataKey":"open"}]`)},
		"changedFields by key": {is("changedFields", "", policy.IsEmpty), list(`{"secret":true}`, `{}`)},
		"currentField": {equal("currentField", "value", "1"),
			source("currentField", `{"dataKey":"secret","value":"1"}`, `{"dataKey":"secret","value":"2"}`)},
		"entityType as properties": {is("entityDataMetadata", "entityType", policy.IsEmpty),
			source("entityDataMetadata", `{"entityType":{"secret":"1"}}`, `{"entityType":{}}`)},
		"currentUser with properties": {equal("currentUser", "secret", "1"),
			source("currentUser", `{"properties":{"secret":"1"}}`, `{}`)},
		"items": {any("", "people", equal("", "role", "1")),
			items("people", "role", []string{"1"}, []string{"2"})},
		"number of items": {count("", "people"),
			items("people", "role", []string{"1"}, []string{"1", "1"})},
		"values of items by steps": {equal("", "people.role", "1"),
			items("people", "role", []string{"1"}, []string{"2"})},
		"hidden field of items": {any("", "assets", equal("", "kind", "1")),
			items("assets", "kind", []string{"1"}, []string{"2"})},
		"all of a hidden field": {policy.Operand{FieldName: "assets", Operation: policy.All,
			Operands: []policy.Operand{equal("", "kind", "1")}}, items("assets", "kind", []string{"1"}, []string{"2"})},
		"items as a whole": {any("", "assets", is("", "", policy.IsEmpty)),
			items("assets", "kind", []string{"1"}, []string{""})},
		"item of a hidden collection": {equal("currentDataGroupItem", "role", "1"),
			source("currentDataGroupItem", `{"properties":{"role":"1"}}`, `{"properties":{"role":"2"}}`)},
		"that item as a whole": {is("currentDataGroupItem", "properties", policy.IsEmpty),
			source("currentDataGroupItem", `{"properties":{"role":"1"}}`, `{"properties":{}}`)},
		"group":                   {equal("", "home.street", "1"), groups("home", "street", "1", "2")},
		"group as a whole":        {is("", "home", policy.IsEmpty), groups("home", "street", "1", "")},
		"hidden field of a group": {is("", "office", policy.IsEmpty), groups("office", "room", "1", "")},
	} {
		t.Run(name, func(t *testing.T) {
			for isHidden, layers := range map[bool]access.Layers{true: {}, false: {Geographic: []string{"Ireland"}}} {
				var got [2]string
				for i, r := range tt.requests {
					r.Categories = []string{"Mine"}
					r.Layers, r.ReturnValidationErrors, r.Explain, r.EvaluateJurisdictions = layers, true, true, true
					got[i] = asJSON(mustEvaluate(t, attackedPolicy(tt.operand), r))
				}
				if isSame := got[0] == got[1]; isSame != isHidden {
					t.Errorf("hidden %v: the replies are the same: %v, which differs:\n%s", isHidden, isSame,
						difference(got[0], got[1]))
				}
			}
		})
	}
}

// Members of a data source by its contract are visible even if a hidden data key has their name; all others of that
// name are hidden.
func TestMembersByContractAreSeen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, name string
		operation    policy.Operation
		want         bool
	}{
		{"entityDataMetadata", "entityType", policy.Equal, true},
		{"mainEntity", "entityType", policy.Equal, false},
		{"", "entityType", policy.Equal, false},
		{"entityDataMetadata", "secret", policy.NotEqual, false},
		{"entityDataMetadata", "unknown", policy.NotEqual, true},
	} {
		result := mustEvaluate(t, attackedPolicy(policy.Operand{
			DataSource: tt.source, FieldName: tt.name, Operation: tt.operation, Value: []string{"Company"},
		}), evaluate.Request{
			Properties: property.Split{SingleProperties: texts("entityType", "Company")},
			DataSources: map[string]jsontext.Value{
				"entityDataMetadata": jsontext.Value(`{"entityType":"Company"}`),
				"mainEntity":         jsontext.Value(`{"entityType":"Company"}`),
			},
		})
		if _, isShown := byKey(result)["probe"]; isShown != tt.want {
			t.Errorf("%s %s of %q is met: %v, want %v", tt.name, tt.operation, tt.source, isShown, tt.want)
		}
	}
}
