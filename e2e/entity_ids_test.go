package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// An entity ID that is a UUID is the same one in any case: in imports, lines, paths, drafts, searches and documents.
func TestEntityIDsThatAreUUIDsCountInAnyCase(t *testing.T) {
	api := begin(t)
	lower, journey := uuid.NewString(), uuid.NewString()
	upper := strings.ToUpper(lower)
	must(t, environment.importEntities(fmt.Sprintf(`{"id":%q,"lifecycleStatus":"Compliant"}`, upper)))
	onboardEntities(t, environment)
	for _, id := range []string{lower, upper} {
		api.expectProcess("PROCESSED", jsonLines(validLine().withSender(id)))
		got := callFor[struct{ ID string }](api, "GET", entityQuery+"/entity/"+id, "")
		assert(t, got.ID == lower, "%s is read as %s, want %s", id, got.ID, lower)
	}
	draft := api.newDraft(upper, journey)
	for _, id := range []string{lower, upper} {
		api.mustCall("GET", entityQuery+"/entity/"+id+"/draft/"+draft, "", nil)
		page := callFor[lightPage](api, "POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q]}}`,
			journey, id))
		assert(t, len(page.Items) == 1, "%s: %d drafts are found, want 1", id, len(page.Items))
		api.createDocument("a.pdf", id, "")
	}
	for _, id := range []string{lower, upper} {
		listed := callFor[[]documentView](api, "GET", documentQueries+"/entity/"+id, "")
		assert(t, len(listed) == 2, "%s: %d documents are listed, want 2", id, len(listed))
	}
}

// An imported entity may have any ID, and searches take it.
func TestSearchesTakeAnyEntityID(t *testing.T) {
	api := begin(t)
	id, journey := "customer "+uuid.NewString(), uuid.NewString()
	must(t, environment.importEntities(fmt.Sprintf(`{"id":%q,"lifecycleStatus":"Compliant"}`, id)))
	api.newDraft(strings.ReplaceAll(id, " ", "%20"), journey)
	data := fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q]}}`, journey, id)
	page := callFor[lightPage](api, "POST", lightSearch, data)
	assert(t, len(page.Items) == 1 && page.Items[0].EntityId == id, "got %+v, want the draft of %s", page.Items, id)
	drafts := callFor[[]any](api, "POST", entityQuery+"/drafts-in-scope/searchentitydrafts", data)
	assert(t, len(drafts) == 1, "got %d drafts, want 1", len(drafts))
}

// null removes a property of a draft, and of the entity once the draft is verified; on creation it is left out.
func TestNullRemovesAProperty(t *testing.T) {
	api := begin(t)
	one := `{"type":"Single","value":"1"}`
	r := api.callPlatform("POST", entityCommand,
		`{"data":{"type":"Company","targetEntity":"Client","properties":{"a":`+one+`,"b":`+one+`,"c":null}}}`)
	assert(t, r.status == 202 && len(r.Messages) == 1 && r.Messages[0].ErrorCode == "property_dropped",
		"created: %d %s, want 202 with a warning", r.status, r.text)
	e := api.newEntity(`,"properties":{"a":` + one + `,"b":` + one + `,"c":` + one + `}`)
	draft := entityCommand + "/" + e + "/draft/" + api.newDraft(e, uuid.NewString())
	api.mustCall("PUT", draft, `{"data":{"version":1,"properties":{"a":null,"b":{"type":"Single","value":null}}}}`, nil)
	api.mustCall("PUT", draft+"/verify", `{"data":{"version":2}}`, nil)
	got := callFor[struct{ Properties map[string]any }](api, "GET", entityQuery+"/entity/"+e, "")
	assert(t, len(got.Properties) == 1 && got.Properties["c"] != nil, "the entity has %v, want c alone", got.Properties)
	id := api.newDocument(`,"properties":{"a":` + one + `,"b":null}`)
	api.mustCall("PUT", documentCommands+"/"+id, `{"data":{"properties":{"a":null,"d":`+one+`}}}`, nil)
	api.mustCall("PUT", documentCommands+"/"+id, `{"data":{"properties":{"e":`+one+`}}}`, nil)
	got.Properties = nil
	api.mustCall("GET", documentQueries+"/"+id, "", &got)
	assert(t, len(got.Properties) == 2 && got.Properties["d"] != nil && got.Properties["e"] != nil,
		"the document has %v, want d and e", got.Properties)
}

// Nobody can give an object access layers by which they lose it.
func TestLayersThatLockTheCallerOutAreRefused(t *testing.T) {
	t.Parallel()
	api := loginNewClient(t, "--geographic", "Spain")
	const france = `{"geographic":["France"]}`
	api.expect(400, "POST", entityCommand, `{"data":{"type":"Company","targetEntity":"Client","accessLayers":`+france+
		`}}`)
	for _, field := range []string{"accessLayers", "policyEnforcedAccessLayers"} {
		api.expect(400, "POST", documentCommands, `{"data":{"fileName":"a","entityId":"e","`+field+`":`+france+`}}`)
	}
	id := api.newDocument("")
	api.expect(400, "PUT", documentCommands+"/"+id+"/access-layers", `{"data":{"accessLayers":`+france+`}}`)
	api.expect(400, "PUT", documentCommands+"/"+id+"/clone", `{"data":{"AccessLayers":`+france+`}}`)
}

// importCounts are the numbers that an import prints.
type importCounts struct {
	Created        int `json:"created"`
	StatusChanged  int `json:"status_changed"`
	ProfileChanged int `json:"profile_changed"`
	Unchanged      int `json:"unchanged"`
	Refused        int `json:"refused"`
}

// importFile imports lines for the environment's own tenant and returns what the command printed.
func importFile(t *testing.T, flags []string, lines ...string) importCounts {
	t.Helper()
	path := writeFile(t, "entities.jsonl", strings.Join(lines, "\n"))
	var out struct {
		importCounts
		TenantID string `json:"tenant_id"`
		Imported int    `json:"imported"`
	}
	must(t, environment.admin(&out, append([]string{"entities", "import", path}, flags...)...))
	return out.importCounts
}

// An import leaves an entity that was made on the platform alone, unless it is told to overwrite.
func TestImportLeavesPlatformMadeEntitiesAlone(t *testing.T) {
	api := begin(t)
	id := api.newEntity("")
	line := fmt.Sprintf(`{"id":%q,"status":"ClientOffboarded"}`, id)
	var entity struct{ LifecycleStatus string }
	for _, c := range []struct {
		flags  []string
		want   importCounts
		status string
	}{
		{nil, importCounts{Refused: 1}, "Unknown"},
		{[]string{"--overwrite"}, importCounts{StatusChanged: 1}, "ClientOffboarded"},
	} {
		got := importFile(t, c.flags, line)
		if api.mustCall("GET", entityQuery+"/entity/"+id, "", &entity); got != c.want ||
			entity.LifecycleStatus != c.status {
			t.Errorf("import with %v: %+v, the entity is %s, want %+v, %s", c.flags, got, entity.LifecycleStatus,
				c.want, c.status)
		}
	}
}
