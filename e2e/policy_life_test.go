package e2e

import (
	"slices"
	"strings"
	"testing"
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
