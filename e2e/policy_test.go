package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"sluice/shared/access/httpapi/platform"
)

const (
	policyCommands    = "/policycommand/api/v2/policies"
	policyQueries     = "/policyquery/api/v4/policies"
	dataGroupCommands = "/policycommand/api/data-group"
	dataGroupQueries  = "/policyquery/api/data-group"
)

// newPolicy creates a policy for companies whose first draft is in a workspace, and returns its ID.
func (s *session) newPolicy(workspace string) string {
	s.t.Helper()
	created := callFor[struct{ EntityPolicyID string }](s, "POST", policyCommands,
		inEnvelope(fmt.Sprintf(`{"entityType":"Company","workspaceId":%q}`, workspace)))
	return created.EntityPolicyID
}

// policyField returns the data of a field that is a text.
func policyField(dataKey, more string) string {
	return fmt.Sprintf(`{"name":%q,"dataKey":%q,"fieldType":"TextBox","categories":["Basic"]%s}`, dataKey, dataKey,
		more)
}

// addField adds a field to the draft of a workspace and returns its ID.
func (s *session) addField(policyID, workspace, field string) string {
	s.t.Helper()
	created := callFor[struct{ FieldID string }](s, "POST", policyCommands+"/"+policyID+"/fields?workspaceId="+
		workspace, inEnvelope(field))
	return created.FieldID
}

// publish publishes the draft of a workspace.
func (s *session) publish(policyID, workspace string) {
	s.t.Helper()
	s.mustCall("PUT", policyCommands+"/"+policyID+"/publish?workspaceId="+workspace, "", nil)
}

// expectProblem makes a call that must be refused with problem details of a status and a code, and returns them.
func (s *session) expectProblem(status int, code, method, path, body string) platform.Problem {
	s.t.Helper()
	r := s.call(method, path, body).expect(s.t, status)
	var p platform.Problem
	err := json.Unmarshal(r.text, &p)
	kind := r.header.Get("Content-Type")
	assert(s.t, err == nil && p.ErrorCode == code && p.Status == status && kind == "application/problem+json",
		"%s: got %s %.400s, %v, want %s as problem details", r.request, kind, r.text, err, code)
	return p
}

// policyCalls returns a call of each operation on policies and data groups, in an order in which all succeed.
func policyCalls(api *session) []platformCall {
	id := api.newPolicy("w")
	command, query := policyCommands+"/"+id, policyQueries+"/"+id
	const put, post, get, remove = http.MethodPut, http.MethodPost, http.MethodGet, http.MethodDelete
	field, added, jurisdiction, other := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	calls := []platformCall{
		{post, policyCommands, inEnvelope(`{"entityType":"Team Metadata","workspaceId":"w","versionNote":"n"}`)},
		{post, command + "/versions/draft", inEnvelope(`{"workspaceId":"other"}`)},
		{post, command + "/fields?workspaceId=w",
			inEnvelope(policyField("a", `,"isIndexable":true,"fieldId":"`+field+`"`))},
		{post, command + "/fields?workspaceId=w", inEnvelope(policyField("b", `,"fieldId":"`+added+`","order":2.5`))},
		{put, command + "/fields/" + field + "?workspaceId=w", inEnvelope(policyField("a", fullField))},
		{post, command + "/jurisdictions?workspaceId=w",
			inEnvelope(`{"name":"Ireland","jurisdictionId":"` + jurisdiction + `",` +
				`"conditions":[{"operands":[{"fieldName":"a","operation":"isNotEmpty"}]}]}`)},
		{post, command + "/jurisdictions?workspaceId=w",
			inEnvelope(`{"name":"Malta","jurisdictionId":"` + other + `"}`)},
		{put, command + "/jurisdictions/" + other + "?workspaceId=w", inEnvelope(`{"name":"Malta","description":"d"}`)},
		{put, command + "/jurisdictions/" + other + "/revert?workspaceId=w", ""},
		{put, command + "/fields/" + added + "/revert?workspaceId=w", ""},
		{put, command + "/lock-workspace?workspaceId=w", ""},
		{put, command + "/unlock-workspace?workspaceId=w", ""},
		{get, query + "?workspaceId=w", ""},
		{put, command + "/publish?workspaceId=w", ""},
		{remove, command + "/fields/" + field + "?workspaceId=other", ""},
		{remove, command + "/jurisdictions/" + jurisdiction + "?workspaceId=other", ""},
		{get, policyQueries + "?PageSize=1", ""},
		{get, query, ""},
		{get, query + "/summary", ""},
		{get, query + "/versions?PageSize=2", ""},
		{get, query + "/versions/2", ""},
		{get, query + "/jurisdictions?workspaceId=other&PageSize=1", ""},
		{get, query + "/version/1/jurisdictions", ""},
		{get, query + "/version/1/data-groups?PageSize=2", ""},
		{get, query + "/fields/" + field, ""},
		{post, query + "/fields?workspaceId=other", inEnvelope(`{"filters":{"categories":["Basic"]},"pageSize":1}`)},
		{post, query + "/version/1/fields", inEnvelope(`{}`)},
		{post, query + "/fields/summary", inEnvelope(`{"filters":{"categories":["Basic"]}}`)},
		{get, policyQueries + "/fields/Company/indexable", ""},
		{remove, command + "/version/2", ""},
		{post, command + "/versions/draft-from-version", inEnvelope(`{"sourceVersionNumber":1,"workspaceId":"again"}`)},
		{put, command + "/version/1/archive", inEnvelope(`{"archiveReason":"r"}`)},
	}
	return append(calls, dataGroupCalls(api)...)
}

// fullField has most of what a field can have.
const fullField = `,"description":"d","tags":["t"],"targetEntities":["Client"],"order":1,"isIndexable":true,
	"references":[{"type":"Law","description":"d","url":"https://example.com/law"}],
	"accessLayers":{"geographic":["EU"],"businessRelated":["Retail"]},
	"conditions":[{"id":"c","name":"n","logicalOperation":"OR","operands":[
		{"fieldName":"a","operation":"equal","value":["x"]},
		{"logicalOperation":"AND","operands":[{"fieldName":"b","operation":"isEmpty"}]}]}],
	"conditionalValues":[{"id":"v","operands":[{"fieldName":"b","operation":"isEmpty"}],"value":"x","priority":1}],
	"defaultValue":"x",
	"validationRules":{"mandatory":{"isActive":true,"staticRule":{"errorMessage":"m"},
		"dynamicRules":[{"id":"d","operands":[{"fieldName":"b","operation":"isEmpty"}],"value":{"errorMessage":"m2"},
			"priority":1}]},
		"regex":{"isActive":true,"staticRule":{"regexValue":"^[A-Z]+$","isCaseSensitive":true}}}`

// dataGroupCalls returns a call of each operation on data groups.
func dataGroupCalls(api *session) []platformCall {
	const put, post, get = http.MethodPut, http.MethodPost, http.MethodGet
	group := inEnvelope(`{"name":"Owners","primaryDataGroupField":"role",` +
		`"dataGroupFields":[{"name":"Role","dataKey":"role","fieldType":"TextBox"}]}`)
	created := callFor[struct{ DataGroupID string }](api, post, dataGroupCommands, group)
	command, query := dataGroupCommands+"/"+created.DataGroupID, dataGroupQueries+"/"+created.DataGroupID
	return []platformCall{
		{post, dataGroupCommands, inEnvelope(`{"dataGroupId":"` + uuid.NewString() +
			`","name":"Owners","dataGroupFields":[` +
			`{"name":"Role","dataKey":"role","fieldType":"TextBox"}]}`)},
		{post, command, group},
		{put, command + "/version/2", group},
		{post, command + "/version/1/draft", ""},
		{put, command + "/version/1/status", inEnvelope(`{"status":"Pending"}`)},
		{put, command + "/version/1/status", inEnvelope(`{"status":"Published","reason":"r"}`)},
		{get, dataGroupQueries, ""},
		{get, query, ""},
		{get, query + "/versions", ""},
		{get, query + "/version/1", ""},
	}
}
