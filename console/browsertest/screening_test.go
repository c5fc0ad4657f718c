package browsertest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		line, err := json.Marshal(map[string]any{"id": p.id, "schema": "Person", "properties": properties})
		if err != nil {
			n.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", line)
	}
	n.admin(nil, "watchlist", "import", "--tenant", n.id, "--list", list, "--format", "ftm-json", "--force",
		n.file(list+".json", lines.String()))
}

// importSampleList makes the list of the sample data one of the tenant's.
func (n *tenant) importSampleList() {
	n.Helper()
	n.admin(nil, "watchlist", "import", "--tenant", n.id, "--list", "sample", "--format", "targets-simple-csv", "--force",
		filepath.Join(suite.repository, "sampledata", "watchlist.csv"))
}

// A name is tried while it is typed, and each hit says which words met.
func TestNameIsTried(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importSampleList()
	p := tenant.open("/screening/name")
	p.waitForHeading("Try a name")
	p.click("searchbox", "Full name")
	p.typeText("Anatolij Welkanow")
	p.waitForText("1 hit")
	hit := p.waitFor("region", "The selected hit")
	p.waitFor("heading", "Anatoly Borisovich Velkanov", hit)
	p.waitForText("Welkanow sounds alike 95% VELKANOV")
	p.fill("Date", "Date of birth", "1958-03-14")
	p.checkAccessible()
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
	if err != nil {
		n.Fatal(err)
	}
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
	EntityUniqueID, Status string
	Reason                 *string
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

// A match is resolved by the keyboard alone: one key chooses what it is, Enter confirms, and the next one is selected.
func TestMatchIsResolvedByKeyboard(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov", born: "1968"}, listed{id: "2", name: "Iwan Petrow"})
	batch := tenant.screen("j", screened{"e", "Ivan Petrov", "17/03/1968"})
	p := tenant.open("/screening/" + batch)
	p.waitForHeading("Screening of Ivan Petrov")
	p.waitForText("2 matches, 2 unresolved")
	p.waitFor("heading", "Ivan Petrov", p.waitFor("region", "The selected match"))
	p.checkAccessible()

	p.press("j")
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected match"))
	p.waitForText("Petrov sounds")
	p.press("k", "n")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Another mother")
	p.press("Enter")
	p.waitForText("Ivan Petrov: No Match. 1 match left unresolved.")
	p.waitFor("heading", "Iwan Petrow", p.waitFor("region", "The selected match"))
	p.press("m")
	p.waitForFocus("textbox", "Reason")
	p.typeText("Same person")
	p.press("Enter")
	p.waitForText("All matches here are resolved.")

	for id, want := range map[string]string{"own:1": "No Match Another mother", "own:2": "Match Same person"} {
		if m := tenant.matches(batch, "e")[id]; m.Reason == nil || m.Status+" "+*m.Reason != want {
			t.Errorf("%s is %+v, want %s", id, m, want)
		}
	}
	p.reload()
	p.waitForText("2 matches, 0 unresolved")
	p.click("button", "Close the batch")
	p.click("button", "Close the batch", p.waitFor("dialog", "Close the batch"))
	p.waitForText("The batch is closed")
	p.checkAccessible()
}
