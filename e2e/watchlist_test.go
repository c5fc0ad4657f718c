package e2e

import (
	"encoding/csv"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/kit/objects"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/catalog/catalogdb"
	"sluice/shared/screening/match"
	"sluice/shared/screening/rescreening"
)

// loader returns a loader of watchlists like those of functions.
func (e *Environment) loader(t *testing.T) *catalog.Loader {
	t.Helper()
	cfg := ok(e.awsConfig(e.S3URL))(t)
	bucket := ok(objects.Find(t.Context(), cfg, e.Prefix+"-work-", objects.Options{PathStyle: e.S3URL != ""}))(t)
	return catalog.NewLoader(catalog.Options{
		Versions: catalogdb.New(e.tables(t), e.Prefix+"-watchlists"), Files: bucket, Dir: t.TempDir(), Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	})
}

// A list is imported by the command line and found by functions; a rollback returns to the version before.
func TestWatchlists(t *testing.T) {
	s := beginTenant(t)
	type imported struct {
		Outcome string
		Version struct{ Version string }
		Changes struct{ Added, Removed int }
	}
	importList := func(path string) imported {
		t.Helper()
		var out imported
		err := s.environment.admin(&out, "watchlist", "import", "--tenant", s.tenantID, "--list", "sample", "--format",
			"targets-simple-csv", path, "--force")
		must(t, err)
		return out
	}
	sample := filepath.Join("..", "sampledata", "watchlist.csv")
	first := importList(sample)
	again := importList(sample)
	assert(t, first.Outcome == "imported" && again.Outcome == "unchanged" && again.Version == first.Version,
		"imported %+v, then %+v", first, again)
	other := writeFile(t, "other.csv", "id,schema,name\n1,Person,Boris Testov\n")
	second := importList(other)
	assert(t, second.Changes.Added == 1 && second.Changes.Removed == 16, "imported %+v", second)
	hits := func() (ids []string) {
		t.Helper()
		loaded := ok(s.environment.loader(t).Current(t.Context(), s.tenantID, []string{"sample"}))(t)
		found := ok(catalog.NewScreener(loaded...).Screen(match.Query{Name: "Anatolij Welkanow"}, match.Threshold))(t)
		for _, f := range found {
			ids = append(ids, f.ID)
		}
		return ids
	}
	if got := hits(); len(got) != 0 {
		t.Errorf("hits %v in the second version, want none", got)
	}
	must(t, s.environment.admin(nil, "watchlist", "rollback", "--tenant", s.tenantID, "--list",
		"sample"))
	if got := hits(); len(got) != 1 || got[0] != "sl-1" {
		t.Errorf("hits %v after the rollback, want sl-1", got)
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
