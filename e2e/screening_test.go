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

// screeningView is what these tests read of a batch.
type screeningView struct {
	ID, Status         string
	OverriddenBatchIDs []string
	TrueMatchesCount   int
}

// A batch is created for a journey and process, read in every way, closed, and overridden by the next one; another
// tenant finds nothing of it.
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
	other.expect(http.StatusNotFound, "PUT", complete, "")
	other.expect(http.StatusNotFound, "GET", screeningQueries+"/batch/"+first, "")
	other.expect(http.StatusNotFound, "GET", screeningQueries+"/batch/journey/"+journey, "")
	api.readSearched(first) // where other tests have imported lists for the tenant
	api.mustCall("PUT", complete, "", nil)
	second := api.newScreening(strings.ToUpper(journey), e)
	if got := read("/journey/" + journey + "/process/onboarding"); got.ID != second ||
		len(got.OverriddenBatchIDs) != 1 || got.OverriddenBatchIDs[0] != first || got.Status != "Open" {
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

// The materiality of a batch is written to the draft of the journey's main legal entity, and becomes history when the
// batch is closed; who lacks the main legal entity's layers does not see its name there.
func TestScreeningMateriality(t *testing.T) {
	t.Parallel()
	api := loginNewClient(t, "--geographic", "Latvia")
	journey, e := uuid.NewString(), uuid.NewString()
	main := api.newEntity(`,"accessLayers":{"geographic":["Latvia"]}`)
	draft := api.newDraft(main, journey)
	batch := api.screen(fmt.Sprintf(`,"legalEntityId":%q`, e), fmt.Sprintf(`,"journeyId":%q,"journeyType":"Review",`+
		`"journeyMainLegalEntityId":%q,"journeyMainLegalEntityName":"Main"`, journey, main))
	place := screeningCommands + "/batch/" + batch
	api.mustCall("PUT", place+"/entity/"+e, inEnvelope(
		`{"entityMaterialityAssessment":{"pep":{"materialityStatus":"Material"}}}`), nil)
	api.mustCall("POST", place+"/aggregate-entity-materiality", "", nil)
	var view struct {
		Properties map[string]struct{ Value string }
	}
	api.mustCall("GET", entityQuery+"/entity/"+main+"/draft/"+draft, "", &view)
	assert(t, view.Properties["finalMaterialityPEP"].Value == "Material" &&
		view.Properties["overallMateriality"].Value == "Material", "the draft has %+v, want the aggregate",
		view.Properties)
	api.readSearched(batch) // where other tests have imported lists for the tenant
	api.mustCall("PUT", place+"/complete", "", nil)
	history := screeningQueries + "/batch/entity/" + e + "/materiality-assessment-history"
	for _, reader := range []struct {
		*session
		seesName bool
	}{{api, true}, {login(t, environment), false}} {
		var items []struct {
			JourneyMainLegalEntityName *string
			RestrictedFields           []string
		}
		reader.mustCall("GET", history, "", &items)
		assert(t, len(items) == 1 && (items[0].JourneyMainLegalEntityName != nil) == reader.seesName &&
			(len(items[0].RestrictedFields) == 0) == reader.seesName,
			"the history is %+v, want one item whose name is seen: %v", items, reader.seesName)
	}
	loginNewTenant(t).expect(http.StatusNotFound, "GET", history, "")
}
