package e2e

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// screeningCalls creates batches and returns a call of each other operation on them.
func screeningCalls(api *session) []platformCall {
	journey, e := uuid.NewString(), "screened-"+uuid.NewString()
	if environment.supports(encodedPaths, api.t.Name()) {
		e = strings.Replace(e, "-", "/", 1)
	}
	open := api.newScreening(journey, e)
	batch, match := api.newSearchedBatch(uuid.NewString())
	b, commands, escaped := screeningQueries+"/batch", screeningCommands+"/batch", strings.ReplaceAll(e, "/", "%2F")
	entities := callFor[[]struct{ ID string }](api, "GET", b+"/"+batch+"/entity", "")
	inEntity := b + "/" + batch + "/entity/" + entities[0].ID
	ofBatch := "/batch/" + batch + "/entity/" + entities[0].ID
	calls := append(materialityCalls(api, batch, entities[0].ID), documentCallsOfScreening(api, batch, ofBatch, "",
		"")...)
	calls = append(calls, documentCallsOfScreening(api, batch, ofBatch, "/match/"+match, match)...)
	calls = append(calls, providerCalls(api)...)
	return append(calls, []platformCall{
		{"GET", b + "/" + open, ""},
		{"GET", b + "/journey/" + journey, ""},
		{"GET", b + "/journey/" + journey + "/process/onboarding", ""},
		{"POST", screeningCommands + "/configuration", inEnvelope(`{"validityDays":{"p":365}}`)},
		{"PATCH", screeningCommands + "/configuration", inEnvelope(`{"validityDays":{"p":30,"q":null}}`)},
		{"POST", b + "/journey/" + journey + "/expiry", inEnvelope(`{"processIds":["onboarding","other"]}`)},
		{"GET", b + "/legalentity/" + escaped + "?onlyWithTrueMatches=false", ""},
		{"GET", b + "/" + open + "/entity?limit=1", ""},
		{"GET", inEntity, ""},
		{"GET", inEntity + "/match?returnMaterialMatches=false&limit=10", ""},
		{"GET", inEntity + "/match/" + match, ""},
		{"PUT", commands + "/" + batch + "/matches", inEnvelope(fmt.Sprintf(
			`[{"entityId":%q,"matches":[{"matchId":%q,"status":"Match","reason":"r","comments":"c",`+
				`"classificationData":{"singleProperties":{"f":{"value":"v","label":"l"}}}}]}]`, entities[0].ID,
			match))},
		{"GET", inEntity + "/match/" + match, ""},
		{"PUT", commands + "/" + batch + "/complete", ""},
		{"GET", b + "/" + batch, ""},
		{"GET", screeningQueries + "/entity/" + entities[0].ID + "/documents?journeyId=" + journey, ""},
		{"GET", screeningQueries + "/entity/" + entities[0].ID + "/match/un:1/documents", ""},
	}...)
}

// providerCalls configures two providers and returns a call of each operation on them; the last ones delete one.
func providerCalls(api *session) []platformCall {
	const provider, set = screeningCommands + "/configuration/provider",
		screeningCommands + "/configuration/configuration-set"
	id, other := "p-"+uuid.NewString(), "p-"+uuid.NewString()
	const rest = `,"name":"Acme","adapterConfiguration":{"url":"https://adapter.example.com",` +
		`"authenticationActive":true,"authenticationKey":%q,"encryptionKey":%q},"additionalSettingsSchema":[{` +
		`"fieldId":"f","name":"F","type":"Toggle"}],"defaultConfigurationSet":{"name":"n","description":"d",` +
		`"additionalSettings":[{"fieldId":"f","value":"true"}]},"validityDays":30}`
	const first, second = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	const mask = "********"
	body := func(id, first, second string) string {
		return inEnvelope(fmt.Sprintf(`{"id":%q`+rest, id, first, second))
	}
	newSet := inEnvelope(fmt.Sprintf(`{"providerId":%q,"name":"n","description":"d"}`, id))
	var created struct{ ID string }
	api.mustCall("POST", provider, body(id, first, second), nil)
	api.mustCall("POST", set, newSet, &created)
	return []platformCall{
		{"GET", screeningQueries + "/configuration", ""},
		{"POST", provider, body(other, first, second)},
		{"GET", screeningQueries + "/configuration/provider", ""},
		{"GET", screeningQueries + "/configuration/provider/" + id, ""},
		{"PUT", provider + "/" + id, body(id, mask, mask)},
		{"PUT", provider + "/" + id + "/settings-schema", inEnvelope(
			`{"additionalSettingsSchema":[{"fieldId":"f","name":"F","type":"Toggle","mandatory":false}]}`)},
		{"POST", set, newSet},
		{"PATCH", set + "/" + created.ID, inEnvelope(`{"additionalSettings":[{"fieldId":"f","value":"false"}]}`)},
		{"POST", screeningCommands + "/batch", inEnvelope(fmt.Sprintf(
			`{"entities":[{"searchCriteria":%s}],"providers":[`+
				`{"providerId":%q,"configurationSetId":%q}]}`, screenedPerson("Ivan Petrov"), id, created.ID))},
		{"DELETE", set + "/" + created.ID, ""},
		{"DELETE", provider + "/" + other, ""},
		{"DELETE", provider + "/" + id, ""},
	}
}

// materialityCalls returns a call of each operation on the materiality of an entity of a batch, and one that aggregates
// that of another batch.
func materialityCalls(api *session, batch, entityID string) []platformCall {
	journey, main := uuid.NewString(), api.newEntity("")
	api.newDraft(main, journey)
	aggregated := callFor[struct{ BatchID string }](api, "POST", screeningCommands+"/batch", inEnvelope(fmt.Sprintf(
		`{"entities":[{"searchCriteria":%s}],"journeyId":%q,"journeyMainLegalEntityId":%q}`,
		screenedPerson("Ivan Petrov"), journey, main)))
	e := screeningCommands + "/batch/" + batch + "/entity/" + entityID
	return []platformCall{
		{"PUT", e, inEnvelope(`{"entityMaterialityAssessment":{"pep":{"materialityStatus":"Material",` +
			`"jurisdictions":["Latvia"]},"sanctions":{"materialityStatus":"Material","okToProceed":true,` +
			`"rationale":"r"}},"impactedClients":[{"legalEntityId":"c","isSelected":true}]}`)},
		{"PUT", e + "/updatemateriality", inEnvelope(`{"properties":{"a":{"type":"Single","value":"x"}}}`)},
		{"PUT", e + "/escalatematerialitytask", inEnvelope(fmt.Sprintf(`{"teamId":%q,"comment":"c"}`,
			uuid.NewString()))},
		{"GET", screeningQueries + "/batch/" + batch + "/entity/" + entityID, ""},
		{"PUT", e + "/deescalatematerialitytask", ""},
		{"POST", screeningCommands + "/batch/" + aggregated.BatchID + "/aggregate-entity-materiality", ""},
		{"GET", screeningQueries + "/batch/entity/" + entityID + "/materiality-assessment-history", ""},
	}
}

// documentCallsOfScreening creates a link of an entity or a match in a batch, and returns a call of each operation on
// the documents of that place.
func documentCallsOfScreening(api *session, batch, inBatch, match, matchID string) []platformCall {
	place := inBatch + match + "/documents"
	link := inEnvelope(`{"fileName":"a","documentType":"evidence","documentUrl":"https://example.com/a"}`)
	d := callFor[struct{ DocumentID string }](api, "POST", screeningCommands+place+"/virtual", link)
	source := fmt.Sprintf(`{"documentId":%q,"reuseFromBatchId":%q}`, d.DocumentID, batch)
	if matchID != "" {
		source = strings.TrimSuffix(source, "}") + fmt.Sprintf(`,"reuseFromMatchId":%q}`, matchID)
	}
	return []platformCall{
		{"POST", screeningCommands + place + "/upload-url",
			inEnvelope(`{"fileName":"a.pdf","documentType":"evidence","friendlyName":"f","idempotencyKey":"k"}`)},
		{"POST", screeningCommands + place + "/reuse", inEnvelope(source)},
		{"GET", screeningQueries + place, ""},
		{"DELETE", screeningCommands + place + "/" + d.DocumentID, ""},
	}
}
