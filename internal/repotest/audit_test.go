package repotest

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every function writes its records to the audit trail: those that answer requests one of each, and those that change
// the statuses of batches one of each transition.
func TestFunctionsWriteTheAuditTrail(t *testing.T) {
	// The function transaction only reads the statuses of batches, publishevents records that they are announced,
	// exportbatch that their lines are exported, and indexlines that they are indexed.
	changesNoBatch := map[string]bool{"transaction": true, "find": true, "publishevents": true, "exportbatch": true,
		"indexlines": true}
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("found %d mains of functions: %v", len(mains), err)
	}
	for _, path := range mains {
		text := string(readFile(t, path))
		if strings.Contains(text, "httpapi.Lambda(") && !strings.Contains(text, "env.Audit") {
			t.Errorf("%s answers requests without records of them", path)
		}
		if strings.Contains(text, "batchdb.New(") && !strings.Contains(text, ".Audited(env.Audit)") &&
			!changesNoBatch[filepath.Base(filepath.Dir(path))] {
			t.Errorf("%s changes batches without records of it", path)
		}
	}
}
