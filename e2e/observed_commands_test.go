package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// The commands count what was stored and what was not, list the latter and say why, whether it was sent singly or in a
// batch.
func TestObservabilityCommands(t *testing.T) {
	c := beginBatchTenant(t)
	single, refused := validLine(), validLine().withSender("nobody")
	inBatch, dropped := validLine(), validLine().with("payment_type", "none")
	began := time.Now().UTC()
	for command, lines := range map[string][]line{"send": {single, refused}, "upload": {inBatch, dropped}} {
		args := []string{command, writeFile(t, "lines.jsonl", jsonLines(lines...))}
		if command == "upload" {
			args = append(args, "--max-rejected", "1")
		}
		c.run(1, args...)
	}

	var stored, failed int
	for text := range strings.Lines(c.run(0, "summary", "--days", "3", "--json")) {
		var day daySummary
		if err := json.Unmarshal([]byte(text), &day); err != nil {
			t.Fatalf("summary --json printed %q: %v", text, err)
		}
		stored, failed = stored+day.Succeeded, failed+day.Failed
	}
	assert(t, stored == 2 && failed == 2, "summary: %d stored and %d not, want 2 and 2", stored, failed)
	if text := c.run(0, "summary", "--days", "3"); !strings.HasSuffix(text, "total       2 stored  2 not stored\n") {
		t.Errorf("summary printed %q, want a total of 2 and 2", text)
	}

	var ids []string // of the day of the requests, or of both if midnight was among them
	ended := time.Now().UTC()
	for _, day := range slices.Compact([]string{began.Format(time.DateOnly), ended.Format(time.DateOnly)}) {
		ids = append(ids, strings.Fields(c.run(0, "failed", day))...)
	}
	want := []string{refused.modificationID(), dropped.modificationID()}
	slices.Sort(ids)
	slices.Sort(want)
	equal(t, "failed", want, ids)

	for name, o := range map[string]struct {
		line line
		code int
		want string
	}{
		"sent": {single, 0, "  succeeded  201  "}, "refused": {refused, 1, "  failed  400  "},
		"stored": {inBatch, 0, "  succeeded  201  "}, "dropped": {dropped, 1, "  failed  400  "},
	} {
		id := o.line.modificationID()
		if text := c.run(o.code, "events", id); strings.Count(text, "\n") != 1 ||
			!strings.Contains(text, o.want+id+"  "+o.line.transactionID()+"  ") {
			t.Errorf("events of the transaction that was %s: %q, want one line with %q", name, text, o.want)
		}
	}
	if text := c.run(1, "events", "nobody sent this"); !strings.Contains(text, "nothing was found") {
		t.Errorf("events of nothing: %q", text)
	}
	c.run(2, "failed", "2020-01-31")
	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "BatchRead"))
	for _, args := range [][]string{{"summary"}, {"failed"}, {"events", "m"}} {
		other.run(2, args...)
	}
}
