package policyhttp_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
	"sluice/shared/policy/policyhttp"
)

// pages walks through a list whose pages are asked for by parameters, and returns how many pages it has and the items.
func pages[T any](a *api, path string) (sizes []int, items []T) {
	a.t.Helper()
	token := ""
	for {
		var page policyhttp.Page[T]
		a.succeed("GET", path+token, "", &page)
		sizes, items = append(sizes, len(page.Items)), append(items, page.Items...)
		if page.PaginationToken == nil {
			return sizes, items
		}
		token = "&PaginationToken=" + url.QueryEscape(*page.PaginationToken)
	}
}

// Lists come in pages: each item once, no empty page at the end, and tokens are of one list of one tenant.
func TestPages(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	for i := range 4 {
		a.addField(id, "w", fieldData(fmt.Sprint("k", i), `,"isIndexable":true`))
		a.succeed("POST", commands+"/"+id+"/jurisdictions?workspaceId=w", fmt.Sprintf(`{"name":"j%d"}`, i), nil)
		a.succeed("POST", groupCommands, fmt.Sprintf(`{"name":"g%d",`+oneField+`}`, i), nil)
		if i > 0 {
			a.newPolicy()
		}
	}
	a.publish(id, "w")
	for _, w := range []string{"x", "y", "z"} {
		a.draft(id, w)
	}
	check := func(name string, sizes []int, distinct int) {
		t.Helper()
		if !slices.Equal(sizes, []int{2, 2}) || distinct != 4 {
			t.Errorf("%s: got pages of %v with %d different items, want two of two", name, sizes, distinct)
		}
	}
	policies := func(path string) {
		sizes, items := pages[policyhttp.PolicyReply](a, path)
		distinct := map[string]bool{}
		for _, p := range items {
			distinct[fmt.Sprint(p.EntityPolicyID, *p.VersionNumber)] = true
		}
		check(path, sizes, len(distinct))
	}
	policies(queries + "?PageSize=2")
	policies(queries + "/" + id + "/versions?PageSize=2")
	sizes, jurisdictions := pages[policyhttp.JurisdictionReply](a, queries+"/"+id+"/jurisdictions?PageSize=2")
	distinct := map[string]bool{}
	for _, j := range jurisdictions {
		distinct[j.ID] = true
	}
	check("jurisdictions", sizes, len(distinct))
	sizes, groups := pages[policyhttp.GroupHeader](a, groupQueries+"?PageSize=2")
	clear(distinct)
	for _, g := range groups {
		distinct[g.DataGroupID] = true
	}
	check("data groups", sizes, len(distinct))
	sizes, fields := pages[policyhttp.FieldReply](a, queries+"/fields/Company/indexable?PageSize=2")
	clear(distinct)
	for _, f := range fields {
		distinct[f.ID] = true
	}
	check("indexable fields", sizes, len(distinct))
	a.checkSearchPages(id)
}

// checkSearchPages walks through a search, whose pages its body asks for, and uses its token elsewhere.
func (a *api) checkSearchPages(id string) {
	a.t.Helper()
	search := func(filters, token string) (page policyhttp.Page[policyhttp.FieldReply]) {
		a.t.Helper()
		a.succeed("POST", queries+"/"+id+"/fields", `{"filters":`+filters+`,"pageSize":2`+token+`}`, &page)
		return page
	}
	first := search(`{"searchText":"K"}`, "")
	if len(first.Items) != 2 || first.PaginationToken == nil || *first.TotalCount != 4 {
		a.t.Fatalf("got %+v, want two of four", first)
	}
	token := `,"paginationToken":"` + *first.PaginationToken + `"`
	last := search(`{"searchText":"K"}`, token)
	if len(last.Items) != 2 || last.PaginationToken != nil || last.Items[0].ID <= first.Items[1].ID {
		a.t.Errorf("got %+v, want the last two", last)
	}
	another := queries + "/" + id + "/fields"
	a.refuseProperty("paginationToken", "PaginationTokenValidator", "POST", another,
		`{"filters":{"searchText":"k"}`+token+`}`)
	a.refuseProperty("paginationToken", "PaginationTokenValidator", "POST", queries+"/"+id+"/version/1/fields",
		`{"filters":{"searchText":"K"},"pageSize":2`+token+`}`)
	a.refuseProperty("PaginationToken", "PaginationTokenValidator", "GET",
		queries+"?PaginationToken="+url.QueryEscape(*first.PaginationToken), "")
	var page policyhttp.Page[policyhttp.PolicyReply]
	a.succeed("GET", queries+"?PageSize=1", "", &page)
	stranger := a.as(func(c *httpapi.Caller) { c.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12" })
	stranger.refuseProperty("PaginationToken", "PaginationTokenValidator", "GET",
		queries+"?PageSize=1&PaginationToken="+url.QueryEscape(*page.PaginationToken), "")
}

// A search returns the fields that match all of its filters.
func TestSearchFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	const ireland = "9a7b6c5d-4e3f-4a2b-8c1d-0e9f8a7b6c5d"
	a.addField(id, "w", fieldData("legalName", `,"targetEntities":["Client"],"isJourneyLevelData":true`))
	a.addField(id, "w", fieldData("taxNumber", `,"jurisdictionIds":["`+ireland+`"]`))
	a.addField(id, "w", `{"name":"Rôle","dataKey":"role","fieldType":"TextBox","categories":["Ownership"]}`)
	for filters, want := range map[string]string{
		`{}`:                                   "legalName role taxNumber",
		`{"categories":["Basic"]}`:             "legalName taxNumber",
		`{"categories":["basic"]}`:             "",
		`{"categories":["Ownership","x"]}`:     "role",
		`{"targetEntities":["Client"]}`:        "legalName role taxNumber",
		`{"targetEntities":["Related Party"]}`: "role taxNumber",
		`{"journeyLevelDataOnly":true}`:        "legalName",
		`{"jurisdictionIds":["` + strings.ToUpper(ireland) + `"]}`:     "legalName role taxNumber",
		`{"jurisdictionIds":["00000000-0000-4000-8000-000000000000"]}`: "legalName role",
		`{"dataKeys":["role","taxNumber","x"]}`:                        "role taxNumber",
		`{"changeTypes":["Added"]}`:                                    "legalName role taxNumber",
		`{"changeTypes":["Unchanged"]}`:                                "",
		`{"searchText":"RÔLE"}`:                                        "role",
		`{"searchText":"NUMBER","categories":["Basic"]}`:               "taxNumber",
		`{"searchText":"number","categories":["Ownership"]}`:           "",
	} {
		var page policyhttp.Page[policyhttp.FieldReply]
		a.succeed("POST", queries+"/"+id+"/fields?workspaceId=w", `{"filters":`+filters+`}`, &page)
		var keys []string
		for _, f := range page.Items {
			keys = append(keys, f.DataKey)
		}
		slices.Sort(keys)
		difftest.Equal(t, filters, []any{want, len(keys)}, []any{strings.Join(keys, " "), *page.TotalCount})
	}
}

// The summary has the fields of categories by their data keys, with their mandatory types.
func TestSummarizeFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	rule := func(text string) string { return `,"validationRules":{"mandatory":` + text + `}` }
	dynamic := `"dynamicRules":[{"operands":[{"fieldName":"a","operation":"isEmpty"}],"value":{"errorMessage":"m"},` +
		`"priority":1}]`
	a.addField(id, "w", fieldData("a", rule(`{"isActive":true,"staticRule":{"errorMessage":"m"}}`)))
	a.addField(id, "w", fieldData("a", ""))
	a.addField(id, "w", fieldData("b", rule(`{"isActive":true,`+dynamic+`}`)))
	a.addField(id, "w", fieldData("c", rule(`{"isActive":false,"staticRule":{"errorMessage":"m"}}`)))
	a.addField(id, "w", fieldData("f", rule(`{"isActive":true}`)))
	a.addField(id, "w", `{"name":"d","dataKey":"d","fieldType":"TextBox","categories":["Other"]}`)
	deleted := a.addField(id, "w", fieldData("e", ""))
	a.publish(id, "w")
	a.draft(id, "v")
	a.succeed("DELETE", commands+"/"+id+"/fields/"+deleted+"?workspaceId=v", "", nil)
	var summary policyhttp.FieldsSummary
	a.succeed("POST", queries+"/"+id+"/fields/summary?workspaceId=v", `{"filters":{"categories":["Basic"]}}`, &summary)
	got := map[string][]policyhttp.MandatoryType{}
	for key, fields := range summary.FieldsByDataKey {
		for _, f := range fields {
			got[key] = append(got[key], f.MandatoryType)
		}
		slices.Sort(got[key])
	}
	want := "map[a:[Optional Required] b:[Conditional] c:[Optional] f:[Required]]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A data group goes through its statuses, and every change of a version is one of the revision that was read.
func TestDataGroups(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var g policyhttp.GroupChanged
	a.succeed("POST", groupCommands, `{"name":"g",`+oneField+`}`, &g)
	version := groupCommands + "/" + g.DataGroupID + "/version/1"
	become := func(status policy.DataGroupStatus, more string) {
		t.Helper()
		a.succeed("PUT", version+"/status", fmt.Sprintf(`{"status":%q%s}`, status, more), &g)
		difftest.Equal(t, "Status", status, g.Status)
	}
	a.succeed("PUT", version, fmt.Sprintf(`{"name":"h","primaryDataGroupField":"role","revision":%d,`+oneField+`}`,
		g.Revision), &g)
	a.refuse(409, "CONFLICT", "PUT", version, fmt.Sprintf(`{"name":"h","revision":%d,`+oneField+`}`, g.Revision-1))
	a.refuse(409, "CONFLICT", "PUT", version+"/status", fmt.Sprintf(`{"status":"Pending","revision":%d}`, g.Revision-1))
	cannotBecome := func(status, want string) {
		t.Helper()
		if p := a.refuse(409, "CONFLICT", "PUT", version+"/status", `{"status":"`+status+`"}`); p.Detail != want {
			t.Errorf("the detail is %q, want %q", p.Detail, want)
		}
	}
	cannotBecome("Published", "A version that is Draft can become Pending or Deleted, not Published.")
	become(policy.DataGroupPending, fmt.Sprintf(`,"revision":%d`, g.Revision))
	a.refuse(409, "CONFLICT", "PUT", version, `{"name":"h",`+oneField+`}`)
	become(policy.DataGroupRejected, `,"reason":"no"`)
	become(policy.DataGroupDraft, "")
	become(policy.DataGroupPending, "")
	become(policy.DataGroupPublished, "")
	a.succeed("POST", version+"/draft", "", &g)
	if g.VersionNumber != 2 || g.Status != policy.DataGroupDraft {
		t.Errorf("got %+v, want version 2, a draft", g)
	}
	var newest, first policy.DataGroup
	a.succeed("GET", groupQueries+"/"+g.DataGroupID, "", &newest)
	a.succeed("GET", groupQueries+"/"+g.DataGroupID+"/version/1", "", &first)
	if newest.Version != 2 || newest.Name != "h" || newest.PrimaryField != "role" || len(newest.Fields) != 1 ||
		first.Status != policy.DataGroupPublished || newest.Fields[0].ID != first.Fields[0].ID {
		t.Errorf("got %+v after %+v, want version 2 like version 1", newest, first)
	}
	id := a.newPolicy()
	a.addField(id, "w", collectionData("owners", strings.ToUpper(g.DataGroupID)))
	a.publish(id, "w")
	cannotBecome("Draft", "A version that is Published can become Archived, not Draft.")
	become(policy.DataGroupArchived, "")
	cannotBecome("Published", "A version that is Archived keeps its status: it cannot become Published.")
	a.refuse(404, "data_group_not_found", "GET", groupQueries+"/"+g.DataGroupID+"/version/3", "")
	a.refuse(404, "data_group_not_found", "PUT", groupCommands+"/x/version/1", `{"name":"h",`+oneField+`}`)
}

// Each status of a data group needs the permission of those who decide it.
func TestPermissionsOfStatuses(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var g policyhttp.GroupChanged
	a.succeed("POST", groupCommands, `{"name":"g",`+oneField+`}`, &g)
	path := groupCommands + "/" + g.DataGroupID + "/version/1/status"
	for status, needed := range map[string]string{"Draft": "Edit", "Pending": "Edit", "Deleted": "Edit",
		"Published": "Approve", "Rejected": "Approve", "Archived": "Archive"} {
		lacking := a.as(func(c *httpapi.Caller) {
			c.Permissions = slices.DeleteFunc(slices.Clone(c.Permissions), func(p string) bool {
				return p == "PolicyConfiguration"+needed
			})
		})
		p := lacking.refuse(403, "permission_missing", "PUT", path, `{"status":"`+status+`"}`)
		if !strings.Contains(p.Detail, "PolicyConfiguration"+needed) {
			t.Errorf("%s: the detail is %q, want it to name %s", status, p.Detail, needed)
		}
	}
}
