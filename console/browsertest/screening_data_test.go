package browsertest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sluice/shared/kit/errtest"
)

// listed is an entry of a watchlist, with its ID in the list.
type listed struct {
	id, name string
	aliases  []string
	born     string
}

// importList makes a list of persons one of the tenant's.
func (n *tenant) importList(list string, persons ...listed) {
	n.Helper()
	var lines strings.Builder
	for _, p := range persons {
		properties := map[string][]string{"name": {p.name}, "alias": p.aliases}
		if p.born != "" {
			properties["birthDate"] = []string{p.born}
		}
		line := errtest.Must(json.Marshal(map[string]any{"id": p.id, "schema": "Person", "properties": properties}))(n)
		fmt.Fprintf(&lines, "%s\n", line)
	}
	n.admin(nil, "watchlist", "import", "--tenant", n.id, "--list", list, "--format", "ftm-json", "--force",
		n.file(list+".json", lines.String()))
}

// importSampleList makes the list of the sample data one of the tenant's.
func (n *tenant) importSampleList() {
	n.Helper()
	n.admin(nil, "watchlist", "import", "--tenant", n.id, "--list", "sample", "--format", "targets-simple-csv",
		"--force",
		filepath.Join(suite.repository, "sampledata", "watchlist.csv"))
}

// screened is an entity that is screened; its ID is that of the legal entity.
type screened struct{ id, name, born string }

// screen creates a screening batch of persons in a journey, waits until it has been searched and returns its ID.
func (n *tenant) screen(journey string, persons ...screened) (id string) {
	n.Helper()
	var entities []map[string]any
	for _, p := range persons {
		criteria := map[string]string{"type": "Individual", "fullName": p.name}
		if p.born != "" {
			criteria["dateOfBirth"] = p.born
		}
		entities = append(entities, map[string]any{"legalEntityId": p.id, "searchCriteria": criteria})
	}
	body, err := json.Marshal(map[string]any{"data": map[string]any{"journeyId": journey, "processId": "onboarding",
		"entities": entities}})
	errtest.Fatal(n, err)
	var created struct{ Data struct{ BatchID string } }
	n.call("POST", "/screeningcommand/api/v3/batch", string(body), &created)
	id = created.Data.BatchID
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(*patience); ; <-tick.C {
		var batch struct {
			Data struct{ Providers []struct{ Status string } }
		}
		n.call("GET", "/screeningquery/api/v4/batch/"+id, "", &batch)
		switch status := batch.Data.Providers[0].Status; {
		case status == "Search Complete":
			return id
		case status != "Search In Progress" || time.Now().After(deadline):
			n.Fatalf("the search of %s is %q", id, status)
		}
	}
}

// matchState is what the service says of a match.
type matchState struct {
	ID, EntityUniqueID, Status string
	Reason                     *string
}

// matches returns the matches of an entity of a batch by the IDs of their entries.
func (n *tenant) matches(batch, entity string) map[string]matchState {
	n.Helper()
	var reply struct{ Data []matchState }
	n.call("GET", "/screeningquery/api/v4/batch/"+batch+"/entity/"+entity+"/match", "", &reply)
	all := map[string]matchState{}
	for _, m := range reply.Data {
		all[m.EntityUniqueID] = m
	}
	return all
}
