package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/rescreening"
)

// Versions that nothing needs are condemned, and removed an hour later.
func TestWatchlistVersionsAreRemoved(t *testing.T) {
	s := beginTenant(t)
	store := catalogdb.New(s.environment.tables(t), s.environment.Prefix+"-watchlists")
	var versions []catalog.Version
	for i := range 9 {
		v := catalog.Version{
			VersionRef: catalog.VersionRef{Owner: s.tenantID, List: "old", Version: fmt.Sprint("v", i)},
			ImportedAt: time.Now().Add(time.Duration(i)*time.Minute - 48*time.Hour),
		}
		must(t, store.AddVersion(t.Context(), v))
		versions = append(versions, v)
	}
	// A run at the same time sees nothing of the list before it has a pointer.
	err := store.Condemn(t.Context(), versions[0], time.Now().Add(-2*time.Hour))
	if err == nil {
		err = store.SavePointer(t.Context(), catalog.Pointer{
			Owner: s.tenantID, List: "old", Current: versions[8], Revision: 1})
	}
	must(t, err)
	s.environment.runScheduled(t, "watchlist")
	left, err := store.Versions(t.Context(), s.tenantID, "old")
	assert(t, err == nil && len(left) == 8, "%d versions are left, %v; want 8", len(left), err)
	for _, v := range left {
		want := v.Version == "v1" || v.Version == "v2"
		assert(t, !v.CondemnedAt.IsZero() == want, "version %s is condemned: %t, want %t", v.Version, !want, want)
	}
}

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
	api.resolve(batch, e, "No Match", "another person", matches[0].ID)

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
	err := json.Unmarshal(seen[event.RescreeningFinished].Detail.Payload, &end)
	assert(t, err == nil && end.NewMatches == 1 && end.BatchCount == 1 && end.Batches[0] == batches[0] &&
		seen[event.WatchlistUpdated].Detail.Tenant == api.tenantID, "announced %+v, the end with %+v, %v", announced,
		end, err)
}

// namedHit is a hit as the command line prints it.
type namedHit struct {
	List, ID, Name, Explanation string
	Score                       float64
}

// matchName looks a name up by the interface.
func (s *session) matchName(data string) []namedHit {
	s.t.Helper()
	var found []struct {
		ProviderSourceName string
		ExternalIDs        []struct{ Value string }
		MatchScore         float64
		AdditionalInfo     []struct{ Label, Value string }
	}
	s.mustCall("POST", screeningQueries+"/match-name", inEnvelope(data), &found)
	hits := []namedHit{}
	for _, f := range found {
		info := map[string]string{}
		for _, i := range f.AdditionalInfo {
			info[i.Label] = i.Value
		}
		assert(s.t, info["List version"] != "" && info["List age"] != "",
			"the hit %+v does not say how old its list is", f)
		hits = append(hits, namedHit{List: f.ProviderSourceName, ID: f.ExternalIDs[0].Value, Name: info["Matched name"],
			Score: f.MatchScore, Explanation: info["Explanation"]})
	}
	return hits
}

// A name that is tried alone has the hits that the command finds in the same list, in a file as by the service.
func TestMatchName(t *testing.T) {
	api := beginTenant(t)
	const path = screeningQueries + "/match-name"
	const nobody = `{"searchCriteria":{"type":"Individual","fullName":"Ivan Petrov"}}`
	api.expect(400, "POST", path, inEnvelope(nobody)) // without any list
	sample := filepath.Join("..", "sampledata", "watchlist.csv")
	must(t, api.environment.admin(nil, "watchlist", "import", "--tenant", api.tenantID, "--list", "watchlist.csv",
		"--format",
		"targets-simple-csv", sample, "--force"))
	rows := [][]string{{"name", "schema"}, {"Anatolij Welkanow", "Person"}, {"Анатолий Велканов", "Person"},
		{"Abdulrahman Almazrouqi", "Person"}, {"Vector Stal Zavod", "Organization"}, {"Velkanov", "Organization"},
		{"Nobody", "Person"}}
	var text strings.Builder
	must(t, csv.NewWriter(&text).WriteAll(rows))
	file := writeFile(t, "names.csv", text.String())
	stdout, stderr, code, err := api.environment.runSluice("screen", "--file", file, "--list-file",
		"targets-simple-csv:"+sample, "--threshold", "70", "--json")
	require(t, err == nil && code == 1, "sluice screen: exit %d, %v: %s", code, err, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	total := 0
	for i, line := range lines {
		var want struct{ Hits []namedHit }
		must(t, json.Unmarshal([]byte(line), &want))
		total += len(want.Hits)
		criteria := map[string]string{"type": "Individual", "fullName": rows[i+1][0]}
		command := []string{"screen", rows[i+1][0], "--service", "--threshold", "70", "--json"}
		if rows[i+1][1] != "Person" {
			criteria = map[string]string{"type": "Company", "legalEntityName": rows[i+1][0]}
			command = append(command, "--company")
		}
		data, _ := json.Marshal(map[string]any{"searchCriteria": criteria, "threshold": 70,
			"lists": []string{"watchlist.csv"}})
		if diff := cmp.Diff(want.Hits, api.matchName(string(data))); diff != "" {
			t.Errorf("%s (-command +interface)\n%s", rows[i+1][0], diff)
		}
		if got := api.run(min(len(want.Hits), 1), command...); got != line+"\n" {
			t.Errorf("%s (--service) prints\n%swant what the command prints for the file:\n%s", rows[i+1][0], got, line)
		}
	}
	assert(t, len(lines) == len(rows)-1 && total >= 4,
		"the command printed %d lines with %d hits, want %d with 4 or more", len(lines), total, len(rows)-1)
	hits := api.matchName(nobody)
	assert(t, len(hits) == 0, "got the hits %+v, want none", hits)
	api.runFor(0, []string{"Ivan Petrov: no hit"}, "screen", "Ivan Petrov", "--service")
	api.runFor(2, []string{"unknown"}, "screen", "Ivan Petrov", "--service", "--list", "unknown")
	api.expect(400, "POST", path, inEnvelope(strings.Replace(nobody, "}}", `},"lists":["unknown"]}`, 1)))
	other := loginNewTenant(t, "--permission", "ScreeningCreate")
	other.expect(403, "POST", path, inEnvelope(nobody))
}
