package screeninghttp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/screeninghttp"
)

// readParts reads a list in parts and returns how many items it has.
func (a *api) readParts(path string, limit int) int {
	a.t.Helper()
	count, after := 0, ""
	for {
		var items []struct{ ID string }
		a.succeed("GET", fmt.Sprintf("%s%s?limit=%d&after=%s", queries, path, limit, after), "", &items)
		if len(items) == 0 {
			return count
		}
		count += len(items)
		after = items[len(items)-1].ID
	}
}

// Lists whose replies would be too large are refused with a message about limit and after, which work.
func TestLargeListsAreRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, CreatedAt: now, Version: 1}
	var entities []screening.Entity
	for i := range 60 {
		b.EntityIDs = append(b.EntityIDs, fmt.Sprint("e", i))
		entities = append(entities, screening.Entity{ID: b.EntityIDs[i], Version: 1, Criteria: screening.SearchCriteria{
			Type: screening.Company, LegalEntityName: "A", OtherInformation: strings.Repeat("x", 100_000)}})
	}
	errtest.Fatal(t, errtest.Of(a.store.Create(t.Context(), b, entities)))
	message := a.refuse(413, "too_many_screened_entities", "GET", queries+"/batch/"+b.ID, "")
	if !strings.Contains(message, "limit and after") || !strings.Contains(message, "/batch/legalentity/") {
		t.Errorf("the message %q does not name the remedy", message)
	}
	a.refuse(413, "too_many_screened_entities", "GET", queries+"/batch/"+b.ID+"/entity", "")
	if got := a.readParts("/batch/"+b.ID+"/entity", 25); got != 60 {
		t.Errorf("read %d entities in parts, want 60", got)
	}
	var batches []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e59", "", &batches)
	if len(batches) != 1 || batches[0].BatchID != b.ID || batches[0].BatchStatus != screening.Open {
		t.Errorf("the batches of an entity: got %+v, want the batch", batches)
	}

	large, _ := a.createSearched("e", 0)
	found, err := a.store.Get(t.Context(), tenant, large)
	errtest.Fatal(t, err)
	var matches []screening.Match
	for i := range 200 {
		matches = append(matches, screening.Match{ID: screening.NewMatchID("a", "e", fmt.Sprint(i)), BatchID: large,
			EntityID: "e", AnswerID: "a", Version: 1, Data: screening.MatchData{Name: strings.Repeat("x", 30_000)},
			Resolution: screening.Resolution{Status: screening.TrueMatch}})
	}
	errtest.Fatal(t, a.store.AddMatches(t.Context(), found.Tenant, matches))
	place := "/batch/" + large + "/entity/e/match"
	message = a.refuse(413, "too_many_matches", "GET", queries+place, "")
	if !strings.Contains(message, "limit and after") {
		t.Errorf("the message %q does not name the remedy", message)
	}
	if got := a.readParts(place, 100); got != 200 {
		t.Errorf("read %d matches in parts, want 200", got)
	}
}

// The history of an entity and the list of its batches are bounded as well.
func TestLargeHistoriesAreRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	text := strings.Repeat("x", 100_000)
	for i := range 60 {
		b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Closed, EntityIDs: []string{"e"},
			CreatedAt: now.Add(time.Duration(i) * time.Second), ClosedAt: now, Version: 1,
			Providers: []screening.ProviderRun{{ID: "p", Status: screening.ReturnFailed,
				Error: &screening.ProviderError{Message: text}}}}
		e := screening.Entity{ID: "e", Version: 1, Assessment: &screening.Assessment{Rationale: text}}
		errtest.Fatal(t, errtest.Of(a.store.Create(t.Context(), b, []screening.Entity{e})))
	}
	const history = queries + "/batch/entity/e/materiality-assessment-history"
	if message := a.refuse(413, "too_much_history", "GET", history, ""); !strings.Contains(message,
		"/batch/legalentity/") {
		t.Errorf("the message %q does not name the remedy", message)
	}
	message := a.refuse(413, "too_many_screening_batches", "GET", queries+"/batch/legalentity/e", "")
	if !strings.Contains(message, "onlyWithTrueMatches") {
		t.Errorf("the message %q does not name the remedy", message)
	}
	_, data, _ := a.send("GET", queries+"/batch/legalentity/e?onlyWithTrueMatches=true", "")
	if !json.Valid(data) || string(data) != "[]" {
		t.Errorf("with onlyWithTrueMatches: got %.100s, want no batch", data)
	}
}
