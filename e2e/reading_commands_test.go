package e2e

import (
	"strings"
	"testing"
)

// The commands list and show entities, and show what a batch and a single request have stored; without the permission
// they do not.
func TestReadingCommands(t *testing.T) {
	c := beginTenant(t)
	importFile(t, []string{"--tenant", c.TenantID}, `{"id":"`+senderID+`","lifecycleStatus":"Compliant",`+
		`"type":"Company","properties":{"legalEntityName":{"type":"Single","value":"Acme"}}}`,
		`{"id":"`+receiverID+`","lifecycleStatus":"Compliant"}`, `{"id":"new one","lifecycleStatus":"Unknown"}`)
	if list := c.run(0, "entity", "list"); strings.Count(list, "\n") != 3 ||
		!strings.Contains(list, senderID+"    Compliant  Company  Acme\n") {
		t.Errorf("entity list: %s", list)
	}
	if list := c.run(0, "entity", "list", "--status", "Unknown", "--json"); strings.Count(list, "\n") != 1 ||
		!strings.Contains(list, `"id":"new one"`) {
		t.Errorf("entity list --status: %s", list)
	}
	if text := c.run(0, "entity", "show", senderID); !strings.Contains(text, "\n  legalEntityName  Acme\n") {
		t.Errorf("entity show: %s", text)
	}
	if text := c.run(0, "entity", "show", "new one"); !strings.HasPrefix(text, "entity         new one\n") {
		t.Errorf("entity show of one without properties: %s", text)
	}
	c.run(2, "entity", "show", "nobody")
	c.run(2, "entity", "list", "--status", "Unheard")

	sent := validLine()
	path := writeFile(t, "transaction.json", sent.String())
	c.run(0, "send", path)
	if text := c.run(0, "transaction", "show", sent.transactionID()); !strings.Contains(text,
		"\nsent          singly\n") || !strings.Contains(text,
		`    "transaction_external_id": "`+sent.transactionID()+`"`) {
		t.Errorf("transaction show: %s", text)
	}
	if text := c.run(0, "transaction", "show", sent.transactionID(), "--json"); !strings.Contains(text,
		`"modification_external_id": "`+sent.modificationID()+`"`) {
		t.Errorf("transaction show --json: %s", text)
	}
	c.run(2, "transaction", "show", "nobody-sent-this")

	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "BatchRead"))
	for _, args := range [][]string{
		{"entity", "list"}, {"entity", "show", senderID}, {"transaction", "show", sent.transactionID()},
	} {
		other.run(2, args...)
	}
}
