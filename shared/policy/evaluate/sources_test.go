package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// TestDataSources reads the data sources of the contract in the forms that clients give them.
func TestDataSources(t *testing.T) {
	t.Parallel()
	r := evaluate.Request{DataSources: map[string]jsontext.Value{
		"relatedParties": jsontext.Value(
			`[{"type": "Company", "properties": {"country": "IE"}}, {"type": "Individual"}]`,
		),
		"changedFields":        jsontext.Value(`["income", "country"]`),
		"currentJourneys":      jsontext.Value(`{"inProgressJourneyTypes": ["Onboarding"]}`),
		"currentUser":          jsontext.Value(`{"teamIds": ["t1", "t2"], "isSystemUser": false}`),
		"entityDataMetadata":   jsontext.Value(`{"entityType": "Company"}`),
		"currentField":         jsontext.Value(`{"dataKey": "income", "value": "5"}`),
		"journeyLevelData":     jsontext.Value(`{"singleProperties": {"risk": {"value": "High", "valueId": "h"}}}`),
		"screeningMateriality": jsontext.Value(`{"mainEntity": true, "pepMaterialityJurisdictions": ["IE"]}`),
		"mainEntity": jsontext.Value(
			`{"properties": {"turnover": {"type": "Single", "value": "10"}}, "id": "e1"}`,
		),
		"relatedClient": jsontext.Value(`{"properties": {"owners": {"type": "Collection", "collections":
			{"1": {"properties": {"role": "Director"}}, "2": {"properties": {"role": "Owner"}}}}}}`),
		"relatedProducts": jsontext.Value(`{"collectionProperties": {"owners": {"collectionId": "o",
			"items": {"1": {"properties": {"role": {"value": "Director"}}}}}}}`),
		"broken": jsontext.Value(`{"a":`),
		"deep":   jsontext.Value(strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17)),
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
		{is("relatedClient", "owners.role", policy.Equal, "owner"), true},
		{is("relatedClient", "owners", policy.CountEqual, "2"), true},
		{inner(is("relatedClient", "owners", policy.All), is("", "role", policy.Equal, "Director")), false},
		{inner(is("relatedProducts", "owners", policy.Any), is("", "role", policy.Equal, "Director")), true},
		{is("relatedProducts", "owners", policy.CountEqual, "1"), true},
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

// materialityReader is a screening area that knows one entity.
type materialityReader struct {
	// asked are the journeys and entities that were asked for.
	asked []string
	// answer is the materiality of the entity e1; other entities have none.
	answer *evaluate.Materiality
	err    error
}

func (m *materialityReader) ReadMateriality(
	_ context.Context, journeyID, entityID string, _ access.Layers,
) (*evaluate.Materiality, error) {
	m.asked = append(m.asked, journeyID+"/"+entityID)
	if entityID != "e1" {
		return nil, m.err
	}
	return m.answer, m.err
}

// TestMateriality reads the materiality of an entity if a condition needs it and the request does not give it.
func TestMateriality(t *testing.T) {
	t.Parallel()
	errReader := errors.New("the screening area does not answer")
	pep := func(id string) []policy.Condition {
		return []policy.Condition{{ID: id, Operands: []policy.Operand{{
			DataSource: "screeningMateriality", FieldName: "pepMaterialityStatus", Operation: policy.Equal,
			Value: []string{"Material"},
		}}}}
	}
	reads := policy.Contents{Fields: []policy.Field{
		{ID: "1", DataKey: "source of wealth", Conditions: pep("a")}, {ID: "2", DataKey: "approval",
			Conditions: pep("b")},
	}}
	sources := func(text string) map[string]jsontext.Value {
		return map[string]jsontext.Value{
			"entityDataMetadata":   jsontext.Value(`{"entityId": "e1"}`),
			"screeningMateriality": jsontext.Value(text),
		}
	}
	e1 := map[string]jsontext.Value{"entityDataMetadata": jsontext.Value(`{"entityId": "e1"}`)}
	for name, tt := range map[string]struct {
		c       policy.Contents
		r       evaluate.Request
		err     error
		asked   []string
		isShown bool
	}{
		"read once":       {reads, evaluate.Request{JourneyID: "j", DataSources: e1}, nil, []string{"j/e1"}, true},
		"the main entity": {reads, evaluate.Request{JourneyID: "j"}, nil, []string{"j/"}, false},
		"no journey":      {reads, evaluate.Request{DataSources: e1}, nil, nil, false},
		"given": {reads, evaluate.Request{JourneyID: "j",
			DataSources: sources(`{"pepMaterialityStatus": "Material"}`)}, nil, nil, true},
		"given as immaterial": {reads, evaluate.Request{JourneyID: "j",
			DataSources: sources(`{"pepMaterialityStatus": "None"}`)}, nil, nil, false},
		"given as null": {reads, evaluate.Request{JourneyID: "j", DataSources: sources(`null`)}, nil, nil, false},
		"not needed": {policy.Contents{Fields: []policy.Field{{DataKey: "k"}}},
			evaluate.Request{JourneyID: "j"}, errReader, nil, true},
		"an error": {reads, evaluate.Request{JourneyID: "j", DataSources: e1}, errReader, []string{"j/e1"},
			false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := errtest.Must(evaluate.Compile(tt.c))(t)
			reader := &materialityReader{answer: &evaluate.Materiality{PEPMaterialityStatus: "Material"}, err: tt.err}
			result, err := p.Evaluate(t.Context(), tt.r, reader)
			if isFailed := tt.err != nil && tt.asked != nil; errors.Is(err, errReader) != isFailed {
				t.Errorf("the error is %v", err)
			}
			if !slices.Equal(reader.asked, tt.asked) {
				t.Errorf("asked for %q, want %q", reader.asked, tt.asked)
			}
			difftest.Equal(t, "the fields are shown", tt.isShown, len(result.EvaluatedFields) > 0)
		})
	}
}

// TestCurrentFieldThatIsHidden reads currentField where its data key is hidden from the caller, and where it is not.
func TestCurrentFieldThatIsHidden(t *testing.T) {
	t.Parallel()
	c := policy.Contents{Fields: []policy.Field{
		{ID: "1", DataKey: "income", IsSensitiveData: true,
			AccessLayers: &policy.AccessLayers{Geographic: []string{"IE"}}},
		{ID: "2", DataKey: "more", Conditions: []policy.Condition{{Operands: []policy.Operand{
			{DataSource: "currentField", FieldName: "value", Operation: policy.GreaterThan, Value: []string{"4"}},
		}}}},
	}}
	for _, tt := range []struct {
		field, layer, want string
	}{
		{"income", "", "income masked"}, {"income", "IE", "income, more conditional"},
		{"other", "", "income masked, more conditional"},
	} {
		r := evaluate.Request{DataSources: map[string]jsontext.Value{
			"currentField": jsontext.Value(`{"dataKey": "` + tt.field + `", "value": "5"}`),
		}}
		r.Layers.Geographic = []string{tt.layer}
		difftest.Equal(t, fmt.Sprintf("currentField is %s, the caller's layer %q: fields", tt.field, tt.layer),
			tt.want, keysOf(evaluated(t, c, r).EvaluatedFields))
	}
}
