package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands upload a document, follow it to the end of its scan, list, show and download it. What the scan refuses
// and what the client may not do are told apart by the exit code.
func TestDocumentCommands(t *testing.T) {
	c := beginTenant(t)
	dir := t.TempDir()
	bill := writeFile(t, "bill.pdf", "%PDF-1.4 a bill")
	shown := c.run(0, "document", "upload", bill, "--entity", "e", "--type", "Utility bill")
	name, id, _ := strings.Cut(strings.SplitN(shown, "\n", 2)[0], " ")
	id = strings.TrimSpace(id)
	require(t, name == "document" && len(id) == 36 && strings.Contains(shown, "\nstatus      Completed\n"),
		"document upload printed %s", shown)
	if again := c.run(0, "document", "show", id); again != shown {
		t.Errorf("document show printed %s, want %s", again, shown)
	}
	if list := c.run(0, "document", "list", "e", "--status", "Completed"); strings.Count(list, "\n") != 1 ||
		!strings.Contains(list, id+"  Completed  Utility bill  bill.pdf\n") {
		t.Errorf("document list printed %s", list)
	}
	copied := filepath.Join(dir, "copy.pdf")
	c.run(0, "document", "download", id, "-o", copied)
	if text, err := os.ReadFile(copied); err != nil || string(text) != "%PDF-1.4 a bill" {
		t.Errorf("downloaded %q, %v; want the file", text, err)
	}

	for file, want := range map[string]string{
		writeFile(t, "infected.pdf", eicar): "INFECTED_FILE", writeFile(t, "program.exe", "MZ"): "INVALID_MIME_TYPE",
		writeFile(t, "empty.pdf", ""): "",
	} {
		text := c.run(1, "document", "upload", file, "--entity", "e")
		assert(t, strings.Contains(text, "\nbecause ") && strings.Contains(text, want),
			"document upload %s printed %s, want the reason %s", filepath.Base(file), text, want)
	}
	unscanned := strings.TrimSpace(c.run(0, "document", "upload", bill, "--entity", "e 2", "--detach"))
	if text := c.run(0, "document", "list", "e 2", "--json"); !strings.Contains(text, `"id":"`+unscanned+`"`) {
		t.Errorf("document list --json printed %s, want %s", text, unscanned)
	}

	const unknown = "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01"
	c.run(2, "document", "show", unknown)
	c.run(2, "document", "show", "bill")
	c.run(2, "document", "download", unknown, "-o", filepath.Join(dir, "none"))
	c.run(2, "document", "upload", bill, "--entity", "e", "--name", "a/b.pdf")
	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "DocumentManagementAccess"))
	other.run(0, "document", "show", id)
	other.run(2, "document", "upload", bill, "--entity", "e")
}
