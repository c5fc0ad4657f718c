package browsertest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
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
