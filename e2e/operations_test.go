package e2e

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
)

// Each operation is called once with a request that it accepts, and the transport checks the reply. Other tests check
// what the operations do.
func TestEveryOperationAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		calls func(*session) []platformCall
		// limited means that a tenant has room for what a few runs leave only.
		limited bool
	}{
		{"entities", entityCalls, false},
		{"documents", func(s *session) []platformCall { return append(documentCalls(s, ""), fileCalls(s)...) }, false},
		{"documents of products", func(s *session) []platformCall { return documentCalls(s, "/product") }, false},
		{"external authentication", externalAuthCalls, false},
		{"screening", screeningCalls, false},
		{"evaluations", evaluationCalls, true},
		{"policies", policyCalls, true},
		{"documents of deals", func(s *session) []platformCall { return documentCalls(s, "/deal") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := login(t, environment)
			if test.limited {
				api = loginNewTenant(t)
			}
			for _, c := range test.calls(api) {
				api.mustCall(c.method, c.path, c.body, nil)
			}
		})
	}
}

// platformCall is a request of the platform interface.
type platformCall struct{ method, path, body string }

// inEnvelope returns a body that has data.
func inEnvelope(data string) string { return `{"data":` + data + `}` }

// entityCalls creates an entity with drafts and returns a call of each other operation on entities.
func entityCalls(api *session) []platformCall {
	journey := uuid.NewString()
	e := api.newEntity(`,"properties":{"a":{"type":"Single","value":"x"}}`)
	draft := api.newDraft(e, journey)
	begin := entityCommand + "/" + e + "/draft"
	rejected := callFor[struct{ ID string }](api, "POST", begin,
		inEnvelope(fmt.Sprintf(`{"journeyId":%q,"parentDraftId":%q}`, journey, draft)))
	inJourney := inEnvelope(fmt.Sprintf(`{"journeyId":%q,"entityIds":[%q]}`, journey, e))
	changes := inEnvelope(`{"version":1,"properties":{` +
		`"b":{"type":"Collection","dataGroupId":"` + uuid.NewString() +
		`","collections":{"1":{"properties":{"c":"x"}}}},` +
		`"d":{"type":"Custom","customTypeId":"` + uuid.NewString() + `","properties":{"e":{"type":"Single"}}}}}`)
	return []platformCall{
		{"POST", entityCommand + "/full", inEnvelope(`{"type":"Individual","targetEntity":"Related Party"}`)},
		{"PUT", begin + "/" + draft, changes},
		{"GET", entityQuery + "/entity/" + e, ""},
		{"GET", entityQuery + "/entity/" + e + "/draft/" + draft, ""},
		{"POST", entityQuery + "/entity/drafts/partial-properties",
			inEnvelope(fmt.Sprintf(`{"draftIds":[%q],"requestedPropertiesDataKeys":["a","b"]}`, draft))},
		{"POST", entityQuery + "/entity/drafts/names", inJourney},
		{"POST", entityQuery + "/entity/search-entity-drafts", inJourney},
		{"POST", entityQuery + "/drafts-in-scope/searchentitydrafts", inJourney},
		{"POST", lightSearch, inJourney},
		{"PUT", begin + "/" + rejected.ID + "/reject", ""},
		{"PUT", begin + "/" + draft + "/verify", inEnvelope(`{"version":-1,"dataConflictResolutions":null}`)},
	}
}

// documentCalls creates a virtual document on the route of a type and returns a call of each operation that the types
// share.
func documentCalls(api *session, route string) []platformCall {
	entity, journey := uuid.NewString(), uuid.NewString()
	document := callFor[createdDocument](api, "POST", documentCommands+route+"/virtual", inEnvelope(fmt.Sprintf(
		`{"fileName":"a","entityId":%q,"journeyId":%q,"documentURL":"https://example.com/a"}`, entity, journey)))
	base, id := documentCommands+route+"/", document.ID
	calls := []platformCall{
		{"PUT", base + id, inEnvelope(`{"friendlyName":"b","properties":{"a":{"type":"Single","value":"x"}}}`)},
		{"PUT", base + id + "/access-layers", inEnvelope(`{"accessLayers":{"geographic":["Global"]}}`)},
		{"PUT", base + id + "/clone", inEnvelope(`{"DocumentDataKey":"c"}`)},
		{"PUT", base + id + "/requirement-ids", `["a","b"]`},
		{"PUT", base + id + "/datakey", `"c"`},
		{"PUT", base + "error/" + id, ""},
		{"PUT", base + "custom-error/" + id, inEnvelope(`{"errorCode":"NOT_APPLICABLE","errorMessage":"x"}`)},
		{"GET", documentQueries + "/" + id, ""},
		{"GET", documentQueries + "/journey/" + journey, ""},
		{"GET", documentQueries + "/entity/" + entity, ""},
		{"GET", documentQueries + "/entity/" + entity + "/journey/" + journey + "?deduplicationEnabled=true", ""},
		{"POST", documentQueries + "/entity/paged", inEnvelope(fmt.Sprintf(`{"entityId":%q,"pageSize":1}`, entity))},
	}
	if route == "" {
		calls = append(calls,
			platformCall{"PUT", base + id + "/updateDocumentUploadedByUserName", ""},
			platformCall{"POST", base + id + "/archive", inEnvelope(`{"archivalReason":"x"}`)},
			platformCall{"POST", base + id + "/unarchive", ""},
			platformCall{"POST", documentQueries + "/entity/paged/lite/v2",
				inEnvelope(fmt.Sprintf(`{"entityId":%q,"additionalColumns":["metadata"]}`, entity))})
	}
	return append(calls, platformCall{"DELETE", base + id + "?skipStatusReset=true", ""})
}

// fileCalls returns a call of each operation on files.
func fileCalls(api *session) []platformCall {
	return []platformCall{
		{"PUT", documentCommands + "/updateFile",
			inEnvelope(fmt.Sprintf(`{"id":%q,"fileName":"b.pdf"}`, api.newDocument("")))},
		{"GET", documentQueries + "/mimeTypesAllowed", ""},
		{"GET", documentQueries + "/supportedFileExtensions", ""},
	}
}
