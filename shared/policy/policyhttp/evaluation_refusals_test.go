package policyhttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/policy"
)

// problemOf returns the problem details of a reply that is an error.
func problemOf(t *testing.T, status int, body string) platform.Problem {
	t.Helper()
	var p platform.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Status != status {
		t.Fatalf("got %d %.300s, %v, want problem details", status, body, err)
	}
	return p
}

// inDepth returns properties that are nested n deep.
func inDepth(n int) string {
	return strings.Repeat(`{"customProperties":{"k":`, n-1) + `{}` + strings.Repeat(`}}`, n-1)
}

// members returns n members of an object with the same value.
func members(n int, value string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"k%d":%s`, i, value)
	}
	return strings.Join(list, ",")
}

func texts(n int, text string) string {
	return strings.TrimSuffix(strings.Repeat(text+",", n), ",")
}

// Bodies are closed, and their values are bounded.
func TestEvaluateChecksBodies(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, sample())
	const u = `"` + journey + `"`
	single := func(text string) string { return `{"properties":{"singleProperties":{"k":` + text + `}}}` }
	items := func(n int) string {
		return `{"properties":{"collectionProperties":{"a":{"items":{` + members(n, "{}") +
			`}},"b":{"items":{"x":null}}}}}`
	}
	for name, tt := range map[string]struct{ data, property, code string }{
		"nothing":               {`{}`, "", ""},
		"null":                  {`null`, "data", "NotNullValidator"},
		"an array":              {`[]`, "data", "object_type"},
		"an unknown option":     {`{"skip":true}`, "skip", "extra_forbidden"},
		"an option in capitals": {`{"JourneyId":` + u + `}`, "JourneyId", "extra_forbidden"},
		"a key twice":           {`{"journeyId":` + u + `,"journeyId":` + u + `}`, "journeyId", "json_duplicate_key"},
		"a journey":             {`{"journeyId":"j"}`, "journeyId", "GuidValidator"},
		"a target":              {`{"targetEntity":"client"}`, "targetEntity", "EnumValidator"},
		"a good target":         {`{"targetEntity":"Related Party"}`, "", ""},
		"an option's type":      {`{"skipValuesEvaluation":1}`, "skipValuesEvaluation", "bool_type"},
		"jurisdictions":         {`{"jurisdictions":[` + texts(500, u) + `]}`, "", ""},
		"too many": {`{"jurisdictions":[` + texts(501, u) + `]}`, "jurisdictions",
			"MaximumCountValidator"},
		"jurisdiction":        {`{"jurisdictions":[` + u + `,"Ireland"]}`, "jurisdictions.1", "GuidValidator"},
		"categories":          {`{"categories":[` + texts(500, `"c"`) + `]}`, "", ""},
		"too many categories": {`{"categories":[` + texts(501, `"c"`) + `]}`, "categories", "MaximumCountValidator"},
		"an empty category":   {`{"categories":[""]}`, "categories.0", "NotNullValidator"},

		"the longest value": {single(`{"value":"` + strings.Repeat("é", 10_000) + `"}`), "", ""},
		"too long a value": {single(`{"value":"` + strings.Repeat("é", 10_001) + `"}`),
			"properties.singleProperties.k.value", "MaximumLengthValidator"},
		"too long an ID": {single(`{"valueId":"` + strings.Repeat("x", 10_001) + `"}`),
			"properties.singleProperties.k.valueId", "MaximumLengthValidator"},
		"an unknown member": {single(`{"type":"Single"}`), "properties.singleProperties.k.type",
			"extra_forbidden"},
		"a number":           {single(`{"value":1}`), "properties.singleProperties.k.value", "string_type"},
		"null as a property": {single(`null`), "", ""},
		"the longest key": {`{"properties":{"singleProperties":{"` + strings.Repeat("é", 700) + `":{}}}}`, "",
			""},
		"too long a key": {`{"properties":{"singleProperties":{"` + strings.Repeat("é", 701) + `":{}}}}`,
			"properties.singleProperties", "PropertyValidator"},
		"an empty key": {`{"properties":{"customProperties":{"":{}}}}`, "properties.customProperties.",
			"PropertyValidator"},
		"an item without an ID": {`{"properties":{"collectionProperties":{"c":{"items":{"":{}}}}}}`,
			"properties.collectionProperties.c.items", "PropertyValidator"},
		"too long a value in it": {`{"properties":{"collectionProperties":{"c":{"items":{"i":{"properties":{"k":{` +
			`"value":"` + strings.Repeat("x", 10_001) + `"}}}}}}}}`,
			"properties.collectionProperties.c.items.i.properties.k.value", "MaximumLengthValidator"},
		"the deepest properties": {`{"properties":` + inDepth(8) + `}`, "", ""},
		"too deep": {`{"properties":` + inDepth(9) + `}`,
			"properties" + strings.Repeat(".customProperties.k", 8), "PropertyValidator"},
		"most items":     {items(9_999), "", ""},
		"too many items": {items(10_000), "properties", "MaximumCountValidator"},

		"a text as a data source": {`{"dataSources":{"currentUser":"u"}}`, "dataSources.currentUser",
			"PropertyValidator"},
		"data sources": {`{"dataSources":{` + members(100, "{}") + `}}`, "", ""},
		"too many data sources": {`{"dataSources":{` + members(101, "{}") + `}}`, "dataSources",
			"MaximumCountValidator"},
		"a nameless data source":  {`{"dataSources":{"":{}}}`, "dataSources", "MaximumLengthValidator"},
		"a key twice in a source": {`{"dataSources":{"a":{"b":1,"b":2}}}`, "dataSources.a.b", "json_duplicate_key"},
	} {
		for _, path := range []string{plain, normalized, readOnlyPath} {
			if path == readOnlyPath && strings.Contains(tt.data, "skipValuesEvaluation") {
				continue
			}
			t.Run(name+path, func(t *testing.T) {
				r := a.post(versionPath+path, tt.data)
				if tt.property == "" {
					if r.StatusCode != 200 {
						t.Errorf("got %d %.500s, want 200", r.StatusCode, r.Body)
					}
					return
				}
				p := problemOf(t, r.StatusCode, r.Body)
				if p.Status != 400 || p.ErrorCode != "VALIDATION_ERROR" || len(p.ValidationErrors) != 1 ||
					p.ValidationErrors[0].PropertyName != tt.property ||
					p.ValidationErrors[0].ValidatorType != tt.code {
					t.Errorf("got %.500s, want %s of %s", r.Body, tt.code, tt.property)
				}
			})
		}
	}
}

// The options that are fixed in read-only evaluations are refused with any value.
func TestReadOnlyRefusesFixedOptions(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, sample())
	for _, option := range []string{"skipValuesEvaluation", "returnValidationErrors", "enableAccessLayersFiltering"} {
		for _, value := range []string{"true", "false", "null", `"x"`, `{"a":[]}`} {
			r := a.post(versionPath+readOnlyPath, `{"`+option+`":`+value+`}`)
			p := problemOf(t, r.StatusCode, r.Body)
			if p.Status != 400 || len(p.ValidationErrors) != 1 || p.ValidationErrors[0].PropertyName != option {
				t.Errorf("%s %s: got %s, want 400 about the option", option, value, r.Body)
			}
			if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "{") {
				continue
			}
			for _, path := range []string{plain, normalized} {
				if r := a.post(versionPath+path, `{"`+option+`":`+value+`}`); r.StatusCode != 200 {
					t.Errorf("%s with %s %s: got %d %s, want 200", path, option, value, r.StatusCode, r.Body)
				}
			}
		}
	}
	all := `{"enableAccessLayersFiltering":true,"returnValidationErrors":false,"skipValuesEvaluation":true}`
	r := a.post(versionPath+readOnlyPath, all)
	if p := problemOf(t, r.StatusCode, r.Body); len(p.ValidationErrors) != 3 {
		t.Errorf("got %s, want three validation errors", r.Body)
	}
}

// Versions that cannot be evaluated and wrong requests have different errors.
func TestEvaluateRefuses(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, sample())
	stranger := newEvaluationAPI(t, sample())
	stranger.caller.Tenant = journey
	powerless := newEvaluationAPI(t, sample())
	powerless.caller.Permissions = []string{"ScreeningAccess"}
	const policies = "/policyquery/api/v4/policies/"
	large := `{"dataSources":{"a":["` + strings.Repeat("x", 4<<20) + `"]}}`
	for name, tt := range map[string]struct {
		api        *evaluationAPI
		path, data string
		status     int
		code       string
	}{
		"an unknown policy": {a, policies + journey + "/version/3" + plain, `{}`, 404,
			"policy_version_not_found"},
		"an unknown version": {a, policies + evaluated + "/version/4" + plain, `{}`, 404,
			"policy_version_not_found"},
		"another tenant's": {stranger, versionPath + plain, `{}`, 404, "policy_version_not_found"},
		"not an ID":        {a, policies + "x/version/3" + plain, `{}`, 404, "policy_not_found"},
		"version 0":        {a, policies + evaluated + "/version/0" + plain, `{}`, 400, "VALIDATION_ERROR"},
		"not a version": {a, policies + evaluated + "/version/latest" + normalized, `{}`, 400,
			"VALIDATION_ERROR"},
		"an explanation of what":    {a, versionPath + plain + "?explain=please", `{}`, 400, "VALIDATION_ERROR"},
		"no permission":             {powerless, versionPath + plain, `{}`, 403, "permission_missing"},
		"too large":                 {a, versionPath + normalized, large, 413, "body_too_large"},
		"a draft that is not ready": {a, policies + unfinished + "/version/3" + plain, `{}`, 400, "VALIDATION_ERROR"},
		"a draft that changes":      {a, policies + busy + "/version/3" + plain, `{}`, 503, "INTERNAL_SERVER_ERROR"},
		"a store that is not well":  {a, policies + broken + "/version/3" + plain, `{}`, 500, "INTERNAL_SERVER_ERROR"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tt.api.post(tt.path, tt.data)
			p := problemOf(t, r.StatusCode, r.Body)
			if p.Status != tt.status || p.ErrorCode != tt.code || strings.Contains(r.Body, "secret") {
				t.Errorf("got %.500s, want %d %s", r.Body, tt.status, tt.code)
			}
		})
	}
}

// An evaluation that would take several seconds is refused. This one would go through 6,000 items with 9,000 operands
// each.
func TestEvaluateRefusesTooMuchWork(t *testing.T) {
	t.Parallel()
	inner := slices.Repeat([]policy.Operand{{FieldName: "share", Operation: policy.IsNotEmpty}}, 9000)
	a := newEvaluationAPI(t, policy.Contents{Fields: []policy.Field{{ID: "1", DataKey: "k",
		Conditions: []policy.Condition{
			{ID: "c", Operands: []policy.Operand{{FieldName: "owners", Operation: policy.Any, Operands: inner}}},
		}}}})
	for n, want := range map[int]string{100: "", 6000: "evaluation_too_much_work"} {
		r := a.post(versionPath+plain, `{"properties":{"collectionProperties":{"owners":{"items":{`+members(n,
			"{}")+`}}}}}`)
		if want == "" && r.StatusCode == 200 {
			continue
		}
		if p := problemOf(t, r.StatusCode, r.Body); p.Status != 413 || p.ErrorCode != want {
			t.Errorf("%d items: got %.500s, want %q", n, r.Body, want)
		}
	}
}
