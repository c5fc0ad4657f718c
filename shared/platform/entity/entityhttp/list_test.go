package entityhttp_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/platform/property"
)

// list reads all pages of a list and returns the entities.
func (a *api) list(parameters url.Values) []wire.ListedEntity {
	a.t.Helper()
	var all []wire.ListedEntity
	for range 100 {
		var page wire.EntityPage
		a.succeed("GET", query+"/entity?"+parameters.Encode(), "", &page)
		if all = append(all, page.Items...); page.PaginationToken == nil {
			return all
		}
		parameters.Set("paginationToken", *page.PaginationToken)
	}
	a.t.Fatal("the list does not end after 100 pages")
	return nil
}

// Entities made on the platform and imported ones are listed as they are, by name, status and reach.
func TestListOfEntities(t *testing.T) {
	a := newAPI(t)
	made := a.createEntity("")
	a.caller.Layers = access.Layers{BusinessRelated: []string{"Retail"}}
	a.createEntity(`,"accessLayers":{"businessRelated":["Retail"]}`) // out of reach from now on
	a.caller.Layers = access.Layers{}
	var entries []entity.Import
	for i := range 20 {
		name := fmt.Sprintf("Bank %02d", i)
		entries = append(entries, entity.Import{ID: fmt.Sprint("bank#", i), Type: "Company",
			Status:     []entity.LifecycleStatus{entity.Compliant, entity.ClientOffboarded}[i%2],
			Properties: map[string]property.Property{"name": {Type: property.Single, Value: &name}}})
	}
	errtest.Fatal(t, errtest.Of(a.profiles.Import(t.Context(), tenant, entries, entity.ImportOptions{At: now})))
	want := wire.ListedEntity{ID: made, Type: "Company", Name: "ACME", LifecycleStatus: "Unknown",
		Version: 1}
	if got := a.list(url.Values{"name": {"acme"}}); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want only %+v", got, want)
	}
	for _, c := range []struct {
		parameters url.Values
		want       int
	}{
		{url.Values{}, 21}, {url.Values{"pageSize": {"3"}}, 21}, {url.Values{"name": {"BANK 1"}, "pageSize": {"10"}},
			10},
		{url.Values{"status": {"ClientOffboarded"}, "pageSize": {"5"}}, 10}, {url.Values{"name": {"nobody"}}, 0},
	} {
		if got := a.list(c.parameters); len(got) != c.want {
			t.Errorf("%v: %d entities, want %d", c.parameters, len(got), c.want)
		}
	}
	var page wire.EntityPage
	if a.succeed("GET", query+"/entity?pageSize=21", "", &page); page.PaginationToken != nil {
		t.Error("a full last page has a token, want null")
	}

	// A list has a verified draft at once.
	d := a.createDraft(made)
	a.succeed("PUT", command+"/"+made+"/draft/"+d,
		`{"data":{"version":1,"properties":{"legalEntityName":{"type":"Single","value":"Zenith"}}}}`, nil)
	a.succeed("PUT", command+"/"+made+"/draft/"+d+"/verify", `{"data":{"version":2}}`, nil)
	want = wire.ListedEntity{ID: made, Type: "Company", Name: "Zenith", LifecycleStatus: "Compliant",
		Version: 2}
	if got := a.list(url.Values{"name": {"zen"}}); len(got) != 1 || got[0] != want ||
		len(a.list(url.Values{"name": {"acme"}})) != 0 {
		t.Errorf("got %+v, want only %+v, and nothing under the old name", got, want)
	}

	// An imported entity is whole.
	var e entityhttp.Entity
	a.succeed("GET", query+"/entity/"+url.PathEscape("bank#0"), "", &e)
	if e.Type != "Company" || e.Role != entity.DefaultRole || e.Created == nil || e.Version != 1 {
		t.Errorf("got %+v, want a Company with a role, a time of creation and version 1", e)
	}
}

func TestBadLists(t *testing.T) {
	a := newAPI(t)
	a.createEntity("")
	a.createEntity("")
	var page wire.EntityPage
	a.succeed("GET", query+"/entity?pageSize=1", "", &page)
	token := url.QueryEscape(*page.PaginationToken)
	for _, parameters := range []string{
		"pageSize=0", "pageSize=501", "pageSize=x", "status=compliant", "paginationToken=", "paginationToken=x",
		"nmae=x", "Name=x", "limit=1",
		"name=x&paginationToken=" + token, "name=" + strings.Repeat("x", platform.MaxName+1), "name=a&name=b",
	} {
		a.expectStatus(400, "GET", query+"/entity?"+parameters, "")
	}
	a.expectStatus(200, "GET", query+"/entity?pageSize=1&paginationToken="+token, "")
	a.caller.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	a.expectStatus(400, "GET", query+"/entity?pageSize=1&paginationToken="+token, "")
	difftest.Len(t, "another tenant lists", 0, a.list(url.Values{}))
}

// With four_eyes, a client that made a draft, changed it, or made the draft from which it began, does not verify it.
func TestFourEyes(t *testing.T) {
	a := newAPI(t)
	e := a.createEntity("")
	as := func(client, fourEyes string) {
		a.caller.Client, a.caller.Attributes = client, map[string]string{"fourEyes": fourEyes}
	}
	as("maker", "true")
	d := a.createDraft(e)
	verify := command + "/" + e + "/draft/" + d + "/verify"
	a.expectStatus(403, "PUT", verify, `{"data":{"version":-1}}`)
	difftest.Equal(t, "code", "four_eyes", a.messages[0].ErrorCode)
	as("helper", "true")
	a.succeed("PUT", command+"/"+e+"/draft/"+d,
		`{"data":{"version":-1,"properties":{"city":{"type":"Single","value":"Bonn"}}}}`, nil)
	a.expectStatus(403, "PUT", verify, `{"data":{"version":-1}}`)
	var child struct {
		ID string `json:"id"`
	}
	as("checker", "true")
	a.succeed("POST", command+"/"+e+"/draft", `{"data":{"journeyId":"`+journey+`","parentDraftId":"`+d+`"}}`, &child)
	as("maker", "true")
	a.expectStatus(403, "PUT", command+"/"+e+"/draft/"+child.ID+"/verify", `{"data":{"version":-1}}`)
	as("checker", "true")
	a.expectStatus(202, "PUT", verify, `{"data":{"version":-1}}`)
	as("maker", "")
	a.expectStatus(202, "PUT", command+"/"+e+"/draft/"+child.ID+"/verify", `{"data":{"version":-1}}`)
}
