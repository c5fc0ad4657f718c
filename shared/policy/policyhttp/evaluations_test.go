package policyhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
	"sluice/shared/policy/policyhttp"
	"sluice/shared/screening"
)

const (
	evaluating = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11" // the tenant
	evaluated  = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10" // the policy
	broken     = "6a3f5f57-5cf8-5d0f-9a53-3c6f0d1b7c52" // a policy that cannot be read
	unfinished = "6a3f5f57-5cf8-5d0f-9a53-3c6f0d1b7c53" // one whose draft cannot be compiled
	busy       = "6a3f5f57-5cf8-5d0f-9a53-3c6f0d1b7c54" // one that others change all the time
	journey    = "1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15"
	owners     = "2f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e16" // a data group

	versionPath  = "/policyquery/api/v4/policies/" + evaluated + "/version/3"
	plain        = "/fields/evaluate"
	normalized   = plain + "/normalized"
	readOnlyPath = plain + "/read-only/normalized"
)

var evaluationTime = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// fixedPrograms has version 3 of one policy.
type fixedPrograms struct{ program *evaluate.Program }

func (p fixedPrograms) Load(_ context.Context, tenant, id string, number int64) (*evaluate.Program, error) {
	switch {
	case id == broken:
		return nil, errors.New("secret")
	case id == unfinished:
		return evaluate.Compile(policy.Contents{Fields: []policy.Field{{ID: "f", DataKey: "a", FieldType: "Text",
			FormulaSchema: &policy.FormulaSchema{FormulaString: "1 +"}}}})
	case id == busy:
		return nil, policy.ErrChanged
	case tenant == evaluating && id == evaluated && number == 3:
		return p.program, nil
	}
	return nil, policy.ErrNotFound
}

// assessedScreening has one batch of the journey, with a material company.
type assessedScreening struct{}

func (assessedScreening) Get(context.Context, string, string) (screening.Batch, error) {
	return screening.Batch{ID: "b", JourneyID: journey, MainEntityID: "acme", EntityIDs: []string{"acme"}}, nil
}

func (assessedScreening) FindNewest(_ context.Context, tenant, journeyID string) (string, error) {
	if tenant != evaluating || journeyID != journey {
		return "", screening.ErrNotFound
	}
	return "b", nil
}

func (assessedScreening) ListBatchesOf(context.Context, string, string, string, int) ([]string, string, error) {
	return nil, "", nil
}

func (assessedScreening) GetEntities(context.Context, string, string, []string) ([]screening.Entity, error) {
	return []screening.Entity{{ID: "acme", Assessment: &screening.Assessment{
		Categories: map[screening.Category]screening.CategoryAssessment{
			screening.Sanctions: {Status: screening.Material},
		},
	}}}, nil
}

// spanishEntities is entity data whose entities all have the access layer Spain.
type spanishEntities struct{}

func (spanishEntities) GetProfiles(context.Context, string, []string) ([]entity.Profile, error) {
	return []entity.Profile{{Layers: access.Layers{Geographic: []string{"Spain"}}}}, nil
}

// evaluationAPI is the evaluation endpoints for one version of a policy.
type evaluationAPI struct {
	t      testing.TB
	call   func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	caller httpapi.Caller
}

func newEvaluationAPI(t testing.TB, contents policy.Contents) *evaluationAPI {
	t.Helper()
	program := errtest.Must(evaluate.Compile(contents))(t)
	s := &policyhttp.Evaluations{Programs: fixedPrograms{program}, Screenings: assessedScreening{},
		Entities: spanishEntities{}, Now: func() time.Time { return evaluationTime }}
	return &evaluationAPI{t,
		httpapi.Lambda(platform.ProblemHandler(s.Routes(), nil, nil, slog.New(slog.DiscardHandler),
			func() time.Time { return evaluationTime })),
		httpapi.Caller{Tenant: evaluating, Client: "c", Expires: evaluationTime.Add(time.Hour),
			Layers:      access.Layers{Geographic: []string{"Spain"}},
			Permissions: []string{permission.PolicyConfigurationAccess, permission.ScreeningAccess}}}
}

// post sends the data of a request and returns the reply.
func (a *evaluationAPI) post(path, data string) events.APIGatewayProxyResponse {
	a.t.Helper()
	r, err := a.call(a.t.Context(), httpapitest.NewPlatformRequest(a.t, a.caller, "POST", path, `{"data":`+data+`}`))
	errtest.Fatal(a.t, err)
	return r
}

// evaluate sends a request that must succeed, and decodes the data of the reply.
func (a *evaluationAPI) evaluate(path, data string, into any) {
	a.t.Helper()
	r := a.post(versionPath+path, data)
	if r.StatusCode != 200 {
		a.t.Fatalf("%s %.300s: got %d %.1000s, want 200", path, data, r.StatusCode, r.Body)
	}
	envelope := platform.Envelope{Data: into}
	errtest.Fatal(a.t, json.Unmarshal([]byte(r.Body), &envelope))
}

// sample has a single field, a collection of owners and a custom group, and a field that sanctions decide.
func sample() policy.Contents {
	shownIf := func(o policy.Operand) []policy.Condition {
		return []policy.Condition{{ID: "condition of " + o.FieldName, Operands: []policy.Operand{o}}}
	}
	fields := []policy.Field{
		{ID: "o1", DataKey: "ownerName", Name: "Name", FieldType: "Text", Order: 1},
		{ID: "o2", DataKey: "ownerShare", Name: "Share", FieldType: "Number", Order: 2,
			Conditions: shownIf(policy.Operand{
				FieldName: "ownerName", DataSource: "currentDataGroupItem", Operation: policy.IsNotEmpty})},
	}
	return policy.Contents{EntityType: "Company", DataGroups: []policy.DataGroup{
		{ID: owners, Version: 2, Status: policy.DataGroupPublished, Name: "Owners", Fields: fields},
	}, Fields: []policy.Field{
		{ID: "f1", DataKey: "legalName", Name: "Legal name", FieldType: "Text", Order: 1,
			Categories: []string{"Basics"}},
		{ID: "f2", DataKey: "owners", Name: "Owners", FieldType: policy.TypeCollection, FieldTypeID: owners, Order: 2,
			Categories: []string{"Owners"}},
		{ID: "f3", DataKey: "headOffice", Name: "Head office", FieldType: policy.TypeCustom, FieldTypeID: owners,
			Order: 3, Categories: []string{"Owners"}},
		{ID: "f4", DataKey: "sanctionsPlan", Name: "Sanctions plan", FieldType: "Text", Order: 4,
			Categories: []string{"Basics"}, Conditions: shownIf(policy.Operand{FieldName: "sanctionsMaterialityStatus",
				DataSource: "screeningMateriality", Operation: policy.Equal, Value: []string{"Material"}})},
	}}
}

// withOwners returns the data of a request with n owners, the first one without a name.
func withOwners(n int) string {
	items := []string{`"0":{"properties":{}}`}
	for i := 1; i < n; i++ {
		items = append(items, fmt.Sprintf(`"%d":{"properties":{"ownerName":{"value":"Owner","valueId":null}}}`, i))
	}
	return `{"properties":{"singleProperties":{"legalName":{"value":"ACME"}},"customProperties":null,` +
		`"collectionProperties":{"owners":{"collectionId":"` + owners + `","items":{` + strings.Join(items,
		",") + `}}}}}`
}

// keysOf returns the data keys of fields, with commas.
func keysOf(fields []evaluate.GroupField) string {
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.DataKey)
	}
	return strings.Join(keys, ",")
}

// The three variants say the same about the same request.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, sample())
	var p evaluate.Result
	a.evaluate(plain, withOwners(3), &p)
	var n evaluate.NormalizedResult
	a.evaluate(normalized, withOwners(3), &n)
	var r evaluate.ReadOnlyResult
	a.evaluate(readOnlyPath, withOwners(3), &r)
	wantRefs := map[string]evaluate.NormalizedItem{
		"0": {EvaluatedFieldRefs: []int{0}}, "1": {EvaluatedFieldRefs: []int{0, 1}},
		"2": {EvaluatedFieldRefs: []int{0, 1}}}
	difftest.Equal(t, "normalized", wantRefs, n.EvaluatedCollectionDataGroups[0].EvaluatedItems)
	difftest.Equal(t, "read-only", wantRefs, r.EvaluatedCollectionDataGroups[0].EvaluatedItems)
	again := errtest.Must(evaluate.Normalize(p, 1<<30))(t)
	if diff := cmp.Diff(again, n); diff != "" {
		t.Errorf("the plain reply, normalized (-), is not the normalized one (+): %s", diff)
	}
	if len(p.EvaluatedFields) != 1 || len(r.EvaluatedFields) != 1 || len(p.EvaluatedCustomDataGroups) != 1 ||
		keysOf(p.EvaluatedCustomDataGroups[0].SingleFields) != "ownerName" {
		t.Errorf("got %+v, want legalName and the custom group headOffice with ownerName", p)
	}
}

// Requests select the evaluated fields.
func TestEvaluateSelects(t *testing.T) {
	t.Parallel()
	a := newEvaluationAPI(t, sample())
	for name, tt := range map[string]struct{ path, data, want string }{
		"nothing asked for": {plain, `{}`, "legalName"},
		"categories":        {plain, `{"categories":["Owners"]}`, ""},
		"null is absent": {plain, `{"journeyId":null,"targetEntity":null,"categories":null,"properties":null,` +
			`"dataSources":null,"jurisdictions":null,"skipValuesEvaluation":null}`, "legalName"},
		"given materiality": {plain, `{"dataSources":{"screeningMateriality":{` +
			`"sanctionsMaterialityStatus":"Material"}}}`, "legalName,sanctionsPlan"},
		"read materiality": {plain, `{"journeyId":"` + strings.ToUpper(journey) + `"}`, "legalName,sanctionsPlan"},
		"another journey":  {plain, `{"journeyId":"` + owners + `"}`, "legalName"},
		"given in place of it": {plain, `{"journeyId":"` + journey +
			`","dataSources":{"screeningMateriality":{"sanctionsMaterialityStatus":"None"}}}`, "legalName"},
		"null in place of it": {plain, `{"journeyId":"` + journey + `","dataSources":{"screeningMateriality":null}}`,
			"legalName,sanctionsPlan"},
		"unknown data sources": {plain, `{"dataSources":{"whatever":{"a":[{"b":{}}]},"relatedParties":[{"c":1}],` +
			`"x":null}}`, "legalName"},
		"normalized":            {normalized, `{"journeyId":"` + journey + `"}`, "legalName,sanctionsPlan"},
		"read-only":             {readOnlyPath, `{"journeyId":"` + journey + `"}`, "legalName,sanctionsPlan"},
		"with an explanation":   {plain + "?explain=true", `{}`, "legalName"},
		"without, as by itself": {plain + "?explain=false", `{}`, "legalName"},
	} {
		t.Run(name, func(t *testing.T) {
			var got struct{ EvaluatedFields []evaluate.GroupField }
			a.evaluate(tt.path, tt.data, &got)
			difftest.Equal(t, "keysOf", tt.want, keysOf(got.EvaluatedFields))
		})
	}
}

// The screening is read for clients that may read it, of entities that they reach.
func TestEvaluateReadsMaterialityForCaller(t *testing.T) {
	t.Parallel()
	const data = `{"journeyId":"` + journey + `"}`
	for name, tt := range map[string]struct {
		change func(*httpapi.Caller)
		want   string
	}{
		"with permission and layers": {func(*httpapi.Caller) {}, "legalName,sanctionsPlan"},
		"without ScreeningAccess": {func(c *httpapi.Caller) {
			c.Permissions = []string{permission.PolicyConfigurationAccess}
		}, "legalName"},
		"without the entity's layers": {func(c *httpapi.Caller) { c.Layers = access.Layers{} }, "legalName"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newEvaluationAPI(t, sample())
			tt.change(&a.caller)
			var got struct{ EvaluatedFields []evaluate.GroupField }
			a.evaluate(plain, data, &got)
			difftest.Equal(t, "keysOf", tt.want, keysOf(got.EvaluatedFields))
		})
	}
}

// Fields and groups name the conditions that decided, on request.
func TestExplain(t *testing.T) {
	t.Parallel()
	contents := sample()
	for i := range contents.Fields[:3] {
		contents.Fields[i].Conditions = []policy.Condition{{ID: fmt.Sprint("condition ", i), Operands: []policy.Operand{
			{FieldName: "nothing", Operation: policy.IsEmpty}}}}
	}
	a := newEvaluationAPI(t, contents)
	for path, want := range map[string]string{plain: "legalName owners headOffice ownerShare",
		normalized: "legalName owners headOffice ownerShare", readOnlyPath: "legalName owners ownerShare"} {
		if r := a.post(versionPath+path, withOwners(2)); strings.Contains(r.Body, "decidedBy") {
			t.Errorf("%s: got %s, want no decidedBy", path, r.Body)
		}
		r := a.post(versionPath+path+"?explain=true", withOwners(2))
		for i, key := range []string{"legalName", "owners", "headOffice"} {
			isExplained := strings.Contains(r.Body, fmt.Sprintf(`"decidedBy":["condition %d"]`, i))
			if isExplained != slices.Contains(strings.Fields(want), key) {
				t.Errorf("%s: %s is explained: %v in %s", path, key, isExplained, r.Body)
			}
		}
		difftest.Contains(t, path, r.Body, `"decidedBy":["condition of ownerName"]`)
	}
}
