package entityhttp_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entityhttp"
	"sluice/shared/platform/entity/entitytest"
	"sluice/shared/platform/property"
)

func TestLightSearch(t *testing.T) {
	a := newAPI(t)
	a.caller.Layers = access.Layers{Geographic: []string{"Ireland"}}
	var want, owners []string
	for i := range 7 {
		layer := []string{"", `,"accessLayers":{"geographic":["Ireland"]}`,
			`,"accessLayers":{"geographic":["Spain"]}`}[i%3]
		a.caller.Layers.Geographic = []string{"Ireland", "Spain"}
		e := a.createEntity(layer)
		d := a.createDraft(e)
		if a.caller.Layers.Geographic = []string{"Ireland"}; i%3 != 2 {
			want, owners = append(want, d), append(owners, e)
		}
	}
	body := func(options string) string { return `{"data":{"journeyId":"` + journey + `"` + options + `}}` }
	readAll := func(size int, order int) []string {
		var got []string
		for token, most := "null", max(1, (5+size-1)/size); ; most-- {
			var page wire.LightPage
			a.succeed("POST", light, body(fmt.Sprintf(
				`,"pageOptions":{"pageSize":%d,"sortOrder":%d,"paginationToken":%s}`, size, order, token)), &page)
			for _, m := range page.Items {
				got = append(got, m.EntityDraftID)
			}
			if page.PaginationToken == nil {
				return got
			}
			if token = `"` + *page.PaginationToken + `"`; most == 1 {
				t.Errorf("another page follows the last draft in pages of %d", size)
			}
		}
	}
	for _, size := range []int{1, 2, 5, 7, 8, 500} { // of a page
		if got := readAll(size, 0); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("pages of %d: got %v, want %v", size, got, want)
		}
	}
	if got := readAll(2, 1); len(got) != len(want) || got[0] != want[len(want)-1] {
		t.Errorf("in descending order: got %v, want %v in reverse", got, want)
	}
	var raw struct {
		Items []map[string]string `json:"items"`
		Token *string             `json:"paginationToken"`
	}
	a.succeed("POST", light, body(`,"entityIds":["`+strings.ToUpper(owners[1])+`"]`), &raw)
	if len(raw.Items) != 1 || raw.Items[0]["EntityId"] != owners[1] || raw.Items[0]["EntityDraftId"] != want[1] ||
		len(raw.Items[0]) != 2 {
		t.Errorf("got %+v, want the draft %s of %s under EntityDraftId and EntityId", raw, want[1], owners[1])
	}
	a.succeed("POST", light, body(`,"pageOptions":{"pageSize":1}`), &raw)
	next := func(extra string) string {
		return body(extra + `,"pageOptions":{"pageSize":1,"paginationToken":"` + *raw.Token + `"}`)
	}
	a.succeed("POST", light, next(""), nil)
	a.succeed("POST", light, strings.Replace(next(""), `"pageSize":1`, `"pageSize":2,"sortOrder":0`, 1), nil)
	a.expectStatus(400, "POST", light, next(`,"entityIds":["`+owners[0]+`"]`))
	a.expectStatus(400, "POST", light, body(`,"pageOptions":{"sortOrder":1,"paginationToken":"`+*raw.Token+`"}`))
	a.expectStatus(400, "POST", light, strings.Replace(next(""), journey, owners[0], 1))
	a.expectStatus(400, "POST", light, body(`,"pageOptions":{"paginationToken":"x"}`))
	a.caller.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	a.expectStatus(400, "POST", light, next(""))
	if got := readAll(500, 0); got != nil {
		t.Errorf("another tenant sees %v", got)
	}
}

func TestOtherSearches(t *testing.T) {
	a := newAPI(t)
	open := a.createEntity("")
	a.caller.Layers = access.Layers{Geographic: []string{"Spain"}, BusinessRelated: []string{"Retail"}}
	half := a.createEntity(`,"accessLayers":{"geographic":["Spain"]}`)
	none := a.createEntity(`,"accessLayers":{"geographic":["Spain"],"businessRelated":["Retail"]}`)
	drafts := map[string]string{open: a.createDraft(open), half: a.createDraft(half), none: a.createDraft(none)}
	a.caller.Layers = access.Layers{}
	search := `{"data":{"journeyId":"` + journey + `"}}`
	var reach entityhttp.DraftsByReach
	a.succeed("POST", query+"/entity/search-entity-drafts", search, &reach)
	if len(reach.AccessibleEntityDrafts) != 1 || len(reach.InaccessibleEntityDrafts) != 1 ||
		len(reach.ForbiddenEntityDrafts) != 1 ||
		reach.AccessibleEntityDrafts[0].ID != drafts[open] || reach.InaccessibleEntityDrafts[0].Name != "ACME" ||
		reach.ForbiddenEntityDrafts[0].ID != drafts[none] {
		t.Errorf("got %+v, want one draft of each kind: %v", reach, drafts)
	}
	var all []entityhttp.EntityDraft
	a.succeed("POST", query+"/drafts-in-scope/searchentitydrafts", search, &all)
	if len(all) != 1 || all[0].ID != drafts[open] {
		t.Errorf("got %+v, want the draft %s", all, drafts[open])
	}
	var names wire.DraftNames
	a.succeed("POST", query+"/entity/drafts/names",
		`{"data":{"journeyId":"`+journey+`","entityIds":["`+open+`","`+half+`"]}}`, &names)
	if n := names.EntityDraftNames; len(n) != 1 || *n[0].EntityDraftID != drafts[open] || n[0].EntityID != open ||
		n[0].Name != "ACME" {
		t.Errorf("got %+v, want ACME of the draft %s", names, drafts[open])
	}
	a.caller.Permissions = []string{"BatchRead"} // partial properties are for everyone
	var partial wire.PartialProperties
	ids := `["` + drafts[open] + `","` + drafts[half] + `","` + uuid.NewString() + `"]`
	a.succeed("POST", query+"/entity/drafts/partial-properties",
		`{"data":{"draftIds":`+ids+`,"requestedPropertiesDataKeys":["city","x"]}}`, &partial)
	city := map[string]any{"type": "Single", "value": "Cork"}
	if len(partial.Items) != 1 || len(partial.Items[0].PartialProperties) != 1 ||
		!reflect.DeepEqual(partial.Items[0].PartialProperties["city"], city) {
		t.Errorf("got %+v, want city: Cork of one draft", partial)
	}
	var noKeys wire.PartialProperties
	a.succeed("POST", query+"/entity/drafts/partial-properties",
		`{"data":{"draftIds":`+ids+`,"requestedPropertiesDataKeys":null}}`, &noKeys)
	if len(noKeys.Items) != 1 || len(noKeys.Items[0].PartialProperties) != 0 {
		t.Errorf("got %+v, want one draft without properties", noKeys)
	}
	a.expectStatus(403, "POST", query+"/entity/search-entity-drafts", search)
	a.expectStatus(403, "GET", query+"/entity/"+open, "")
	a.expectStatus(403, "POST", command, `{"data":{}}`)
}

// The drafts of few entities are found in a long journey, in pages that are filled as far as they may be.
func TestLightSearchOfFewEntities(t *testing.T) {
	a := newAPI(t)
	var wanted, all []string
	for i := range 40 {
		e, d := uuid.NewString(), uuid.NewString()
		a.storeDraft(e, d, i, "")
		if all = append(all, d); i == 3 || i >= 38 {
			wanted = append(wanted, e)
		}
	}
	var page wire.LightPage
	few := `"journeyId":"` + journey + `","entityIds":["` + strings.Join(wanted, `","`) + `"]`
	a.succeed("POST", light, `{"data":{`+few+`,"pageOptions":{"pageSize":2}}}`, &page)
	if len(page.Items) != 2 || page.PaginationToken == nil || page.Items[0].EntityDraftID != all[3] ||
		page.Items[1].EntityDraftID != all[38] {
		t.Fatalf("first page: got %+v, want the drafts %s and %s, and a token", page, all[3], all[38])
	}
	a.succeed("POST", light, `{"data":{`+few+`,"pageOptions":{"pageSize":2,"paginationToken":"`+*page.PaginationToken+
		`"}}}`, &page)
	if len(page.Items) != 1 || page.PaginationToken != nil || page.Items[0].EntityDraftID != all[39] {
		t.Errorf("second page: got %+v, want the draft %s and no token", page, all[39])
	}
	page = wire.LightPage{}
	a.succeed("POST", light, `{"data":{"journeyId":"`+journey+`","entityIds":[]}}`, &page)
	if len(page.Items) != 0 || page.PaginationToken != nil {
		t.Errorf("of no entities: got %+v, want an empty page", page)
	}
}

// storeDraft stores an entity and its draft with a text in both, created some seconds after now.
func (a *api) storeDraft(entityID, draftID string, seconds int, text string) {
	a.t.Helper()
	r := entity.Profile{
		ID: entityID, Type: "Company", Role: "Client", Version: 1, Revision: 1, BaseStatus: entity.Unknown,
		Layers:     access.Layers{}.OrDefault(),
		Properties: map[string]property.Property{"name": {Type: property.Single, Value: &text}},
	}
	d := entity.Draft{ID: draftID, JourneyID: journey, Created: now.Add(time.Duration(seconds) * time.Second)}
	err := a.profiles.Create(a.t.Context(), a.caller.Tenant, r)
	if err == nil {
		err = a.profiles.ApplyUpdate(a.t.Context(), a.caller.Tenant, entity.BeginDraft(r, entity.Unknown, d))
	}
	errtest.Fatal(a.t, err)
}

// A list without pages is refused if it would be larger than a reply may be.
func TestLongLists(t *testing.T) {
	a := newAPI(t)
	text := strings.Repeat("x", 370_000) // twice in a draft
	var ids []string
	for i := range 8 {
		ids = append(ids, uuid.NewString())
		a.storeDraft(ids[i], uuid.NewString(), i, text)
	}
	search := func(n int) string {
		return `{"data":{"journeyId":"` + journey + `","entityIds":["` + strings.Join(ids[:n], `","`) + `"]}}`
	}
	for _, path := range []string{query + "/drafts-in-scope/searchentitydrafts",
		query + "/entity/search-entity-drafts"} {
		a.succeed("POST", path, search(7), nil)
		a.expectStatus(413, "POST", path, search(8))
	}
	var names wire.DraftNames
	a.succeed("POST", query+"/entity/drafts/names", search(8), &names)
	difftest.Equal(t, "names", 8, len(names.EntityDraftNames))
}

// An entity without a draft in the journey has its own name.
func TestNamesOfEntitiesWithoutADraft(t *testing.T) {
	a := newAPI(t)
	with, without := a.createEntity(""), a.createEntity("")
	d := a.createDraft(with)
	a.succeed("PUT", command+"/"+with+"/draft/"+d,
		`{"data":{"properties":{"legalEntityName":{"type":"Single","value":"New"}},"version":1}}`, nil)
	a.caller.Layers = access.Layers{Geographic: []string{"Spain"}}
	hidden := a.createEntity(`,"accessLayers":{"geographic":["Spain"]}`)
	a.caller.Layers = access.Layers{}
	entitytest.StoreStatuses(t, a.db, tenant, entitytest.Statuses{journey: entity.Compliant})
	var names wire.DraftNames
	ids := []string{hidden, strings.ToUpper(without), journey, strings.ToUpper(with)}
	for range 60 { // more than are read at once
		ids = append(ids, uuid.NewString())
	}
	a.succeed("POST", query+"/entity/drafts/names", fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":["%s"]}}`,
		journey, strings.Join(append(ids, without), `","`)), &names)
	n := names.EntityDraftNames
	if len(n) != 2 || n[0].EntityID != with || *n[0].EntityDraftID != d || n[0].Name != "New" || n[0].Version != 2 ||
		n[1].EntityID != without || n[1].EntityDraftID != nil ||
		n[1].Name != "ACME" || n[1].Type != "Company" || n[1].Version != 1 {
		t.Errorf("got %+v, want New of the draft %s and ACME of the entity %s itself", names, d, without)
	}
}
