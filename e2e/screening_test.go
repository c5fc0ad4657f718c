package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

const (
	screeningCommands = "/screeningcommand/api/v3"
	screeningQueries  = "/screeningquery/api/v4"
)

// screenedPerson returns the search criteria of a person, as JSON.
func screenedPerson(name string) string {
	return fmt.Sprintf(`{"type":"Individual","fullName":%q,"dateOfBirth":"17/03/1968","addresses":[{"city":"Riga"}]}`, name)
}

// newScreening creates a batch of one entity in a journey and returns its ID.
func (s *session) newScreening(journey, entityID string) string {
	s.t.Helper()
	var reply struct{ BatchID string }
	s.mustCall("POST", screeningCommands+"/batch", inEnvelope(fmt.Sprintf(
		`{"entities":[{"searchCriteria":%s,"legalEntityId":%q,"entityAliases":[{"id":"a","fullName":"Vanya"}]}],`+
			`"journeyId":%q,"processId":"onboarding"}`, screenedPerson("Ivan Petrov"), entityID, journey)), &reply)
	return reply.BatchID
}

// newSearchedBatch stores a batch of one entity for which a provider has returned a match, and returns both IDs.
func (s *session) newSearchedBatch(entityID string) (batchID, matchID string) {
	s.t.Helper()
	ctx := s.t.Context()
	db, err := s.environment.database(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	store := screeningdb.New(db, s.environment.Prefix+"-screenings")
	b, err := store.Create(ctx, screening.Batch{
		ID: uuid.NewString(), Tenant: s.tenantID, Status: screening.Open, Type: screening.TypeScreening,
		EntityIDs: []string{entityID}, CreatedAt: time.Now().UTC(), Version: 1,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}},
	}, []screening.Entity{{ID: entityID, LegalEntityID: entityID, Version: 1,
		Criteria: screening.SearchCriteria{Type: screening.Company, LegalEntityName: "ACME"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	m := screening.Match{ID: screening.NewMatchID("a", entityID, "un:1"), BatchID: b.ID, EntityID: entityID, AnswerID: "a",
		AliasIDs: []string{screening.PrimaryName}, UniqueID: "un:1", Version: 1,
		Data:       screening.MatchData{ProviderID: "p", ProviderSourceName: "un", Name: "ACME Trading"},
		Resolution: screening.Resolution{Status: screening.Unresolved}}
	if err := store.AddMatches(ctx, s.tenantID, []screening.Match{m}); err != nil {
		s.t.Fatal(err)
	}
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: 1})
	if err == nil {
		err = store.Save(ctx, b)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return b.ID, m.ID
}

// screeningView is what these tests read of a batch.
type screeningView struct {
	ID, Status         string
	OverriddenBatchIDs []string
	TrueMatchesCount   int
}

// screeningCalls creates batches and returns a call of each other operation on them.
func screeningCalls(api *session) []platformCall {
	journey, e := uuid.NewString(), "screened/"+uuid.NewString()
	open := api.newScreening(journey, e)
	batch, match := api.newSearchedBatch(uuid.NewString())
	b, commands, escaped := screeningQueries+"/batch", screeningCommands+"/batch", strings.ReplaceAll(e, "/", "%2F")
	var entities []struct{ ID string }
	api.mustCall("GET", b+"/"+batch+"/entity", "", &entities)
	inEntity := b + "/" + batch + "/entity/" + entities[0].ID
	return []platformCall{
		{"GET", b + "/" + open, ""},
		{"GET", b + "/journey/" + journey, ""},
		{"GET", b + "/journey/" + journey + "/process/onboarding", ""},
		{"GET", b + "/legalentity/" + escaped + "?onlyWithTrueMatches=false", ""},
		{"GET", b + "/" + open + "/entity?limit=1", ""},
		{"GET", inEntity, ""},
		{"GET", inEntity + "/match?returnMaterialMatches=false&limit=10", ""},
		{"GET", inEntity + "/match/" + match, ""},
		{"PUT", commands + "/" + batch + "/matches", inEnvelope(fmt.Sprintf(
			`[{"entityId":%q,"matches":[{"matchId":%q,"status":"Match","reason":"r","comments":"c",`+
				`"classificationData":{"singleProperties":{"f":{"value":"v","label":"l"}}}}]}]`, entities[0].ID, match))},
		{"GET", inEntity + "/match/" + match, ""},
		{"PUT", commands + "/" + batch + "/complete", ""},
		{"GET", b + "/" + batch, ""},
	}
}

// A batch is created for a journey and process, read in every way, closed, and overridden by the next one; another tenant
// finds nothing of it.
func TestScreeningBatch(t *testing.T) {
	t.Parallel()
	api, other := login(t, environment), loginNewTenant(t)
	journey, e := uuid.NewString(), uuid.NewString()
	first := api.newScreening(journey, e)
	read := func(path string) (view screeningView) {
		t.Helper()
		api.mustCall("GET", screeningQueries+"/batch"+path, "", &view)
		return view
	}
	complete := screeningCommands + "/batch/" + first + "/complete"
	other.expectStatus(http.StatusNotFound, "PUT", complete, "")
	other.expectStatus(http.StatusNotFound, "GET", screeningQueries+"/batch/"+first, "")
	other.expectStatus(http.StatusNotFound, "GET", screeningQueries+"/batch/journey/"+journey, "")
	api.mustCall("PUT", complete, "", nil)
	second := api.newScreening(strings.ToUpper(journey), e)
	if got := read("/journey/" + journey + "/process/onboarding"); got.ID != second || len(got.OverriddenBatchIDs) != 1 ||
		got.OverriddenBatchIDs[0] != first || got.Status != "Open" {
		t.Errorf("the active batch is %+v, want %s, which has overridden %s", got, second, first)
	}
	if got := read("/" + first); got.Status != "Overridden" {
		t.Errorf("the first batch is %s, want Overridden", got.Status)
	}
	if r := api.callPlatform("PUT", complete, ""); r.status != http.StatusBadRequest || string(r.Data) != "null" ||
		r.Messages[0].ErrorCode != "screening_batch_not_open" {
		t.Errorf("closing an overridden batch: %d %s, want a plain 400", r.status, r.text)
	}
}

// A match is resolved once its provider has returned it, and its batch closes when none is unresolved.
func TestScreeningMatches(t *testing.T) {
	t.Parallel()
	api := login(t, environment)
	e := uuid.NewString()
	batch, match := api.newSearchedBatch(e)
	complete, resolve := screeningCommands+"/batch/"+batch+"/complete", screeningCommands+"/batch/"+batch+"/matches"
	api.expectStatus(http.StatusBadRequest, "PUT", complete, "")
	body := func(id string) string {
		return inEnvelope(fmt.Sprintf(`[{"entityId":%q,"matches":[{"matchId":%q,"status":"Match","reason":"r"}]}]`, e, id))
	}
	api.expectStatus(http.StatusNotFound, "PUT", resolve, body(uuid.NewString()))
	api.mustCall("PUT", resolve, body(match), nil)
	api.mustCall("PUT", complete, "", nil)
	api.expectStatus(http.StatusBadRequest, "PUT", resolve, body(match))
	var view screeningView
	api.mustCall("GET", screeningQueries+"/batch/"+batch, "", &view)
	if view.Status != "Closed" || view.TrueMatchesCount != 1 {
		t.Errorf("the batch is %+v, want it closed with one true match", view)
	}
}
