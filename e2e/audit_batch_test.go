package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// personal are values that are in lines of files and nowhere else in the suite. No log may have them.
var personal = struct{ name, account, city string }{"Zaphira Quellwasser", "NL91ABNA0417164300", "Oberkaltenbrunn"}

// personalLine returns a valid line with personal data.
func personalLine() line {
	return validLine().withUnknown("receiver", map[string]any{
		"external_id": "someone", "full_name": personal.name, "account_number": personal.account, "city": personal.city,
	})
}

// grepBatch searches a log for a batch, as docs/operations.md says.
func grepBatch(t *testing.T, e *Environment, log, batchID string) []string {
	t.Helper()
	out, err := exec.Command("grep", "--", batchID, filepath.Join(e.Data, "logs", log)).Output()
	require(t, err == nil, "grep %s in %s: %v", batchID, log, err)
	return slices.Collect(strings.Lines(string(out)))
}

// The logs have every status of a batch and how it ended, under its ID.
func TestBatchesAreFoundInTheLogs(t *testing.T) {
	api := begin(t, functionLog)
	invalid := personalLine().with("ip_address", personal.name).withModification("currency", personal.city)
	for _, test := range []struct {
		name     string
		file     []byte
		statuses []string
		want     map[string]any
	}{
		{
			"processed", jsonLines(personalLine(), personalLine()),
			[]string{"AWAITING_UPLOAD", "UPLOADED", "VALIDATION_STARTED", "PENDING_INGESTION", "INITIALIZED",
				"IN_PROGRESS", "PROCESSED"},
			map[string]any{"lines": 2., "accepted": 2., "invalid": 0., "lines_per_second": nil},
		},
		{"failed", jsonLines(personalLine(), invalid),
			[]string{"AWAITING_UPLOAD", "UPLOADED", "VALIDATION_STARTED", "VALIDATION_FAILED"},
			map[string]any{"lines": 2., "accepted": 1., "invalid": 1., "error": nil}},
		{"errored", []byte(eicar), []string{"AWAITING_UPLOAD", "UPLOADED", "ERROR"},
			map[string]any{"lines": 0., "error": nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			batchID := api.startBatch(true, test.file)
			last, _ := api.follow(batchID)
			if want := test.statuses[len(test.statuses)-1]; last.Status != want {
				t.Fatalf("the batch ended with %s (%s), want %s", last.Status, last.ErrorMessage, want)
			}
			statuses, end := waitForEnd(t, batchID)
			assert(t, slices.Equal(statuses, test.statuses), "got the statuses %v, want %v", statuses, test.statuses)
			want := map[string]any{"batch": batchID, "tenant": environment.TenantID, "client": environment.ClientID,
				"from": test.statuses[len(test.statuses)-2], "bytes": float64(len(test.file)), "seconds": nil,
				"received_at": nil, "etag": nil}
			for name, value := range test.want {
				want[name] = value
			}
			expectMembers(t, end, want)
			all := strings.Join(grepBatch(t, environment, "functions.log", batchID), "")
			for _, part := range []string{
				`"route":"` + transactionsPath + `batch/generate-upload-url"`, `"msg":"batch created"`,
				`"msg":"upload scanned"`, `"msg":"batch finished"`,
			} {
				assert(t, strings.Contains(all, part), "the log does not have %s:\n%s", part, all)
			}
		})
	}
}

// waitForEnd waits until the audit trail has the end of a batch. It returns the statuses that the batch was in, and the
// record of its end.
func waitForEnd(t *testing.T, batchID string) (statuses []string, end auditRecord) {
	t.Helper()
	eventually(t, "the record of the end", func() bool {
		statuses = nil
		for _, text := range grepBatch(t, environment, "audit.jsonl", batchID) {
			var r auditRecord
			must(t, json.Unmarshal([]byte(text), &r))
			if r["record"] == "transition" {
				statuses = append(statuses, r["to"].(string))
				end = r
			}
		}
		return end["msg"] == "batch finished"
	})
	return statuses, end
}
