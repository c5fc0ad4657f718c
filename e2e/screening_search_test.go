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
	if got := s.readSearched(batch).summary(); got != want {
		s.t.Errorf("searches of %s: got %q, want %q", batch, got, want)
	}
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
	var resolutions []string
	for _, m := range matches {
		resolutions = append(resolutions, fmt.Sprintf(`{"matchId":%q,"status":"Match","reason":"same person"}`, m.ID))
	}
	api.expect(400, "PUT", screeningCommands+"/batch/"+batch+"/complete", "")
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/matches", inEnvelope(fmt.Sprintf(
		`[{"entityId":%q,"matches":[%s]}]`, e, strings.Join(resolutions, ","))), nil)
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
