package policyhttp_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policyhttp"
)

// Every member of a request reaches the evaluation.
func TestRequestReachesEvaluation(t *testing.T) {
	t.Parallel()
	upper := strings.ToUpper(journey)
	body := `{"journeyId":"` + upper + `","targetEntity":"Client","evaluateJurisdictions":true,"jurisdictions":["` +
		upper +
		`"],"categories":["Basics"],"properties":{"singleProperties":{"a":{"value":"1","valueId":"i"}}},` +
		`"dataSources":{"currentUser":{"teamIds":["t"]},"mainEntity":null},"journeyLevelDataOnly":true,` +
		`"disableFilteringForConditionalValues":true`
	const options = `,"skipValuesEvaluation":true,"returnValidationErrors":true,"enableAccessLayersFiltering":true}`
	one, i := "1", "i"
	caller := &platform.Request{Caller: httpapi.Caller{Layers: access.Layers{Geographic: []string{"Spain"}}}}
	want := evaluate.Request{
		JourneyID: journey, TargetEntity: "Client", EvaluateJurisdictions: true, Jurisdictions: []string{journey},
		Categories: []string{"Basics"}, Properties: property.Split{SingleProperties: map[string]property.Text{
			"a": {Value: &one, ValueID: &i}}},
		DataSources:          map[string]jsontext.Value{"currentUser": jsontext.Value(`{"teamIds":["t"]}`)},
		JourneyLevelDataOnly: true, SkipValuesEvaluation: true, ReturnValidationErrors: true,
		DisableFilteringForConditionalValues: true, EnableAccessLayersFiltering: true, Layers: caller.Layers,
	}
	fields := reflect.ValueOf(want)
	for i := range fields.NumField() {
		if name := fields.Type().Field(i).Name; fields.Field(i).IsZero() && name != "Now" && name != "Explain" {
			t.Errorf("the test has no value of %s", name)
		}
	}
	var in policyhttp.EvaluationRequest
	errtest.Fatal(t, json.Unmarshal([]byte(body+options), &in, json.RejectUnknownMembers(true)))
	difftest.Equal(t, "the result", want, in.Request(caller))
	var shown policyhttp.ReadOnlyRequest
	errtest.Fatal(t, json.Unmarshal([]byte(body+"}"), &shown, json.RejectUnknownMembers(true)))
	want.ReturnValidationErrors = false
	difftest.Equal(t, "read-only", want, shown.Request(caller))
}
