package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// entityPermission is an operation on entities with the permissions that it accepts; nil accepts all.
type entityPermission struct {
	method, path string
	accepted     []string
}

func entityPermissions(entity, draft string) []entityPermission {
	edit := []string{"EntityDataEdit", "EntityGroupManagementEdit"}
	search := []string{"EntityDataAccessAndSearch", "EntityGroupManagementAccessAndSearch"}
	approve := []string{"EntityDataApprove"}
	draftPath := "/entity/" + entity + "/draft/" + draft
	command := strings.TrimSuffix(entityCommand, "/entity") + draftPath
	return []entityPermission{
		{"POST", entityCommand, edit},
		{"POST", entityCommand + "/full", edit},
		{"POST", entityCommand + "/" + entity + "/draft", edit},
		{"PUT", command, edit},
		{"PUT", command + "/verify", approve},
		// Of another entity, so that a client that may reject does not end the draft.
		{"PUT", strings.Replace(command, entity, uuid.NewString(), 1) + "/reject", approve},
		{"GET", entityQuery + "/entity/" + entity, search},
		{"GET", entityQuery + draftPath, search},
		{"POST", entityQuery + "/entity/drafts/names", search},
		{"POST", entityQuery + "/entity/search-entity-drafts", search},
		{"POST", entityQuery + "/drafts-in-scope/searchentitydrafts", search},
		{"POST", lightSearch, search},
		{"POST", entityQuery + "/entity/drafts/partial-properties", nil},
	}
}

// Every operation accepts the permissions that the interface names for it, and no other; and one token serves both
// interfaces.
func TestPermissionsOfEntityOperations(t *testing.T) {
	api := begin(t)
	e := api.newEntity("")
	operations := entityPermissions(e, api.newDraft(e, uuid.NewString()))
	for _, o := range operations {
		expectTenantErrors(t, api, o)
	}
	for _, permission := range []string{"EntityDataEdit", "EntityGroupManagementEdit", "EntityDataApprove",
		"EntityDataAccessAndSearch", "EntityGroupManagementAccessAndSearch", "BatchRead"} {
		t.Run(permission, func(t *testing.T) {
			api := loginNewClient(t, "--permission", permission)
			for _, o := range operations {
				api.checkPermission(permission, o.method, o.path, `{"data":{}}`, o.accepted)
			}
			want := http.StatusForbidden
			if permission == "BatchRead" {
				want = http.StatusNotFound
			}
			api.expect(want, "GET", transactionsPath+"batch/status/"+uuid.NewString(), "")
		})
	}
	both := loginNewClient(t, "--permission", "BatchUpload", "--permission", "EntityDataAccessAndSearch")
	both.expect(http.StatusOK, "POST", uploadPath, "")
	both.mustCall("GET", entityQuery+"/entity/"+e, "", nil)
}

// expectTenantErrors checks that an operation requires the header with the token's tenant.
func expectTenantErrors(t *testing.T, api *session, o entityPermission) {
	t.Helper()
	api.call(o.method, o.path, "", "X-Tenant-Id", "").expect(t, 400, "MissingTenantHeader")
	api.call(o.method, o.path, "", "X-Tenant-Id", uuid.NewString()).expect(t, 403, "TenantMismatch")
}

// What belongs to another tenant is answered word for word like what does not exist.
func TestOtherTenantsEntities(t *testing.T) {
	t.Parallel()
	owner, other := login(t, environment), loginNewTenant(t)
	journey := uuid.NewString()
	e := owner.newEntity("")
	draft := owner.newDraft(e, journey)
	own := other.newEntity("")
	for _, test := range []struct {
		name               string
		status             int
		method, path, body string
	}{
		{"read", 404, "GET", entityQuery + "/entity/{e}", ""},
		{"read a draft", 404, "GET", entityQuery + "/entity/{e}/draft/{d}", ""},
		{"read a draft of an own entity", 404, "GET", entityQuery + "/entity/" + own + "/draft/{d}", ""},
		{"begin", 404, "POST", entityCommand + "/{e}/draft", `{"data":{"journeyId":"{j}"}}`},
		{"begin with a parent", 404, "POST", entityCommand + "/" + own + "/draft",
			`{"data":{"journeyId":"{j}","parentDraftId":"{d}"}}`},
		{"update", 404, "PUT", entityCommand + "/{e}/draft/{d}", `{"data":{"properties":{},"version":1}}`},
		{"verify", 404, "PUT", entityCommand + "/{e}/draft/{d}/verify", `{"data":{"version":-1}}`},
		{"reject", 404, "PUT", entityCommand + "/{e}/draft/{d}/reject", ""},
		{"partial properties", 200, "POST", entityQuery + "/entity/drafts/partial-properties",
			`{"data":{"draftIds":["{d}"],"requestedPropertiesDataKeys":["name"]}}`},
		{"names", 200, "POST", entityQuery + "/entity/drafts/names",
			`{"data":{"journeyId":"{j}","entityIds":["{e}"]}}`},
		{"search by reach", 200, "POST", entityQuery + "/entity/search-entity-drafts", `{"data":{"journeyId":"{j}"}}`},
		{"search", 200, "POST", entityQuery + "/drafts-in-scope/searchentitydrafts",
			`{"data":{"journeyId":"{j}","entityIds":["{e}"]}}`},
		{"light search", 200, "POST", lightSearch, `{"data":{"journeyId":"{j}"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ask := func(e, draft, journey string) (int, string) {
				ids := strings.NewReplacer("{e}", e, "{d}", draft, "{j}", journey)
				r := other.call(test.method, ids.Replace(test.path), ids.Replace(test.body))
				return r.status, string(r.text)
			}
			status, got := ask(e, draft, journey)
			if _, want := ask(uuid.NewString(), uuid.NewString(), uuid.NewString()); status != test.status ||
				got != want {
				t.Errorf("got %d %s, want %d %s", status, got, test.status, want)
			}
		})
	}
	owner.expectEntity(e, "OnboardingInProgress")
}

// Access layers count in both dimensions and for all ways to reach an entity and its drafts.
func TestAccessLayersOfDrafts(t *testing.T) {
	t.Parallel()
	spain := loginNewClient(t, "--geographic", "Spain")
	retail := loginNewClient(t, "--geographic", "Spain", "--business-related", "Retail")
	plain := loginNewClient(t)
	journey := uuid.NewString()
	drafts, names := map[string]string{}, map[string]string{}
	for name, layers := range map[string]string{
		"open":   "",
		"spain":  `,"accessLayers":{"geographic":["Spain"]}`,
		"both":   `,"accessLayers":{"geographic":["Spain"],"businessRelated":["Retail"]}`,
		"either": `,"accessLayers":{"geographic":["France","Spain"],"businessRelated":["Enterprise","Retail"]}`,
	} {
		drafts[name] = retail.newDraft(retail.newEntity(layers), journey)
		names[drafts[name]] = name
	}
	for _, test := range []struct {
		name    string
		api     *session
		visible []string
		reach   draftReach
	}{
		{"no layers", plain, []string{"open"}, draftReach{1, 2, 1}},
		{"Spain", spain, []string{"either", "open", "spain"}, draftReach{3, 1, 0}},
		{"Spain and retail", retail, []string{"both", "either", "open", "spain"}, draftReach{4, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for query, found := range test.api.findDrafts(journey, drafts) {
				var got []string
				for _, id := range found {
					got = append(got, names[id])
				}
				slices.Sort(got)
				assert(t, slices.Equal(got, test.visible), "%s finds %v, want %v", query, got, test.visible)
			}
			equal(t, "search by reach", test.reach, test.api.readReach(journey))
		})
	}
}

// findDrafts returns the IDs of a journey's drafts that each query finds.
func (s *session) findDrafts(journey string, drafts map[string]string) map[string][]string {
	s.t.Helper()
	found := map[string][]string{}
	searched := callFor[[]draftView](s, "POST", entityQuery+"/drafts-in-scope/searchentitydrafts",
		fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey))
	for _, draft := range searched {
		found["search"] = append(found["search"], draft.ID)
	}
	light, _ := s.readAllPages(journey, 3, 0)
	for _, item := range light {
		found["light search"] = append(found["light search"], item.EntityDraftId)
	}
	var ids []string
	for _, id := range drafts {
		ids = append(ids, fmt.Sprintf("%q", id))
	}
	partial := callFor[struct{ Items []struct{ DraftID string } }](s, "POST",
		entityQuery+"/entity/drafts/partial-properties", `{"data":{"draftIds":[`+strings.Join(ids, ",")+`]}}`)
	for _, item := range partial.Items {
		found["partial properties"] = append(found["partial properties"], item.DraftID)
	}
	return found
}

// draftReach counts the drafts that a search by reach returns.
type draftReach struct{ Accessible, Inaccessible, Forbidden int }

func (s *session) readReach(journey string) draftReach {
	s.t.Helper()
	reach := callFor[map[string][]json.RawMessage](s, "POST", entityQuery+"/entity/search-entity-drafts",
		fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey))
	return draftReach{
		len(reach["accessibleEntityDrafts"]),
		len(reach["inaccessibleEntityDrafts"]),
		len(reach["forbiddenEntityDrafts"]),
	}
}
