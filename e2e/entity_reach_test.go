package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

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
	entity := entityQuery + "/entity/" + retail.newEntity(`,"accessLayers":{"geographic":["Spain"]}`)
	plain.expect(404, "GET", entity, "")
	spain.mustCall("GET", entity, "", nil)
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
	return draftReach{len(reach["accessibleEntityDrafts"]), len(reach["inaccessibleEntityDrafts"]),
		len(reach["forbiddenEntityDrafts"])}
}
