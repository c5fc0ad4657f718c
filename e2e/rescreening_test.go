package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/screening/rescreening"
)

// rescreen invokes the function that looks after watchlists, as its schedule does.
func (s *session) rescreen() {
	s.t.Helper()
	s.environment.runScheduled(s.t, "watchlist")
}

// ongoing returns the matches of an entity in its batches that rescreening has made.
func (s *session) ongoing(entityID string) (batches []string, matches []matchView) {
	s.t.Helper()
	all := callFor[[]struct{ BatchID, BatchType, BatchStatus string }](s, "GET",
		screeningQueries+"/batch/legalentity/"+entityID+"?onlyWithTrueMatches=false", "")
	for _, b := range all {
		if b.BatchType == "OngoingScreening" {
			found := callFor[[]matchView](s, "GET", screeningQueries+"/batch/"+b.BatchID+"/entity/"+entityID+"/match",
				"")
			batches, matches = append(batches, b.BatchID), append(matches, found...)
		}
	}
	return batches, matches
}

// A change of a list brings its new entry into a new batch, and neither the one that was cleared nor the same a second
// time.
func TestRescreening(t *testing.T) {
	api := beginTenant(t, eventLog)
	api.importWatchlist("own", map[string]string{"1": "Ivan Petrov", "3": "Anna Schmidt"})
	e := uuid.NewString()
	batch := api.newScreening(uuid.NewString(), e)
	api.expectSearched(batch, "sluice: Search Complete")
	matches := api.matches(batch, e)
	require(t, len(matches) == 1, "got the matches %+v, want that of own:1", matches)
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/matches", inEnvelope(fmt.Sprintf(
		`[{"entityId":%q,"matches":[{"matchId":%q,"status":"No Match","reason":"another person"}]}]`, e,
		matches[0].ID)), nil)

	api.rescreen()
	if batches, _ := api.ongoing(e); len(batches) != 0 {
		t.Errorf("without a change, rescreening has made the batches %v", batches)
	}
	api.importWatchlist("own", map[string]string{"9": "Ivan Petrov", "2": "Ivan Petroff", "3": "Anna Schmidt"})
	var batches []string
	eventually(t, "the batch of the new match", func() bool { // a run at the same time may be at it
		api.rescreen()
		batches, matches = api.ongoing(e)
		return len(batches) > 0
	})
	api.rescreen()
	batches, matches = api.ongoing(e)
	require(t, len(batches) == 1 && len(matches) == 1 && matches[0].EntityUniqueID == "own:2" &&
		matches[0].Status == "Unresolved", "got the batches %v with %+v, want one with own:2", batches, matches)
	version := matches[0].info("List version")
	var announced []busEvent
	eventually(t, "the events about the change", func() bool {
		events := ok(environment.busEvents())(t)
		announced = slices.DeleteFunc(events[version], func(b busEvent) bool { return b.Detail.Tenant != api.tenantID })
		return len(announced) >= 2
	})
	seen := map[event.Type]busEvent{}
	for _, a := range announced {
		seen[a.DetailType] = a
		api.mustCall("GET", a.Detail.RelativeURL, "", nil)
	}
	var end rescreening.EndPayload
	if err := json.Unmarshal(seen[event.RescreeningFinished].Detail.Payload, &end); err != nil || end.NewMatches != 1 ||
		end.BatchCount != 1 || end.Batches[0] != batches[0] ||
		seen[event.WatchlistUpdated].Detail.Tenant != api.tenantID {
		t.Errorf("announced %+v, the end with %+v, %v", announced, end, err)
	}
}
