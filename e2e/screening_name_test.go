package e2e

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	if hits := api.matchName(nobody); len(hits) != 0 {
		t.Errorf("got the hits %+v, want none", hits)
	}
	api.runFor(0, []string{"Ivan Petrov: no hit"}, "screen", "Ivan Petrov", "--service")
	api.runFor(2, []string{"unknown"}, "screen", "Ivan Petrov", "--service", "--list", "unknown")
	api.expect(400, "POST", path, inEnvelope(strings.Replace(nobody, "}}", `},"lists":["unknown"]}`, 1)))
	other := loginNewTenant(t, "--permission", "ScreeningCreate")
	other.expect(403, "POST", path, inEnvelope(nobody))
}
