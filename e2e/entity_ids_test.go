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
		var got struct{ ID string }
		api.mustCall("GET", entityQuery+"/entity/"+id, "", &got)
		if got.ID != lower {
			t.Errorf("%s is read as %s, want %s", id, got.ID, lower)
		}
	}
	draft := api.newDraft(upper, journey)
	for _, id := range []string{lower, upper} {
		api.mustCall("GET", entityQuery+"/entity/"+id+"/draft/"+draft, "", nil)
		var page lightPage
		api.mustCall("POST", lightSearch, fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q]}}`, journey, id), &page)
		if len(page.Items) != 1 {
			t.Errorf("%s: %d drafts are found, want 1", id, len(page.Items))
		}
		api.createDocument("a.pdf", id, "")
	}
	for _, id := range []string{lower, upper} {
		var listed []documentView
		api.mustCall("GET", documentQueries+"/entity/"+id, "", &listed)
		if len(listed) != 2 {
			t.Errorf("%s: %d documents are listed, want 2", id, len(listed))
		}
	}
}

// An imported entity may have any ID, and searches take it.
func TestSearchesTakeAnyEntityID(t *testing.T) {
	api := begin(t)
	id, journey := "customer "+uuid.NewString(), uuid.NewString()
	must(t, environment.importEntities(fmt.Sprintf(`{"id":%q,"lifecycleStatus":"Compliant"}`, id)))
	api.newDraft(strings.ReplaceAll(id, " ", "%20"), journey)
	data := fmt.Sprintf(`{"data":{"journeyId":%q,"entityIds":[%q]}}`, journey, id)
	var page lightPage
	api.mustCall("POST", lightSearch, data, &page)
	if len(page.Items) != 1 || page.Items[0].EntityId != id {
		t.Errorf("got %+v, want the draft of %s", page.Items, id)
	}
	var drafts []any
	api.mustCall("POST", entityQuery+"/drafts-in-scope/searchentitydrafts", data, &drafts)
	if len(drafts) != 1 {
		t.Errorf("got %d drafts, want 1", len(drafts))
	}
}

// null removes a property of a draft, and of the entity once the draft is verified; on creation it is left out.
func TestNullRemovesAProperty(t *testing.T) {
	api := begin(t)
	one := `{"type":"Single","value":"1"}`
	r := api.callPlatform("POST", entityCommand,
		`{"data":{"type":"Company","targetEntity":"Client","properties":{"a":`+one+`,"b":`+one+`,"c":null}}}`)
	if r.status != 202 || len(r.Messages) != 1 || r.Messages[0].ErrorCode != "property_dropped" {
		t.Errorf("created: %d %s, want 202 with a warning", r.status, r.text)
	}
	e := api.newEntity(`,"properties":{"a":` + one + `,"b":` + one + `,"c":` + one + `}`)
	draft := entityCommand + "/" + e + "/draft/" + api.newDraft(e, uuid.NewString())
	api.mustCall("PUT", draft, `{"data":{"version":1,"properties":{"a":null,"b":{"type":"Single","value":null}}}}`, nil)
	api.mustCall("PUT", draft+"/verify", `{"data":{"version":2}}`, nil)
	var got struct{ Properties map[string]any }
	api.mustCall("GET", entityQuery+"/entity/"+e, "", &got)
	if len(got.Properties) != 1 || got.Properties["c"] == nil {
		t.Errorf("the entity has %v, want c alone", got.Properties)
	}
	id := api.newDocument(`,"properties":{"a":` + one + `,"b":null}`)
	api.mustCall("PUT", documentCommands+"/"+id, `{"data":{"properties":{"a":null,"d":`+one+`}}}`, nil)
	api.mustCall("PUT", documentCommands+"/"+id, `{"data":{"properties":{"e":`+one+`}}}`, nil)
	got.Properties = nil
	api.mustCall("GET", documentQueries+"/"+id, "", &got)
	if len(got.Properties) != 2 || got.Properties["d"] == nil || got.Properties["e"] == nil {
		t.Errorf("the document has %v, want d and e", got.Properties)
	}
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

// What explains a decision on a document is null for callers without its access layers.
func TestTextBehindAccessLayersIsHidden(t *testing.T) {
	t.Parallel()
	spain, plain := loginNewClient(t, "--geographic", "Spain"), login(t, environment)
	id := spain.newDocument(`,"documentDataKey":"k","accessLayers":{"geographic":["Spain"]}`)
	spain.mustCall("PUT", documentCommands+"/custom-error/"+id,
		`{"data":{"errorCode":"NOT_APPLICABLE","errorMessage":"sanctions"}}`, nil)
	spain.mustCall("POST", documentCommands+"/"+id+"/archive", `{"data":{"archivalReason":"tip"}}`, nil)
	type text struct{ ArchivalReason, ErrorMessage, Explanation, DocumentDataKey *string }
	var all, none text
	spain.mustCall("GET", documentQueries+"/"+id, "", &all)
	plain.mustCall("GET", documentQueries+"/"+id, "", &none)
	if valueOrEmpty(all.ArchivalReason) != "tip" || valueOrEmpty(all.DocumentDataKey) != "k" {
		t.Errorf("in reach: %+v, want the reason and the key", all)
	}
	if none != (text{}) {
		t.Errorf("out of reach: %+v, want nothing", none)
	}
}
