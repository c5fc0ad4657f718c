package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// enterNew makes a client of a tenant of the shared home and enters as it.
func enterNew(t *testing.T, tenant string, options ...string) *door {
	t.Helper()
	var c struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if err := home.admin(&c, append([]string{"client", "create", "--tenant", tenant}, options...)...); err != nil {
		t.Fatal(err)
	}
	at := *home
	at.TenantID, at.Scope = tenant, "tenant/"+tenant
	return enterAs(t, &at, c.ID, c.Secret, at.Scope)
}

// stranger is a client of another tenant of the shared home, which may do everything there.
func stranger(t *testing.T) *door {
	t.Helper()
	var made struct {
		TenantID string `json:"tenant_id"`
	}
	if err := home.admin(&made, "tenant", "create"); err != nil {
		t.Fatal(err)
	}
	return enterNew(t, made.TenantID)
}

// Every operation lets in the permissions that the contract names for it, and no other; and one token serves both interfaces.
func TestPermissionsOfEntityOperations(t *testing.T) {
	const edit, groupEdit, approve, search, groupSearch = "EntityDataEdit", "EntityGroupManagementEdit", "EntityDataApprove",
		"EntityDataAccessAndSearch", "EntityGroupManagementAccessAndSearch"
	d := enter(t, home)
	e := d.newEntity("")
	draft := entityCommand + "/" + e + "/draft/" + d.newDraft(e, uuid.NewString())
	edits, searches := []string{edit, groupEdit}, []string{search, groupSearch}
	operations := []struct {
		method, path string
		allowed      []string
	}{
		{"POST", entityCommand, edits}, {"POST", entityCommand + "/full", edits}, {"POST", entityCommand + "/" + e + "/draft", edits}, {"PUT", draft, edits},
		{"PUT", draft + "/verify", []string{approve}}, {"PUT", strings.Replace(draft, e, uuid.NewString(), 1) + "/reject", []string{approve}},
		{"GET", entityQuery + "/entity/" + e, searches}, {"GET", entityQuery + strings.TrimPrefix(draft, "/entitydatacommand/api/v2"), searches},
		{"POST", entityQuery + "/entity/drafts/names", searches}, {"POST", entityQuery + "/entity/search-entity-drafts", searches},
		{"POST", entityQuery + "/drafts-in-scope/searchentitydrafts", searches}, {"POST", lightSearch, searches},
		{"POST", entityQuery + "/entity/drafts/partial-properties", nil},
	}
	for _, o := range operations {
		for tenant, want := range map[string]string{"": "400 MissingTenantHeader", uuid.NewString(): "403 TenantMismatch"} {
			status, _, text := d.platformAs(tenant, o.method, o.path, "")
			if code, name, _ := strings.Cut(want, " "); fmt.Sprint(status) != code || !strings.Contains(string(text), name) {
				t.Errorf("%s for tenant %q: %d %s", o.path, tenant, status, text)
			}
		}
	}
	for _, permission := range []string{edit, groupEdit, approve, search, groupSearch, "BatchRead"} {
		c := enterNew(t, home.TenantID, "--permission", permission)
		for _, o := range operations {
			body := ""
			if o.method != "GET" {
				body = `{"data":{}}`
			}
			status, said, _ := c.complaint(o.method, o.path, body)
			allowed := o.allowed == nil || slices.Contains(o.allowed, permission)
			if allowed == (status == 403) || !allowed && !strings.Contains(said, strings.Join(o.allowed, " or ")) {
				t.Errorf("%s with %s: %d %s", o.path, permission, status, said)
			}
		}
		if status, _, _ := c.call("GET", base+"batch/status/"+uuid.NewString(), "", ""); (status == 403) != (permission != "BatchRead") {
			t.Errorf("a batch with %s: %d", permission, status)
		}
	}
	both := enterNew(t, home.TenantID, "--permission", "BatchUpload", "--permission", search)
	both.newBatch("")
	both.take("GET", entityQuery+"/entity/"+e, "", nil)
}

// What belongs to another tenant is answered word for word as what is not there.
func TestOtherTenantsEntities(t *testing.T) {
	d, other := enter(t, home), stranger(t)
	journey := uuid.NewString()
	e := d.newEntity("")
	draft := d.newDraft(e, journey)
	mine := other.newEntity("")
	for _, o := range []struct {
		status             int
		method, path, body string
	}{
		{404, "GET", entityQuery + "/entity/{e}", ""},
		{404, "GET", entityQuery + "/entity/{e}/draft/{d}", ""},
		{404, "GET", entityQuery + "/entity/" + mine + "/draft/{d}", ""},
		{404, "POST", entityCommand + "/{e}/draft", `{"data":{"journeyId":"{j}"}}`},
		{404, "POST", entityCommand + "/" + mine + "/draft", `{"data":{"journeyId":"{j}","parentDraftId":"{d}"}}`},
		{404, "PUT", entityCommand + "/{e}/draft/{d}", `{"data":{"properties":{},"version":1}}`},
		{404, "PUT", entityCommand + "/{e}/draft/{d}/verify", `{"data":{"version":-1}}`},
		{404, "PUT", entityCommand + "/{e}/draft/{d}/reject", ""},
		{200, "POST", entityQuery + "/entity/drafts/partial-properties", `{"data":{"draftIds":["{d}"],"requestedPropertiesDataKeys":["name"]}}`},
		{200, "POST", entityQuery + "/entity/drafts/names", `{"data":{"journeyId":"{j}","entityIds":["{e}"]}}`},
		{200, "POST", entityQuery + "/entity/search-entity-drafts", `{"data":{"journeyId":"{j}"}}`},
		{200, "POST", entityQuery + "/drafts-in-scope/searchentitydrafts", `{"data":{"journeyId":"{j}","entityIds":["{e}"]}}`},
		{200, "POST", lightSearch, `{"data":{"journeyId":"{j}"}}`},
	} {
		ask := func(e, d, j string) (int, string) {
			ids := strings.NewReplacer("{e}", e, "{d}", d, "{j}", j)
			status, _, text := other.platformAs(other.home.TenantID, o.method, ids.Replace(o.path), ids.Replace(o.body))
			return status, string(text)
		}
		status, theirs := ask(e, draft, journey)
		if _, nothing := ask(uuid.NewString(), uuid.NewString(), uuid.NewString()); status != o.status || theirs != nothing {
			t.Errorf("%s %s: %d %s; of what is not there: %s", o.method, o.path, status, theirs, nothing)
		}
	}
	d.lives(e, "OnboardingInProgress")
}

// Access layers: in both dimensions, for all ways to reach an entity and its drafts.
func TestLayersOfDrafts(t *testing.T) {
	spain := enterNew(t, home.TenantID, "--geographic", "Spain")
	retail := enterNew(t, home.TenantID, "--geographic", "Spain", "--business-related", "Retail")
	plain := enterNew(t, home.TenantID)
	journey := uuid.NewString()
	drafts := map[string]string{}
	var ids []string
	for name, layers := range map[string]string{"open": "", "spain": `,"accessLayers":{"geographic":["Spain"]}`,
		"both": `,"accessLayers":{"geographic":["Spain"],"businessRelated":["Retail"]}`, "either": `,"accessLayers":{"geographic":["France","Spain"],"businessRelated":["Enterprise","Retail"]}`} {
		drafts[name] = retail.newDraft(retail.newEntity(layers), journey)
		ids = append(ids, fmt.Sprintf("%q", drafts[name]))
	}
	for name, tt := range map[string]struct {
		d     *door
		sees  []string
		reach [3]int // accessible, inaccessible, forbidden
	}{
		"plain": {plain, []string{"open"}, [3]int{1, 2, 1}}, "spain": {spain, []string{"open", "spain", "either"}, [3]int{3, 1, 0}},
		"retail": {retail, []string{"open", "spain", "either", "both"}, [3]int{4, 0, 0}},
	} {
		var want []string
		for _, name := range tt.sees {
			want = append(want, drafts[name])
		}
		same := func(how string, got []string) {
			t.Helper()
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("%s by %s: %v, want %v", name, how, got, want)
			}
		}
		var all []draftView
		tt.d.take("POST", entityQuery+"/drafts-in-scope/searchentitydrafts", fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey), &all)
		same("search", idsOf(all, func(v draftView) string { return v.ID }))
		light, _ := tt.d.walk(journey, 3, 0)
		same("light search", idsOf(light, func(i lightItem) string { return i.EntityDraftId }))
		var partial struct{ Items []struct{ DraftID string } }
		tt.d.take("POST", entityQuery+"/entity/drafts/partial-properties", `{"data":{"draftIds":[`+strings.Join(ids, ",")+`]}}`, &partial)
		same("partial properties", idsOf(partial.Items, func(i struct{ DraftID string }) string { return i.DraftID }))
		var reach map[string][]json.RawMessage
		tt.d.take("POST", entityQuery+"/entity/search-entity-drafts", fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey), &reach)
		if got := [3]int{len(reach["accessibleEntityDrafts"]), len(reach["inaccessibleEntityDrafts"]), len(reach["forbiddenEntityDrafts"])}; got != tt.reach {
			t.Errorf("%s: %v, want %v", name, got, tt.reach)
		}
	}
}

func idsOf[T any](all []T, id func(T) string) []string {
	var out []string
	for _, v := range all {
		out = append(out, id(v))
	}
	return out
}

// A paging token counts for its own search in its own tenant, whole and unchanged; the size of the pages is free.
func TestPagingTokens(t *testing.T) {
	d, other := enter(t, home), stranger(t)
	journey, e := uuid.NewString(), d.newEntity("")
	for range 3 {
		d.newDraft(e, journey)
	}
	body := func(journey, more, options string) string {
		return fmt.Sprintf(`{"data":{"journeyId":%q%s,"pageOptions":{%s}}}`, journey, more, options)
	}
	var page lightPage
	d.take("POST", lightSearch, body(journey, "", `"pageSize":1`), &page)
	token := *page.PaginationToken
	with := func(token string) string { return fmt.Sprintf(`"paginationToken":%q`, token) }
	if d.take("POST", lightSearch, body(strings.ToUpper(journey), "", `"pageSize":2,"sortOrder":0,`+with(token)), &page); len(page.Items) != 2 {
		t.Errorf("%+v", page)
	}
	if d.take("POST", lightSearch, body(journey, "", with("")), &page); len(page.Items) != 3 || page.PaginationToken != nil {
		t.Errorf("%+v", page)
	}
	only := fmt.Sprintf(`,"entityIds":[%q]`, e)
	for name, bad := range map[string]string{
		"another journey": body(uuid.NewString(), "", with(token)), "another order": body(journey, "", `"sortOrder":1,`+with(token)),
		"other entities": body(journey, only, with(token)), "no entities": body(journey, `,"entityIds":[]`, with(token)),
		"cut": body(journey, "", with(token[:len(token)-1])), "longer": body(journey, "", with(token+"A")), "nonsense": body(journey, "", with("first")),
		"padded": body(journey, "", with(token+"=")), "changed": body(journey, "", with(token[:9]+string(token[9]^1)+token[10:])),
	} {
		status, _, data := d.complaint("POST", lightSearch, bad)
		if status != 400 || !strings.Contains(string(data), "PaginationTokenValidator") || !strings.Contains(string(data), "pageOptions.paginationToken") {
			t.Errorf("%s: %d %s", name, status, data)
		}
	}
	if status, _, data := other.complaint("POST", lightSearch, body(journey, "", with(token))); status != 400 || !strings.Contains(string(data), "PaginationTokenValidator") {
		t.Errorf("another tenant's: %d %s", status, data)
	}
}

// Pages have 1 to 500 items, 100 by default.
func TestPageSizes(t *testing.T) {
	d := enter(t, home)
	journey := uuid.NewString()
	want := fill(t, d, journey, 501)
	for options, n := range map[string]int{``: 100, `,"pageOptions":null`: 100, `,"pageOptions":{}`: 100, `,"pageOptions":{"pageSize":null,"sortOrder":null}`: 100,
		`,"pageOptions":{"pageSize":1}`: 1, `,"pageOptions":{"pageSize":2}`: 2, `,"pageOptions":{"pageSize":499}`: 499, `,"pageOptions":{"pageSize":500}`: 500} {
		var page lightPage
		d.take("POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q%s}}`, journey, options), &page)
		if len(page.Items) != n || !slices.Equal(page.Items, want[:n]) || page.PaginationToken == nil {
			t.Errorf("%s: %d items", options, len(page.Items))
		}
	}
	for _, size := range []int{0, 501} {
		d.ends(400, "POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q,"pageOptions":{"pageSize":%d}}}`, journey, size))
	}
	few := fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q,%q]}}`, journey, strings.ToUpper(want[499].EntityId), want[250].EntityId)
	var page lightPage
	if d.take("POST", lightSearch, few, &page); !slices.Equal(page.Items, []lightItem{want[250], want[499]}) || page.PaginationToken != nil {
		t.Errorf("%+v", page)
	}
}

// An entity is called what its draft in the journey says, or else what it says itself.
func TestNamesInAJourney(t *testing.T) {
	d := enter(t, home)
	journey := uuid.NewString()
	named := func(name string) string {
		return d.newEntity(`,"properties":{"fullName":{"type":"Single","value":"` + name + `"}}`)
	}
	with, without := named("Old"), named("Own")
	draft := d.newDraft(with, journey)
	d.take("PUT", entityCommand+"/"+with+"/draft/"+draft, value("fullName", "New", 1), nil)
	var names struct {
		EntityDraftNames []struct {
			EntityID, Name string
			EntityDraftID  *string
			Version        int64
		}
	}
	d.take("POST", entityQuery+"/entity/drafts/names", fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q,%q,%q]}}`, journey, without, with, uuid.NewString()), &names)
	n := names.EntityDraftNames
	if len(n) != 2 || n[0].Name != "New" || *n[0].EntityDraftID != draft || n[0].Version != 2 || n[1].EntityID != without || n[1].Name != "Own" || n[1].EntityDraftID != nil {
		t.Errorf("%+v", n)
	}
}
