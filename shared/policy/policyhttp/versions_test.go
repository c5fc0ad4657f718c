package policyhttp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
	"sluice/shared/policy/policyhttp"
)

// A change of a workspace locks the object for other workspaces, which see the published one, until it is published or
// reverted.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	changed, other := a.addField(id, "w", fieldData("a", "")), a.addField(id, "w", fieldData("b", ""))
	if f := a.field(id, changed, "?workspaceId=w"); f.ChangeType != policy.Added || f.LockDetails != nil {
		t.Errorf("got %+v, want it added", f)
	}
	a.refuse(404, "policy_not_published", "GET", queries+"/"+id+"/fields/"+changed, "")
	a.publish(id, "w")
	a.draft(id, "mine")
	a.draft(id, "theirs")
	path := commands + "/" + id + "/fields/"
	a.succeed("PUT", path+changed+"?workspaceId=mine", fieldData("a", `,"description":"new"`), nil)
	if f := a.field(id, changed, "?workspaceId=mine"); f.ChangeType != policy.Updated || f.Description != "new" ||
		f.Version != 2 || f.LockDetails != nil {
		t.Errorf("my workspace sees %+v, want the update", f)
	}
	lock := &policyhttp.LockReply{WorkspaceID: "mine", WorkspaceName: "mine", ChangeType: policy.Updated}
	for _, in := range []string{"?workspaceId=theirs", ""} {
		f := a.field(id, changed, in)
		if diff := cmp.Diff(lock, f.LockDetails); diff != "" || f.ChangeType != policy.Locked || f.Description != "" {
			t.Errorf("%s: got %+v, want it as it is published, and locked by mine", in, f)
		}
	}
	p := a.refuse(409, "CONFLICT", "PUT", path+changed+"?workspaceId=theirs", fieldData("a", ""))
	difftest.Contains(t, "the detail", p.Detail, "mine", changed)
	a.refuse(409, "CONFLICT", "DELETE", path+changed+"?workspaceId=theirs", "")
	a.refuse(409, "CONFLICT", "PUT", path+changed+"/revert?workspaceId=theirs", "")
	a.succeed("PUT", path+other+"/revert?workspaceId=theirs", "", nil) // there is nothing to revert
	a.succeed("PUT", path+changed+"/revert?workspaceId=mine", "", nil)
	if f := a.field(id, changed, "?workspaceId=theirs"); f.ChangeType != policy.Unchanged {
		t.Errorf("after the revert their workspace sees %+v, want it unchanged", f)
	}
	a.succeed("DELETE", path+changed+"?workspaceId=theirs", "", nil)
	if f := a.field(id, changed, "?workspaceId=theirs"); f.ChangeType != policy.Deleted {
		t.Errorf("their workspace sees %+v, want it deleted", f)
	}
	a.succeed("DELETE", path+other+"?workspaceId=mine", "", nil)
	a.publish(id, "theirs")
	a.refuse(404, "policy_field_not_found", "GET", queries+"/"+id+"/fields/"+changed+"?workspaceId=mine", "")
	a.refuse(404, "policy_field_not_found", "PUT", path+changed+"?workspaceId=mine", fieldData("a", ""))
	a.publish(id, "mine")
	a.refuse(404, "policy_field_not_found", "GET", queries+"/"+id+"/fields/"+other, "")
	var page policyhttp.Page[policyhttp.FieldReply]
	a.succeed("POST", queries+"/"+id+"/version/1/fields", `{}`, &page)
	difftest.Len(t, "version 1 has the fields", 2, page.Items)
}

// Jurisdictions are changed and locked as fields are.
func TestJurisdictionsOfWorkspaces(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id, jurisdiction := a.newPolicy(), uuid.NewString()
	path, list := commands+"/"+id+"/jurisdictions", queries+"/"+id+"/jurisdictions"
	read := func(in string) (all []string) {
		t.Helper()
		var page policyhttp.Page[policyhttp.JurisdictionReply]
		a.succeed("GET", list+in, "", &page)
		for _, j := range page.Items {
			all = append(all, j.Name+" "+string(j.ChangeType))
		}
		return all
	}
	expect := func(in string, want ...string) {
		t.Helper()
		if got := read(in); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", in, got, want)
		}
	}
	a.succeed("POST", path+"?workspaceId=w", `{"jurisdictionId":"`+strings.ToUpper(jurisdiction)+`","name":"Eire"}`,
		nil)
	a.refuse(409, "CONFLICT", "POST", path+"?workspaceId=w", `{"jurisdictionId":"`+jurisdiction+`","name":"Eire"}`)
	a.succeed("PUT", path+"/"+jurisdiction+"?workspaceId=w", `{"name":"Ireland"}`, nil)
	expect("?workspaceId=w", "Ireland Added")
	a.publish(id, "w")
	expect("", "Ireland Unchanged")
	a.draft(id, "mine")
	a.draft(id, "theirs")
	a.succeed("DELETE", path+"/"+jurisdiction+"?workspaceId=mine", "", nil)
	expect("?workspaceId=mine", "Ireland Deleted")
	expect("?workspaceId=theirs", "Ireland Locked")
	expect("", "Ireland Locked")
	a.refuse(409, "CONFLICT", "PUT", path+"/"+jurisdiction+"?workspaceId=theirs", `{"name":"x"}`)
	a.succeed("PUT", path+"/"+jurisdiction+"/revert?workspaceId=mine", "", nil)
	a.refuseProperty("jurisdictionId", "IdValidator", "PUT", path+"/"+jurisdiction+"?workspaceId=theirs",
		`{"name":"x","jurisdictionId":"`+uuid.NewString()+`"}`)
	a.refuse(404, "policy_jurisdiction_not_found", "PUT", path+"/"+uuid.NewString()+"?workspaceId=theirs",
		`{"name":"x"}`)
	var page policyhttp.Page[policyhttp.JurisdictionReply]
	a.succeed("GET", queries+"/"+id+"/version/1/jurisdictions", "", &page)
	if len(page.Items) != 1 || page.Items[0].ChangeType != policy.Unchanged {
		t.Errorf("version 1 has %+v, want Ireland unchanged", page.Items)
	}
}

// A client can choose the ID of a policy, also one that another tenant uses.
func TestChosenIDOfAPolicy(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const id = "0b8e4a36-3f0a-4c57-9e0c-0f6a9b1d2c3e"
	create := func(id string) string {
		return `{"entityPolicyId":"` + id + `","entityType":"Company","workspaceId":"w"}`
	}
	var created policyhttp.VersionCreated
	a.succeed("POST", commands, create(strings.ToUpper(id)), &created)
	difftest.Equal(t, "the new policy has the ID", id, created.EntityPolicyID)
	a.refuse(409, "CONFLICT", "POST", commands, create(id))
	a.refuseProperty("entityPolicyId", platform.CodeUUID, "POST", commands, create("0b8e4a36"))
	stranger := a.as(func(c *httpapi.Caller) { c.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12" })
	stranger.succeed("POST", commands, create(id), &created)
}

// A version goes from a draft to the archive, and its history can be read.
func TestVersionsOfAPolicy(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	path := commands + "/" + id
	read := func(in string) (p policyhttp.PolicyReply) {
		t.Helper()
		a.succeed("GET", queries+"/"+id+in, "", &p)
		return p
	}
	if p := read(""); *p.Status != policy.Draft || *p.VersionNumber != 1 || p.PublishedVersionNumber != nil ||
		p.LastPublishedOn != nil || *p.CreatedBy != "c" || p.Published != nil {
		t.Errorf("the new policy is %+v, want a draft of the number 1", p)
	}
	field := a.addField(id, "w", fieldData("a", ""))
	a.succeed("PUT", path+"/lock-workspace?workspaceId=w", "", nil)
	a.refuse(409, "CONFLICT", "DELETE", path+"/fields/"+field+"?workspaceId=w", "")
	if p := read("?workspaceId=w"); !p.IsLocked {
		t.Errorf("got %+v, want it locked", p)
	}
	a.succeed("PUT", path+"/unlock-workspace?workspaceId=w", "", nil)
	a.succeed("PUT", path+"/lock-workspace?workspaceId=w", "", nil)
	a.publish(id, "w") // a locked draft can be published
	if p := read(""); *p.Status != policy.Published || *p.PublishedBy != "c" || !p.Published.Equal(now) ||
		*p.PublishedVersionNumber != 1 || !p.LastPublishedOn.Equal(now) || p.IsLocked {
		t.Errorf("got %+v, want it published and not locked", p)
	}
	a.refuse(404, "policy_draft_not_found", "PUT", path+"/publish?workspaceId=w", "")
	a.draft(id, "two")
	a.refuse(409, "CONFLICT", "POST", path+"/versions/draft", `{"workspaceId":"two"}`)
	a.refuse(409, "CONFLICT", "PUT", path+"/version/2/archive", "")
	a.refuse(409, "CONFLICT", "DELETE", path+"/version/1", "")
	a.refuse(404, "policy_version_not_found", "PUT", path+"/version/9/archive", "")
	a.succeed("DELETE", path+"/fields/"+field+"?workspaceId=two", "", nil)
	a.publish(id, "two")
	a.refuse(409, "CONFLICT", "PUT", path+"/version/1/archive", "")
	a.succeed("PUT", path+"/version/2/archive", `{"archiveReason":"The product has ended"}`, nil)
	if p := read(""); *p.Status != policy.Archived || *p.ArchiveReason != "The product has ended" ||
		p.PublishedVersionNumber != nil || *p.ArchivedBy != "c" {
		t.Errorf("got %+v, want it archived", p)
	}
	var created policyhttp.VersionCreated
	a.succeed("POST", path+"/versions/draft-from-version",
		`{"sourceVersionNumber":1,"workspaceId":"back","versionNote":"n"}`,
		&created)
	if f := a.field(id, field, "?workspaceId=back"); created.VersionNumber != 3 || f.ChangeType != policy.Added {
		t.Errorf("got version %d with %+v, want 3 with the field again", created.VersionNumber, f)
	}
	a.refuse(404, "policy_version_not_found", "POST", path+"/versions/draft-from-version",
		`{"sourceVersionNumber":9,"workspaceId":"x"}`)
	var summary policyhttp.SummaryReply
	a.succeed("GET", queries+"/"+id+"/summary?workspaceId=back", "", &summary)
	if summary.FieldsCount != 1 || len(summary.Drafts) != 1 || summary.Drafts[0].WorkspaceID != "back" {
		t.Errorf("got the summary %+v, want a field and the draft", summary)
	}
	a.succeed("DELETE", path+"/version/3", "", nil)
	a.refuse(404, "policy_version_not_found", "DELETE", path+"/version/3", "")
	a.refuse(404, "policy_version_not_found", "GET", queries+"/"+id+"/versions/3", "")
	if p := read("/versions/1"); *p.Status != policy.Published || *p.WorkspaceID != "w" {
		t.Errorf("version 1 is %+v, want it published from w", p)
	}
}

// A policy whose only draft was discarded has no version.
func TestPolicyWithoutVersions(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	a.succeed("DELETE", commands+"/"+id+"/version/1", "", nil)
	var p policyhttp.PolicyReply
	a.succeed("GET", queries+"/"+id, "", &p)
	if p.Status != nil || p.VersionNumber != nil || p.EntityType != "Company" || *p.CreatedBy != "c" {
		t.Errorf("got %+v, want a policy without a version", p)
	}
	var summary policyhttp.SummaryReply
	a.succeed("GET", queries+"/"+id+"/summary", "", &summary)
	a.succeed("GET", queries, "", nil)
}

// A version that cannot be evaluated is not published, and the reply names field and operand.
func TestPublishRefusesWhatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	bad := a.addField(id, "w", fieldData("a", `,"conditions":[{"operands":[{"operation":"isEmpty","fieldName":"b"},`+
		`{"operands":[{"fieldName":"b","operation":"equal"}]}]}]`))
	cycle := a.addField(id, "w", fieldData("x", `,"formulaSchema":{"formulaString":"{y} + 1"}`))
	a.addField(id, "w", fieldData("y", `,"formulaSchema":{"formulaString":"{x} + 1"}`))
	missing := a.addField(id, "w", collectionData("c", uuid.NewString()))
	publish := commands + "/" + id + "/publish?workspaceId=w"
	p := a.refuse(400, "VALIDATION_ERROR", "PUT", publish, "")
	var named []string
	for _, e := range p.ValidationErrors {
		if e.ValidatorType != "PolicyValidator" || e.AttemptedValue != nil {
			t.Errorf("got %+v, want a PolicyValidator without a value", e)
		}
		named = append(named, e.PropertyName)
	}
	operand := "fields." + bad + ".conditions.0.operands.1.operands.0"
	for _, want := range []string{operand, ".formulaSchema.formulaString", "fields." + missing + ".fieldTypeId"} {
		if !slices.ContainsFunc(named, func(name string) bool { return strings.Contains(name, want) }) {
			t.Errorf("got errors of %v, want one of %s", named, want)
		}
	}
	difftest.Contains(t, "the message", p.ValidationErrors[0].ErrorMessage, `Field "`)
	var reply policyhttp.PolicyReply
	a.succeed("GET", queries+"/"+id, "", &reply)
	difftest.Equal(t, "the refused version", policy.Draft, *reply.Status)
	for _, f := range []string{bad, cycle, missing} {
		a.succeed("DELETE", commands+"/"+id+"/fields/"+f+"?workspaceId=w", "", nil)
	}
	a.publish(id, "w")
}

// A formula that nothing evaluates is stored with a warning, of a policy and of a data group.
func TestPeriodFormulas(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id, field := a.newPolicy(), fieldData("a", `,"dateTimePeriodFormulaSchema":{"formulaString":"{b}"}`)
	fields, existing := commands+"/"+id+"/fields", a.addField(id, "w", fieldData("b", ""))
	groupID := uuid.NewString()
	group := `{"dataGroupId":"` + groupID + `","name":"g","dataGroupFields":[` + field + `]}`
	for _, request := range []struct{ method, path, data string }{
		{"POST", fields + "?workspaceId=w", field},
		{"PUT", fields + "/" + existing + "?workspaceId=w", field},
		{"POST", groupCommands, group},
		{"PUT", groupCommands + "/" + groupID + "/version/1", group},
		{"POST", groupCommands + "/" + groupID, group},
		{"POST", groupCommands + "/" + groupID + "/version/1/draft", ""},
	} {
		body := ""
		if request.data != "" {
			body = envelope(request.data)
		}
		if status, text := a.send(request.method, request.path, body); status != 202 ||
			strings.Count(text, `"errorCode":"period_formula_not_evaluated"`) != 1 {
			t.Errorf("%s %s: got %d %s, want 202 with a warning", request.method, request.path, status, text)
		}
	}
}

// With four eyes, the client of the last change of a draft does not publish it, nor the one that made it.
func TestFourEyes(t *testing.T) {
	t.Parallel()
	maker := newAPI(t).as(func(c *httpapi.Caller) { c.Attributes = map[string]string{"fourEyes": "true"} })
	other := maker.as(func(c *httpapi.Caller) { c.Client = "other" })
	id := maker.newPolicy()
	publish := commands + "/" + id + "/publish?workspaceId=w"
	maker.refuse(403, "four_eyes", "PUT", publish, "")
	field := other.addField(id, "w", fieldData("a", ""))
	other.refuse(403, "four_eyes", "PUT", publish, "")
	maker.succeed("DELETE", commands+"/"+id+"/fields/"+field+"?workspaceId=w", "", nil)
	maker.refuse(403, "four_eyes", "PUT", publish, "")
	other.succeed("PUT", publish, "", nil)
}

// The objects of another tenant are not found by any route.
func TestOtherTenants(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	field := a.addField(id, "w", fieldData("a", ""))
	var jurisdiction policyhttp.JurisdictionCreated
	a.succeed("POST", commands+"/"+id+"/jurisdictions?workspaceId=w", `{"name":"Ireland"}`, &jurisdiction)
	var group policyhttp.GroupChanged
	a.succeed("POST", groupCommands, `{"name":"g",`+oneField+`}`, &group)
	stranger := a.as(func(c *httpapi.Caller) { c.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12" })
	values := strings.NewReplacer("{entityPolicyId}", id, "{versionNumber}", "1", "{fieldId}", field,
		"{jurisdictionId}",
		jurisdiction.JurisdictionID, "{dataGroupId}", group.DataGroupID)
	bodies := map[string]string{"fields": fieldData("a", ""), "jurisdictions": `{"name":"n"}`,
		"draft": `{"workspaceId":"v"}`, "draft-from-version": `{"workspaceId":"v","sourceVersionNumber":1}`,
		"status": `{"status":"Pending"}`, "data-group": `{"name":"g",` + oneField + `}`,
		"query fields": `{}`, "summary": `{"filters":{"categories":["Basic"]}}`}
	tried := 0
	for _, r := range a.routes {
		if !strings.Contains(r.Path, "{") || strings.Contains(r.Path, "{entityType}") {
			continue
		}
		tried++
		stranger.refuseMissing(r, values.Replace(r.Path), bodies)
	}
	if tried < 25 {
		t.Errorf("tried %d routes, want the routes of all objects", tried)
	}
	for _, path := range []string{queries, groupQueries, queries + "/fields/Company/indexable"} {
		var page policyhttp.Page[json.RawMessage]
		if stranger.succeed("GET", path, "", &page); len(page.Items) != 0 {
			t.Errorf("%s shows %s of another tenant", path, page.Items)
		}
	}
}

// refuseMissing calls a route for something that does not exist, with the body that its last fixed segment needs.
func (a *api) refuseMissing(r httpapi.Route, path string, bodies map[string]string) {
	a.t.Helper()
	if strings.HasPrefix(path, commands) && !strings.Contains(path, "/version") {
		path += "?workspaceId=w"
	}
	body := ""
	if r.Method == "POST" || r.Method == "PUT" {
		for segment := range strings.SplitSeq(r.Path, "/") {
			if b, ok := bodies[segment]; ok && !strings.HasSuffix(r.Path, "/revert") {
				body = b
			}
		}
		if strings.HasPrefix(path, queries) && strings.HasSuffix(r.Path, "/fields") {
			body = bodies["query fields"]
		}
		if strings.HasSuffix(r.Path, "/version/{versionNumber}/draft") {
			body = ""
		}
	}
	status, text := a.send(r.Method, path, envelope(body))
	if status != 404 || !strings.Contains(text, `_not_found"`) {
		a.t.Errorf("%s %s %s: got %d %.300s, want 404", r.Method, path, body, status, text)
	}
}

// Every route needs the permission that it names, and PolicyConfigurationAccess.
func TestPermissions(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	values := strings.NewReplacer("{entityPolicyId}", uuid.NewString(), "{versionNumber}", "1", "{fieldId}",
		uuid.NewString(), "{jurisdictionId}", uuid.NewString(), "{dataGroupId}", uuid.NewString(),
		"{entityType}", "Company")
	for _, r := range a.routes {
		for _, missing := range []string{permission.PolicyConfigurationAccess, r.Permissions[0]} {
			lacking := a.as(func(c *httpapi.Caller) {
				c.Permissions = slices.DeleteFunc(slices.Clone(c.Permissions), func(p string) bool {
					return p == missing || missing == r.Permissions[0] && slices.Contains(r.Permissions, p)
				})
			})
			p := lacking.refuse(403, "permission_missing", r.Method, values.Replace(r.Path), "")
			difftest.Contains(t, r.Method+" "+r.Path+": the detail", p.Detail, missing)
		}
	}
}

// The audit trail names the objects that a request has created.
func TestAuditTrail(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	field := a.addField(id, "w", fieldData("secret key", ""))
	a.publish(id, "w")
	for _, want := range []string{fmt.Sprintf(`"entityPolicyId":%q`, id), fmt.Sprintf(`"fieldId":%q`, field),
		`"workspaceId":"w"`, `"versionNumber":"1"`,
		`"route":"/policycommand/api/v2/policies/{entityPolicyId}/publish"`} {
		if !strings.Contains(a.trail.String(), want) {
			t.Errorf("the trail has no %s:\n%s", want, a.trail)
		}
	}
	if strings.Contains(a.trail.String(), "secret key") {
		t.Error("the trail has the contents of a field")
	}
}
