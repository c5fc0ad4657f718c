package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/shared/screening"
)

const (
	screeningCommands = "/screeningcommand/api/v3"
	screeningQueries  = "/screeningquery/api/v4"
)

// screenedPerson returns the search criteria of a person, as JSON.
func screenedPerson(name string) string {
	return fmt.Sprintf(`{"type":"Individual","fullName":%q,"dateOfBirth":"17/03/1968","addresses":[{"city":"Riga"}]}`,
		name)
}

// screen creates a batch of one person with members of the entity and of the batch, each with a leading comma, and
// returns its ID.
func (s *session) screen(ofEntity, ofBatch string) string {
	s.t.Helper()
	return callFor[struct{ BatchID string }](s, "POST", screeningCommands+"/batch", inEnvelope(fmt.Sprintf(
		`{"entities":[{"searchCriteria":%s%s}]%s}`, screenedPerson("Ivan Petrov"), ofEntity, ofBatch))).BatchID
}

// newScreening creates a batch of one entity in a journey and returns its ID.
func (s *session) newScreening(journey, entityID string) string {
	s.t.Helper()
	return s.screen(fmt.Sprintf(`,"legalEntityId":%q,"entityAliases":[{"id":"a","fullName":"Vanya"}]`, entityID),
		fmt.Sprintf(`,"journeyId":%q,"processId":"onboarding"`, journey))
}

// newScreeningBy creates a batch of one entity that providers search, and returns the IDs of both.
func (s *session) newScreeningBy(providers ...string) (batch, entity string) {
	s.t.Helper()
	entity = uuid.NewString()
	var list []string
	for _, id := range providers {
		list = append(list, fmt.Sprintf(`{"providerId":%q}`, id))
	}
	return s.screen(fmt.Sprintf(`,"legalEntityId":%q`, entity), `,"providers":[`+strings.Join(list, ",")+`]`), entity
}

// resolve gives matches of an entity in a batch a status.
func (s *session) resolve(batch, entity, status, reason string, matches ...string) {
	s.t.Helper()
	s.mustCall("PUT", screeningCommands+"/batch/"+batch+"/matches",
		resolutions(entity, status, reason, matches...), nil)
}

// resolutions is the body that gives matches of an entity a status.
func resolutions(entity, status, reason string, matches ...string) string {
	var list []string
	for _, id := range matches {
		list = append(list, fmt.Sprintf(`{"matchId":%q,"status":%q,"reason":%q}`, id, status, reason))
	}
	return inEnvelope(fmt.Sprintf(`[{"entityId":%q,"matches":[%s]}]`, entity, strings.Join(list, ",")))
}

// newSearchedBatch stores a batch of one entity for which a provider has returned a match, and returns both IDs.
func (s *session) newSearchedBatch(entityID string) (batchID, matchID string) {
	s.t.Helper()
	ctx := s.t.Context()
	store := s.screenings()
	b, err := store.Create(ctx, screening.Batch{
		ID: uuid.NewString(), Tenant: s.tenantID, Status: screening.Open, Type: screening.TypeScreening,
		EntityIDs: []string{entityID}, CreatedAt: time.Now().UTC(), Version: 1,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}},
	}, []screening.Entity{{ID: entityID, LegalEntityID: entityID, Version: 1,
		Criteria: screening.SearchCriteria{Type: screening.Company, LegalEntityName: "ACME"}}})
	must(s.t, err)
	m := screening.Match{ID: screening.NewMatchID("a", entityID, "un:1"), BatchID: b.ID, EntityID: entityID,
		AnswerID: "a", AliasIDs: []string{screening.PrimaryName}, UniqueID: "un:1", Version: 1,
		Data:       screening.MatchData{ProviderID: "p", ProviderSourceName: "un", Name: "ACME Trading"},
		Resolution: screening.Resolution{Status: screening.Unresolved}}
	must(s.t, store.AddMatches(ctx, s.tenantID, []screening.Match{m}))
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: 1})
	if err == nil {
		err = store.Save(ctx, b)
	}
	must(s.t, err)
	return b.ID, m.ID
}

// A document of a screened entity is uploaded, scanned, downloaded through document management, reused in the next
// batch, and its file is deleted with the last document that has it.
func TestScreeningDocuments(t *testing.T) {
	t.Parallel()
	api, other := login(t, environment), loginNewTenant(t)
	journey, e := uuid.NewString(), uuid.NewString()
	place := func(batch string) string { return "/batch/" + batch + "/entity/" + e + "/documents" }
	first := api.newScreening(journey, e)
	var d struct {
		DocumentID, ExternalDocumentID, SignedURL string
		RequiredHeaders                           map[string]string
	}
	request := inEnvelope(`{"fileName":"a.pdf","documentType":"evidence","idempotencyKey":"k"}`)
	other.expect(http.StatusNotFound, "POST", screeningCommands+place(first)+"/upload-url", request)
	api.mustCall("POST", screeningCommands+place(first)+"/upload-url", request, &d)
	upload := client.Upload{URL: d.SignedURL, Method: http.MethodPut, RequiredHeaders: d.RequiredHeaders}
	expectPut(t, 200, upload, []byte("evidence"))
	eventually(t, "the result of the scan", func() bool {
		return api.readDocument(d.ExternalDocumentID).Status == "Completed"
	})
	link := api.downloadURL(d.ExternalDocumentID)
	expectFile(t, link, "evidence")

	second := api.newScreening(journey, e)
	reused := callFor[struct{ DocumentID string }](api, "POST", screeningCommands+place(second)+"/reuse",
		inEnvelope(fmt.Sprintf(`{"documentId":%q,"reuseFromBatchId":%q}`, d.DocumentID, first)))
	var items []struct {
		ID, Status, BatchStatus        string
		DocumentURL, ReusedFromBatchID *string
	}
	api.mustCall("GET", screeningQueries+place(second), "", &items)
	require(t, len(items) == 1 && items[0].ID == reused.DocumentID && items[0].Status == "Completed" &&
		items[0].DocumentURL == nil, "the documents of the second batch are %+v, want the reused one", items)
	api.mustCall("GET", screeningQueries+"/entity/"+e+"/documents?journeyId="+journey, "", &items)
	assert(t, len(items) == 1 && items[0].ID == d.DocumentID && items[0].BatchStatus == "Overridden",
		"the documents across batches are %+v, want that of the overridden batch", items)
	api.mustCall("DELETE", screeningCommands+place(second)+"/"+reused.DocumentID, "", nil)
	expectFile(t, link, "evidence")
	api.mustCall("DELETE", documentCommands+"/"+d.ExternalDocumentID+"?documentEntityType=Screening", "", nil)
	expectNoFile(t, link)
	if api.mustCall("GET", screeningQueries+"/entity/"+e+"/documents", "", &items); len(items) != 0 {
		t.Errorf("the documents are %+v, want none: document management has deleted the last", items)
	}
}
