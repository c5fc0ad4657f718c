package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// fieldView is what these tests read of a field.
type fieldView struct {
	FieldID, Name, DataKey, ChangeType string
	FieldVersion                       int64
	LockDetails                        *struct{ LockedByWorkspaceID, LockChangeType string }
}

// fieldsOf returns the fields of a policy as a path and its parameters show them, in pages of two.
func (s *session) fieldsOf(path string) (fields []fieldView) {
	s.t.Helper()
	token := "null"
	for {
		var page struct {
			Items           []fieldView
			PaginationToken *string
			TotalCount      int
		}
		s.mustCall("POST", policyQueries+"/"+path, inEnvelope(`{"pageSize":2,"paginationToken":`+token+`}`), &page)
		fields = append(fields, page.Items...)
		if page.PaginationToken == nil {
			assert(s.t, len(fields) == page.TotalCount, "%s: the pages have %d fields, want %d", path, len(fields),
				page.TotalCount)
			return fields
		}
		token = `"` + *page.PaginationToken + `"`
	}
}

// changesOf returns the data keys of fields with what their workspace does, in order.
func changesOf(fields []fieldView) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.DataKey+" "+f.ChangeType)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// A policy lives from its first draft to its archive: two workspaces edit it side by side, and what is published stays
// as it is.
func TestLifeOfAPolicy(t *testing.T) {
	api := beginTenant(t)
	id := api.newPolicy("spring")
	command, fields := policyCommands+"/"+id, id+"/fields"
	name := api.addField(id, "spring", policyField("legalEntityName", ""))
	for _, key := range []string{"turnover", "costs"} {
		api.addField(id, "spring", policyField(key, ""))
	}
	api.publish(id, "spring")
	expect := func(path, want string) {
		t.Helper()
		got := changesOf(api.fieldsOf(path))
		assert(t, got == want, "%s: got %s, want %s", path, got, want)
	}
	expect(fields, "costs Unchanged, legalEntityName Unchanged, turnover Unchanged")

	for _, workspace := range []string{"a", "b"} {
		api.mustCall("POST", command+"/versions/draft", inEnvelope(`{"workspaceId":"`+workspace+`"}`), nil)
	}
	rename := func(workspace string) (path, body string) {
		return command + "/fields/" + name + "?workspaceId=" + workspace,
			inEnvelope(strings.Replace(policyField("legalEntityName", ""), `"legalEntityName"`, `"Legal name"`, 1))
	}
	path, body := rename("a")
	api.mustCall("PUT", path, body, nil)
	profit := api.addField(id, "b", policyField("profit", `,"formulaSchema":{"formulaString":"{turnover} - {costs}"}`))
	expect(fields+"?workspaceId=a", "costs Unchanged, legalEntityName Updated, turnover Unchanged")
	expect(fields+"?workspaceId=b", "costs Unchanged, legalEntityName Locked, profit Added, turnover Unchanged")
	expect(fields, "costs Unchanged, legalEntityName Locked, turnover Unchanged")
	path, body = rename("b")
	if p := api.expectProblem(409, "CONFLICT", "PUT", path, body); !strings.Contains(p.Detail, "workspace a ") {
		t.Errorf("the conflict says %q, want it to name the workspace a", p.Detail)
	}
	api.mustCall("PUT", command+"/lock-workspace?workspaceId=a", "", nil)
	path, body = rename("a")
	api.expectProblem(409, "CONFLICT", "PUT", path, body)
	api.publish(id, "a")
	api.publish(id, "b")
	expect(fields, "costs Unchanged, legalEntityName Unchanged, profit Unchanged, turnover Unchanged")
	expect(id+"/version/1/fields", "costs Unchanged, legalEntityName Unchanged, turnover Unchanged")
	f := callFor[fieldView](api, "GET", policyQueries+"/"+fields+"/"+name, "")
	assert(t, f.Name == "Legal name" && f.FieldVersion == 2, "got %+v, want the new name and version 2", f)

	api.mustCall("POST", command+"/versions/draft-from-version",
		inEnvelope(`{"sourceVersionNumber":1,"workspaceId":"back"}`), nil)
	expect(fields+"?workspaceId=back",
		"costs Unchanged, legalEntityName Updated, profit Deleted, turnover Unchanged")
	api.mustCall("PUT", command+"/fields/"+profit+"/revert?workspaceId=back", "", nil)
	expect(fields+"?workspaceId=back",
		"costs Unchanged, legalEntityName Updated, profit Unchanged, turnover Unchanged")
	api.expectProblem(409, "CONFLICT", "PUT", command+"/version/1/archive", "")
	api.mustCall("PUT", command+"/version/3/archive", inEnvelope(`{"archiveReason":"r"}`), nil)
	api.expectProblem(404, "policy_not_published", "POST", policyQueries+"/"+fields, inEnvelope(`{}`))
	expect(id+"/version/3/fields", "costs Unchanged, legalEntityName Unchanged, profit Unchanged, turnover Unchanged")
	api.publish(id, "back")
	var p struct {
		Status                                string
		VersionNumber, PublishedVersionNumber int64
	}
	api.mustCall("GET", policyQueries+"/"+id, "", &p)
	assert(t, p.Status == "Published" && p.VersionNumber == 4 && p.PublishedVersionNumber == 4,
		"got %+v, want version 4, published", p)
}

// A version that cannot be evaluated is not published; a field of another one stays what it was.
func TestPublishingRefusesWhatCannotBeEvaluated(t *testing.T) {
	api := beginTenant(t)
	id := api.newPolicy("w")
	field := api.addField(id, "w", policyField("a",
		`,"conditions":[{"operands":[{"fieldName":"b","operation":"equal"}]}]`))
	publish := policyCommands + "/" + id + "/publish?workspaceId=w"
	p := api.expectProblem(400, "VALIDATION_ERROR", "PUT", publish, "")
	assert(t, len(p.ValidationErrors) == 1 && strings.HasPrefix(p.ValidationErrors[0].PropertyName,
		"fields."+field+".conditions.0.operands.0"), "got %+v, want the operand of the field", p.ValidationErrors)
	api.mustCall("PUT", policyCommands+"/"+id+"/fields/"+field+"?workspaceId=w", inEnvelope(policyField("a", "")), nil)
	api.publish(id, "w")
}

// Publications, changes and reverts that meet each other leave one outcome, and no lock without a workspace.
func TestWorkspacesThatRace(t *testing.T) {
	api := beginTenant(t)
	id := api.newPolicy("first")
	field := api.addField(id, "first", policyField("a", ""))
	api.publish(id, "first")
	const workspaces = 6
	for i := range workspaces {
		api.mustCall("POST", policyCommands+"/"+id+"/versions/draft",
			inEnvelope(fmt.Sprintf(`{"workspaceId":"w%d"}`, i)), nil)
	}
	paths := make([]string, workspaces)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s/%s/fields/%s?workspaceId=w%d", policyCommands, id, field, i)
	}
	statuses := atOnce(workspaces, func(i int) int {
		return api.call("PUT", paths[i], inEnvelope(policyField("a", `,"order":2`))).status
	})
	assert(t, statuses[202] == 1 && statuses[409] == workspaces-1,
		"got the statuses %v, want one 202 and otherwise 409", statuses)
	locked := callFor[fieldView](api, "GET", policyQueries+"/"+id+"/fields/"+field, "")
	require(t, locked.LockDetails != nil && locked.LockDetails.LockChangeType == "Updated",
		"got %+v, want the lock of the one that has changed it", locked)
	api.publish(id, locked.LockDetails.LockedByWorkspaceID)
	published := api.fieldsOf(id + "/fields")
	assert(t, len(published) == 1 && published[0].ChangeType == "Unchanged" && published[0].FieldVersion == 2,
		"got %+v, want version 2 of the field, without a lock", published)
}

// A caller without the permission of a command, or another tenant, changes nothing.
func TestStrangersToAPolicy(t *testing.T) {
	api := beginTenant(t)
	id := api.newPolicy("w")
	reader := loginAs(t, environment, newClient(t, environment, api.tenantID, "--permission",
		"PolicyConfigurationAccess"))
	editor := loginAs(t, environment, newClient(t, environment, api.tenantID, "--permission",
		"PolicyConfigurationEdit"))
	stranger := loginNewTenant(t)
	field, publish := policyCommands+"/"+id+"/fields?workspaceId=w", policyCommands+"/"+id+"/publish?workspaceId=w"
	reader.expectProblem(403, "permission_missing", "POST", field, inEnvelope(policyField("a", "")))
	reader.expectProblem(403, "permission_missing", "PUT", publish, "")
	editor.expectProblem(403, "permission_missing", "POST", field, inEnvelope(policyField("a", "")))
	editor.expectProblem(403, "permission_missing", "GET", policyQueries+"/"+id, "")
	reader.mustCall("GET", policyQueries+"/"+id, "", nil)
	for _, c := range []platformCall{{"POST", field, inEnvelope(policyField("a", ""))}, {"PUT", publish, ""},
		{"GET", policyQueries + "/" + id, ""}, {"POST", policyQueries + "/" + id + "/version/1/fields",
			inEnvelope(`{}`)},
		{"PUT", policyCommands + "/" + id + "/version/1/archive", ""}, {"DELETE",
			policyCommands + "/" + id + "/version/1", ""}} {
		stranger.expect(404, c.method, c.path, c.body)
	}
	stranger.call("GET", policyQueries+"/"+id, "", "X-Tenant-Id", api.tenantID).expect(t, 403)
	api.expectProblem(404, "policy_not_found", "GET", policyQueries+"/"+uuid.NewString(), "")
	api.expectProblem(404, "policy_version_not_found", "GET", policyQueries+"/"+id+"/versions/9", "")
	fields := api.fieldsOf(id + "/version/1/fields")
	assert(t, len(fields) == 0, "got the fields %+v, want none", fields)
}

// Bodies that are wrong or hostile are refused with problem details, through the gateway too.
func TestHostilePolicyBodies(t *testing.T) {
	api := beginTenant(t)
	path := policyCommands + "/" + api.newPolicy("w") + "/fields?workspaceId=w"
	for name, test := range map[string]struct {
		status     int
		code, body string
	}{
		"not JSON":     {400, "VALIDATION_ERROR", `{"data":`},
		"unknown keys": {400, "VALIDATION_ERROR", inEnvelope(policyField("a", `,"colour":"red"`))},
		"a key twice":  {400, "VALIDATION_ERROR", inEnvelope(policyField("a", `,"name":"b"`))},
		"deep operands": {400, "VALIDATION_ERROR",
			inEnvelope(policyField("a", `,"conditions":[`+strings.Repeat(`{"operands":[`, 3000)+strings.Repeat(`]}`,
				3000)+`]`))},
		"an expression that backtracks": {400, "VALIDATION_ERROR", inEnvelope(policyField("a",
			`,"validationRules":{"regex":{"isActive":true,"staticRule":{"regexValue":"(a+)+\\1"}}}`))},
		"a long name": {400, "VALIDATION_ERROR", inEnvelope(strings.Replace(policyField("a", ""), `"a"`,
			`"`+strings.Repeat("x", 701)+`"`, 1))},
		"no category": {400, "VALIDATION_ERROR", inEnvelope(strings.Replace(policyField("a", ""), `"Basic"`, "", 1))},
		"too large": {413, "body_too_large",
			inEnvelope(policyField("a", `,"description":"`+strings.Repeat("x", 1<<20)+`"`))},
	} {
		t.Run(name, func(t *testing.T) {
			s := *api
			s.t = t
			s.expectProblem(test.status, test.code, "POST", path, test.body)
		})
	}
	api.mustCall("POST", path, inEnvelope(strings.Replace(policyField("a", ""), `"a"`,
		`"`+strings.Repeat("x", 700)+`"`, 1)), nil)
}
