package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/ten-minutes.md work as they are.
func TestTenMinutesGuide(t *testing.T) {
	t.Parallel()
	c := newTenantClient(t)
	file := filepath.Join(t.TempDir(), "entities.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"customer-1001","status":"Compliant"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var imported any
	if err := environment.admin(&imported, "entities", "import", file, "--tenant", c.TenantID); err != nil {
		t.Fatal(err)
	}
	out := c.runGuide("docs/ten-minutes.md")
	for _, want := range []string{`"status": "PROCESSED"`, `"code": "missing"`,
		`{"line":2,"errors":[{"type":"missing","pointer":"/modification/amount"`,
		`"modification_external_id": "tx-42-settled"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands print no %s:\n%s", want, out)
		}
	}
}
