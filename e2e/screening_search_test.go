package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
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
	aggregated := api.screen("", fmt.Sprintf(`,"journeyId":%q,"journeyMainLegalEntityId":%q`, journey, main))
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
		{"POST", screeningCommands + "/batch/" + aggregated + "/aggregate-entity-materiality", ""},
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

// searchedView is what these tests read of a batch that was searched.
type searchedView struct {
	ID, Status string
	Providers  []struct {
		ID, Status   string
		ErrorDetails *struct{ Source, ErrorCode, Message string }
	}
	Metadata struct{ TotalMatchesForProvider map[string]int }
}

// summary returns the providers with their statuses and errors, as text.
func (v searchedView) summary() string {
	var all []string
	for _, p := range v.Providers {
		text := p.ID + ": " + p.Status
		if e := p.ErrorDetails; e != nil {
			text += " (" + e.Source + " " + e.ErrorCode + ": " + e.Message + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// matchView is what these tests read of a match.
type matchView struct {
	ID, EntityUniqueID, Status string
	EntityAliasIDs             []string
	MatchData                  struct {
		ProviderID, ProviderSourceName, Name string
		MatchScore                           float64
		AdditionalInfo                       []struct{ Label, Value string }
	}
}

// info returns the value of a label in additionalInfo, "" if there is none.
func (v matchView) info(label string) string {
	for _, i := range v.MatchData.AdditionalInfo {
		if i.Label == label {
			return i.Value
		}
	}
	return ""
}

// importWatchlist makes a list of persons with the given names, by their IDs, a list of the session's tenant.
func (s *session) importWatchlist(list string, persons map[string]string) {
	s.t.Helper()
	var lines strings.Builder
	for id, name := range persons {
		fmt.Fprintf(&lines, `{"id":%q,"schema":"Person","properties":{"name":[%q]}}`+"\n", id, name)
	}
	must(s.t, s.environment.admin(nil, "watchlist", "import", "--tenant", s.tenantID, "--list", list, "--format",
		"ftm-json", "--force", writeFile(s.t, list+".json", lines.String())))
}

// readSearched waits until all providers of a batch have ended their searches.
func (s *session) readSearched(batch string) (v searchedView) {
	s.t.Helper()
	eventually(s.t, "the end of the searches of "+batch, func() bool {
		s.mustCall("GET", screeningQueries+"/batch/"+batch, "", &v)
		return !strings.Contains(v.summary(), "Search In Progress")
	})
	return v
}

// expectSearched waits until all providers of a batch have ended their searches, and checks how.
func (s *session) expectSearched(batch, want string) {
	s.t.Helper()
	got := s.readSearched(batch).summary()
	assert(s.t, got == want, "searches of %s: got %q, want %q", batch, got, want)
}

// The built-in provider finds an entity by its name and by an alias in the lists of the tenant, and the batch is closed
// once the matches are resolved.
func TestBuiltInScreening(t *testing.T) {
	api := beginTenant(t)
	e := uuid.NewString()
	early := api.newScreening("", e)
	api.expectSearched(early, "sluice: Return Failed (Invoker E000: No watchlist was imported that could be "+
		"searched. "+
		"Import one and run the screening again.)")

	api.importWatchlist("own", map[string]string{"1": "Ivan Petrov", "2": "Vanya", "3": "Anna Schmidt"})
	api.mustCall("POST", screeningCommands+"/batch/"+early+"/rerun", inEnvelope(`{"providerId":"sluice"}`), nil)
	api.expectSearched(early, "sluice: Search Complete")

	batch := api.newScreening(uuid.NewString(), e)
	api.expectSearched(batch, "sluice: Search Complete")
	place := "/batch/" + batch + "/entity/" + e
	matches := callFor[[]matchView](api, "GET", screeningQueries+place+"/match", "")
	found := map[string]matchView{}
	for _, m := range matches {
		found[m.EntityUniqueID] = m
	}
	m := found["own:1"]
	assert(t, len(matches) == len(found) && found["own:3"].ID == "" && m.Status == "Unresolved" &&
		m.MatchData.MatchScore == 100 && m.MatchData.ProviderID == "sluice" && m.MatchData.Name == "Ivan Petrov" &&
		m.EntityAliasIDs[0] == "PrimaryName" && strings.Contains(m.info("Explanation"), `"Ivan" = "Ivan"`) &&
		len(m.info("List version")) == 64 && m.info("List age") == "0 days",
		"got the matches %+v, want that of own:1, explained", matches)
	api.expect(400, "PUT", screeningCommands+"/batch/"+batch+"/complete", "")
	var ids []string
	for _, m := range matches {
		ids = append(ids, m.ID)
	}
	api.resolve(batch, e, "Match", "same person", ids...)
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/complete", "", nil)
}

// screenings returns the store of screening batches.
func (s *session) screenings() *screeningdb.Store {
	s.t.Helper()
	return screeningdb.New(s.environment.tables(s.t), s.environment.Prefix+"-screenings")
}

// The sweep starts a search whose start was lost, and ends one whose execution has ended without that.
func TestStuckScreenings(t *testing.T) {
	api := beginTenant(t, otherSettings)
	api.importWatchlist("own", map[string]string{"1": "Ivan Petrov"})

	e := uuid.NewString()
	batch := api.newScreening("", e)
	api.expectSearched(batch, "sluice: Search Complete")
	b := ok(api.screenings().Get(t.Context(), api.tenantID, batch))(t)
	before := time.Now().UTC().Add(-2 * time.Minute)
	lost := b
	lost.ID, lost.Version, lost.CreatedAt = uuid.NewString(), 1, before
	lost = ok(api.screenings().Create(t.Context(),
		lost.Begin([]screening.ProviderRun{{ID: screening.BuiltIn}}, before),
		[]screening.Entity{{ID: e, Version: 1,
			Criteria: screening.SearchCriteria{Type: screening.Individual, FullName: "Ivan Petrov"}}}))(t)
	b = b.Begin(lost.Providers, before)
	b.CreatedAt = before
	b.Version++
	must(t, api.screenings().Save(t.Context(), b))
	environment.runScheduled(t, "conduct")
	api.expectSearched(lost.ID, "sluice: Search Complete")
	api.expectSearched(batch, "sluice: Return Failed (Invoker E000: The search was interrupted. Run it again.)")
	api.mustCall("POST", screeningCommands+"/batch/"+batch+"/rerun", inEnvelope(`{}`), nil)
	api.expectSearched(batch, "sluice: Search Complete")
}

// The commands of docs/life-of-a-screening.md work as they are.
func TestScreeningGuide(t *testing.T) {
	c := beginTenant(t)
	c.importWatchlist("un", map[string]string{"7": "Anatoly Velkanov", "8": "Abd al-Rahman al-Mazruqi"})
	c.runGuide("docs/life-of-a-screening.md", nil, `"status": "Search Complete"`, "un:7  Anatoly Velkanov",
		"  Explanation: ", `"outcome": "Material"`, `"un:7"`)
}

// matches returns the matches of an entity in a batch.
func (s *session) matches(batch, entity string) (matches []matchView) {
	s.t.Helper()
	s.mustCall("GET", screeningQueries+"/batch/"+batch+"/entity/"+entity+"/match", "", &matches)
	return matches
}
