package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
)

// Each operation is called once with a request that it takes; the wire checks what comes back. What the operations do is for
// other tests.
func TestEveryOperationAnswersAsDescribed(t *testing.T) {
	d := enter(t, home)
	d.every(d.entityCalls())
	for _, of := range []string{"", "/product", "/deal"} {
		d.every(d.documentCalls(of))
	}
}

type call struct{ method, path, data string }

// every makes calls that all succeed. Data is wrapped; a leading = stands for a body without an envelope.
func (d *door) every(calls []call) {
	d.t.Helper()
	for _, c := range calls {
		body := c.data
		switch {
		case body != "" && body[0] == '=':
			body = body[1:]
		case body != "":
			body = `{"data":` + body + `}`
		}
		status, _, text := d.platformAs(home.TenantID, c.method, c.path, body)
		if status != http.StatusOK && status != http.StatusAccepted {
			d.t.Errorf("%s %s: %d %s", c.method, c.path, status, text)
		}
	}
}

func (d *door) entityCalls() []call {
	journey := uuid.NewString()
	var e, draft, rejected struct{ ID string }
	d.take("POST", entityCommand, `{"data":{"type":"Company","targetEntity":"Client","properties":{"a":{"type":"Single","value":"x"}}}}`, &e)
	begin := entityCommand + "/" + e.ID + "/draft"
	d.take("POST", begin, fmt.Sprintf(`{"data":{"journeyId":%q}}`, journey), &draft)
	d.take("POST", begin, fmt.Sprintf(`{"data":{"journeyId":%q,"parentDraftId":%q}}`, journey, draft.ID), &rejected)
	all := fmt.Sprintf(`{"journeyId":%q,"entityIds":[%q]}`, journey, e.ID)
	changes := `{"version":1,"properties":{"b":{"type":"Collection","dataGroupId":"` + uuid.NewString() + `","collections":{"1":{"properties":{"c":"x"}}}},
		"d":{"type":"Custom","customTypeId":"` + uuid.NewString() + `","properties":{"e":{"type":"Single"}}}}}`
	return []call{
		{"POST", entityCommand + "/full", `{"type":"Individual","targetEntity":"Related Party"}`},
		{"PUT", begin + "/" + draft.ID, changes},
		{"GET", entityQuery + "/entity/" + e.ID, ""},
		{"GET", entityQuery + "/entity/" + e.ID + "/draft/" + draft.ID, ""},
		{"POST", entityQuery + "/entity/drafts/partial-properties", fmt.Sprintf(`{"draftIds":[%q],"requestedPropertiesDataKeys":["a","b"]}`, draft.ID)},
		{"POST", entityQuery + "/entity/drafts/names", all},
		{"POST", entityQuery + "/entity/search-entity-drafts", all},
		{"POST", entityQuery + "/drafts-in-scope/searchentitydrafts", all},
		{"POST", lightSearch, all},
		{"PUT", begin + "/" + rejected.ID + "/reject", ""},
		{"PUT", begin + "/" + draft.ID + "/verify", `{"version":-1,"dataConflictResolutions":null}`},
	}
}

func (d *door) documentCalls(of string) []call {
	var n struct{ ID string }
	entity, journey := uuid.NewString(), uuid.NewString()
	d.take("POST", documentCommands+of+"/virtual", fmt.Sprintf(
		`{"data":{"fileName":"a","entityId":%q,"journeyId":%q,"documentURL":"https://example.com/a"}}`, entity, journey), &n)
	at := documentCommands + of + "/"
	calls := []call{
		{"PUT", at + n.ID, `{"friendlyName":"b","properties":{"a":{"type":"Single","value":"x"}}}`},
		{"PUT", at + n.ID + "/access-layers", `{"accessLayers":{"geographic":["Global"]}}`},
		{"PUT", at + n.ID + "/clone", `{"DocumentDataKey":"c"}`},
		{"PUT", at + n.ID + "/requirement-ids", `=["a","b"]`},
		{"PUT", at + n.ID + "/datakey", `="c"`},
		{"PUT", at + "error/" + n.ID, ""},
		{"PUT", at + "custom-error/" + n.ID, `{"errorCode":"NOT_APPLICABLE","errorMessage":"x"}`},
		{"GET", documentQueries + "/" + n.ID, ""},
		{"GET", documentQueries + "/journey/" + journey, ""},
		{"GET", documentQueries + "/entity/" + entity, ""},
		{"GET", documentQueries + "/entity/" + entity + "/journey/" + journey + "?deduplicationEnabled=true", ""},
		{"POST", documentQueries + "/entity/paged", fmt.Sprintf(`{"entityId":%q,"pageSize":1}`, entity)},
	}
	if of == "" {
		var file struct{ ID string }
		d.take("POST", documentCommands, fmt.Sprintf(`{"data":{"fileName":"a.pdf","entityId":%q}}`, entity), &file)
		calls = append(calls, call{"PUT", at + "updateFile", fmt.Sprintf(`{"id":%q,"fileName":"b.pdf"}`, file.ID)},
			call{"POST", documentQueries + "/entity/paged/lite/v2", fmt.Sprintf(`{"entityId":%q,"additionalColumns":["metadata"]}`, entity)},
			call{"PUT", at + n.ID + "/updateDocumentUploadedByUserName", ""},
			call{"POST", at + n.ID + "/archive", `{"archivalReason":"x"}`}, call{"POST", at + n.ID + "/unarchive", ""},
			call{"GET", documentQueries + "/mimeTypesAllowed", ""}, call{"GET", documentQueries + "/supportedFileExtensions", ""})
	}
	return append(calls, call{"DELETE", at + n.ID + "?skipStatusReset=true", ""})
}
