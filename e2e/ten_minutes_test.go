package e2e

import "testing"

// The commands of docs/ten-minutes.md work as they are.
func TestTenMinutesGuide(t *testing.T) {
	c := beginTenant(t)
	c.enableBatches()
	must(t, environment.admin(nil, "entities", "import", "--tenant", c.TenantID,
		writeFile(t, "entities.jsonl", `{"id":"customer-1001","status":"Compliant"}`)))
	c.runGuide("docs/ten-minutes.md", nil, `"status": "PROCESSED"`, `"code": "missing"`,
		`{"line":2,"errors":[{"type":"missing","pointer":"/modification/amount"`,
		`"modification_external_id": "tx-42-settled"`)
}
