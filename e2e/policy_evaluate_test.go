package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
)

// evaluationWorkspace is where drafts for these tests are edited.
const evaluationWorkspace = "evaluation"

// ownerFields are those of the items of the collection owners. The share is asked for if the owner is a person, and the
// passport is sensitive data of Spain.
const ownerFields = `[
	{"name":"Name","dataKey":"ownerName","fieldType":"Text","order":1,"validationRules":{"mandatory":{"isActive":true,
		"staticRule":{"errorMessage":"Name the owner."}}}},
	{"name":"Share","dataKey":"ownerShare","fieldType":"Number","order":2,"conditions":[{"id":"person","operands":[
		{"fieldName":"ownerType","dataSource":"currentDataGroupItem","operation":"equal","value":["Individual"]}]}]},
	{"name":"Passport","dataKey":"ownerPassport","fieldType":"Text","order":3,"isSensitiveData":true,
		"accessLayers":{"geographic":["Spain"]}}]`

// policyFields are those of the policy itself, with %s for the ID of the data group.
var policyFields = []string{
	`{"name":"Legal name","dataKey":"legalName","fieldType":"Text","order":1,"categories":["Basics"]}`,
	`{"name":"Owners","dataKey":"owners","fieldType":"Collection","fieldTypeId":"%s","order":2,` +
		`"categories":["Ownership"]}`,
	`{"name":"Notes of Spain","dataKey":"notes","fieldType":"Text","order":3,"categories":["Basics"],
		"accessLayers":{"geographic":["Spain"]}}`,
	`{"name":"Sanctions plan","dataKey":"sanctionsPlan","fieldType":"Text","order":4,"categories":["Basics"],
		"conditions":[{"id":"sanctioned","operands":[{"fieldName":"sanctionsMaterialityStatus",
		"dataSource":"screeningMateriality","operation":"equal","value":["Material"]}]}]}`,
}

// newDataGroup publishes a data group with fields and returns its ID.
func (s *session) newDataGroup(name, fields string) string {
	s.t.Helper()
	created := callFor[struct{ DataGroupID string }](s, "POST", dataGroupCommands, inEnvelope(
		fmt.Sprintf(`{"name":%q,"primaryDataGroupField":"ownerName","dataGroupFields":%s}`, name, fields)))
	for _, status := range []string{"Pending", "Published"} {
		s.mustCall("PUT", dataGroupCommands+"/"+created.DataGroupID+"/version/1/status",
			inEnvelope(`{"status":"`+status+`"}`), nil)
	}
	return created.DataGroupID
}

// newEvaluatedPolicy makes a policy for companies with fields, in which %s stands for a data group of owners, publishes
// it and returns the path under which its version 1 is evaluated.
func (s *session) newEvaluatedPolicy(fields ...string) string {
	s.t.Helper()
	id, group := s.newPolicy(evaluationWorkspace), s.newDataGroup("Owners", ownerFields)
	for _, f := range fields {
		s.addField(id, evaluationWorkspace, strings.ReplaceAll(f, "%s", group))
	}
	s.publish(id, evaluationWorkspace)
	return policyQueries + "/" + id + "/version/1/fields/evaluate"
}

// evaluationCalls returns a call of each kind of evaluation.
func evaluationCalls(api *session) []platformCall {
	path, data := api.newEvaluatedPolicy(policyFields...), withOwners(3, `"categories":["Basics","Ownership"]`)
	return []platformCall{
		{"POST", path, data}, {"POST", path + "?explain=true", data},
		{"POST", path + "/normalized", data}, {"POST", path + "/read-only/normalized", data},
	}
}

// withOwners returns a request with n owners, of which every third is a person; more are members of its data.
func withOwners(n int, more ...string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`"%04d":{"properties":{"ownerType":{"value":%q},"ownerName":{"value":"Owner %d"}}}`, i,
			[]string{"Individual", "Company", "Trust"}[i%3], i)
	}
	return inEnvelope(`{` + strings.Join(append(more,
		`"properties":{"singleProperties":{"legalName":{"value":"ACME"}},`+
			`"collectionProperties":{"owners":{"items":{`+strings.Join(items, ",")+`}}}}`), ",") + `}`)
}

// evaluatedView is what these tests read of an evaluation.
type evaluatedView struct {
	EvaluatedFields               []map[string]any
	EvaluatedCollectionDataGroups []map[string]any
}

// keys returns the data keys of the single fields, masked ones in brackets.
func (v evaluatedView) keys() string {
	var keys []string
	for _, f := range v.EvaluatedFields {
		key := f["dataKey"].(string)
		if f["isMasked"] == true {
			key = "[" + key + "]"
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, ",")
}

// evaluate evaluates a version of a policy.
func (s *session) evaluate(path, body string) (v evaluatedView) {
	s.t.Helper()
	s.mustCall("POST", path, body, &v)
	return v
}

// rebuilt returns the items of a normalized collection in the plain form, as a client rebuilds them.
func rebuilt(group map[string]any) map[string]any {
	fields, out := group["evaluatedFields"].([]any), map[string]any{}
	for id, item := range group["evaluatedItems"].(map[string]any) {
		list := []any{}
		for _, ref := range item.(map[string]any)["evaluatedFieldRefs"].([]any) {
			list = append(list, fields[int(ref.(float64))])
		}
		out[id] = map[string]any{"evaluatedFields": list}
	}
	return out
}

// A policy that was made and published by its commands is evaluated: plain, normalized and for display.
func TestPolicyEvaluation(t *testing.T) {
	t.Parallel()
	api := loginNewTenant(t, "--geographic", "Spain")
	path := api.newEvaluatedPolicy(policyFields...)
	plain := api.evaluate(path, withOwners(4, `"returnValidationErrors":true`))
	if got := plain.keys(); got != "legalName,notes" {
		t.Errorf("got the fields %s, want legalName,notes", got)
	}
	normalized := api.evaluate(path+"/normalized", withOwners(4, `"returnValidationErrors":true`))
	if diff := cmp.Diff(plain.EvaluatedFields, normalized.EvaluatedFields); diff != "" {
		t.Errorf("single fields, plain (-) and normalized (+): %s", diff)
	}
	want := plain.EvaluatedCollectionDataGroups[0]
	group := normalized.EvaluatedCollectionDataGroups[0]
	if diff := cmp.Diff(want["evaluatedItems"], any(rebuilt(group))); diff != "" {
		t.Errorf("items, plain (-) and rebuilt from the normalized reply (+): %s", diff)
	}
	n := len(group["evaluatedFields"].([]any))
	assert(t, n == 3, "got %d distinct fields, want 3", n)
	shown := api.evaluate(path+"/read-only/normalized", withOwners(4))
	if got := shown.keys(); got != "legalName,notes" || len(rebuilt(shown.EvaluatedCollectionDataGroups[0])) != 4 {
		t.Errorf("read-only: got the fields %s and %v", got, shown.EvaluatedCollectionDataGroups)
	}
	for _, member := range []string{"validationData", "isReadOnly", "disableMultiselectPrimaryFieldOnAdd",
		"validationErrors"} {
		_, ok := shown.EvaluatedCollectionDataGroups[0][member]
		assert(t, !ok, "the read-only collection has %s", member)
	}
	id, draft := strings.Split(path, "/")[5], strings.Replace(path, "/version/1/", "/version/2/", 1)
	api.mustCall("POST", policyCommands+"/"+id+"/versions/draft", inEnvelope(`{"workspaceId":"evaluation"}`), nil)
	for _, key := range []string{"first", "second"} { // a compiled draft that is kept must not outlive a change
		api.addField(id, evaluationWorkspace, policyField(key, `,"order":9`))
		got := api.evaluate(draft, withOwners(0)).keys()
		assert(t, strings.HasSuffix(got, key), "got the fields %s of the draft, want %s at the end", got, key)
	}
	explained := api.evaluate(path+"/normalized?explain=true", withOwners(1))
	text := fmt.Sprint(explained.EvaluatedCollectionDataGroups)
	assert(t, strings.Contains(text, "decidedBy:[person]"), "got %s, want that the condition person decided", text)
}

// Who lacks the access layers of a field sees that there is sensitive data, and nothing else of it.
func TestPolicyEvaluationByLayers(t *testing.T) {
	t.Parallel()
	spain := loginNewTenant(t, "--geographic", "Spain")
	path := spain.newEvaluatedPolicy(policyFields...)
	ireland := loginAs(t, environment, newClient(t, environment, spain.tenantID, "--geographic", "Ireland"))
	const filtering = `"enableAccessLayersFiltering":true`
	for name, test := range map[string]struct {
		api        *session
		path, body string
		want       string
		masked     bool
	}{
		"with the layers":            {spain, path, withOwners(2, filtering), "legalName,notes", false},
		"without, filtering":         {ireland, path, withOwners(2, filtering), "legalName", true},
		"without, read-only":         {ireland, path + "/read-only/normalized", withOwners(2), "legalName", true},
		"without, normalized":        {ireland, path + "/normalized", withOwners(2, filtering), "legalName", true},
		"without and not filtering":  {ireland, path, withOwners(2), "legalName,notes", true},
		"with the layers, read-only": {spain, path + "/read-only/normalized", withOwners(2), "legalName,notes", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.api.evaluate(test.path, test.body)
			assert(t, got.keys() == test.want, "got the fields %s, want %s", got.keys(), test.want)
			items := fmt.Sprint(got.EvaluatedCollectionDataGroups)
			assert(t, strings.Contains(items, "isMasked:true") == test.masked &&
				strings.Contains(items, "ownerPassport"), "got %s, want ownerPassport, masked: %v", items, test.masked)
		})
	}
	// Reads of entities hide the same from the moment of the publication on.
	entity := spain.newEntity(`,"properties":{"ownerPassport":{"type":"Single","value":"X-1"}}`)
	type view struct {
		Properties       map[string]map[string]any
		MaskedProperties []string
	}
	for api, want := range map[*session]view{
		spain: {map[string]map[string]any{"ownerPassport": {"type": "Single", "value": "X-1"}}, []string{}},
		ireland: {map[string]map[string]any{"ownerPassport": {"type": "Single", "value": nil}},
			[]string{"ownerPassport"}},
	} {
		difftest.Equal(t, "callFor", want, callFor[view](api, "GET", entityQuery+"/entity/"+entity, ""))
	}
}

// What people found out about an entity in its screening decides a field, for clients that may read it.
func TestPolicyReadsScreening(t *testing.T) {
	api := beginTenant(t)
	path := api.newEvaluatedPolicy(policyFields...)
	journey, entity := uuid.NewString(), uuid.NewString()
	inJourney := `"journeyId":"` + journey + `"`
	expect := func(step string, s *session, want string, more ...string) {
		t.Helper()
		got := s.evaluate(path, withOwners(0, more...)).keys()
		assert(t, got == want, "%s: got the fields %s, want %s", step, got, want)
	}
	const unmet, met = "legalName,notes", "legalName,notes,sanctionsPlan"
	expect("no screening", api, unmet, inJourney)
	batch := api.screen(fmt.Sprintf(`,"legalEntityId":%q`, entity), fmt.Sprintf(
		`,"journeyId":%q,"processId":"onboarding","journeyMainLegalEntityId":%q`, journey, entity))
	expect("screened, not assessed", api, unmet, inJourney)
	assess := func(status string) {
		t.Helper()
		api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/entity/"+entity, inEnvelope(
			`{"entityMaterialityAssessment":{"sanctions":{"materialityStatus":"`+status+`"}}}`), nil)
	}
	assess("Material")
	expect("material", api, met, inJourney)
	expect("material, by the ID of the entity", api, met, inJourney,
		`"dataSources":{"entityDataMetadata":{"entityId":"`+strings.ToUpper(entity)+`"}}`)
	expect("material, of another entity", api, unmet, inJourney,
		`"dataSources":{"entityDataMetadata":{"entityId":"`+uuid.NewString()+`"}}`)
	expect("what the request says counts", api, unmet, inJourney, `"dataSources":{"screeningMateriality":{}}`)
	expect("without a journey", api, unmet)
	powerless := loginAs(t, environment, newClient(t, environment, api.tenantID, "--permission",
		"PolicyConfigurationAccess"))
	expect("without ScreeningAccess", powerless, unmet, inJourney)
	assess("Immaterial")
	expect("immaterial", api, unmet, inJourney)
}

// Replies over 6 MB are refused in the plain form, and small in the normalized one.
func TestLargePolicyEvaluation(t *testing.T) {
	api := beginTenant(t)
	fields := make([]string, 30)
	for i := range fields {
		fields[i] = fmt.Sprintf(`{"name":"Field %d","dataKey":"field%d","fieldType":"Text","order":%d,`+
			`"validationRules":{"mandatory":{"isActive":true,"staticRule":{"errorMessage":"Say what it is."}}}}`, i, i,
			i)
	}
	group := api.newDataGroup("Large", strings.ReplaceAll("["+strings.Join(fields, ",")+"]", `"field0"`, `"ownerName"`))
	path := api.newEvaluatedPolicy(strings.ReplaceAll(policyFields[1], "%s", group))
	body := withOwners(1000)
	p := api.expectProblem(http.StatusRequestEntityTooLarge, "plain_evaluation_too_large", "POST", path, body)
	assert(t, strings.Contains(p.Detail, "/fields/evaluate/normalized"),
		"got %s, want that it names the normalized variant", p.Detail)
	r := api.callPlatform("POST", path+"/normalized", body)
	assert(t, r.status == http.StatusOK && len(r.text) <= 300_000,
		"normalized: got %d and %d bytes, want 200 and at most 300,000", r.status, len(r.text))
	// Just under the limit the gateway passes the reply on.
	if r := api.callPlatform("POST", path, withOwners(200)); r.status != http.StatusOK || len(r.text) < 4_000_000 {
		t.Errorf("200 items: got %d and %d bytes, want 200 and 4 MB or more", r.status, len(r.text))
	}
}
