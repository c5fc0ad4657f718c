package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client"
)

// With three executions at a time in the account and six write units a second in each table, everything takes its time
// and everything ends: batches, their announcements, and deliveries to webhooks.
func TestEverythingEndsAtTheLimits(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "--limit", "concurrency=3", "--limit", "writes=*:6", "--set", "ChunkBytes=8192",
		"--set", "WebhookFirstPause=1", "--set", "WebhookCollectTime=1")
	onboardEntities(t, cloud)
	api := login(t, cloud)
	receiver := api.newReceiver()
	api.newWebhook(receiver.URL, "")
	want := map[string]string{api.startBatch(true, []byte("nonsense\n")): "VALIDATION_FAILED"}
	for range 2 {
		want[api.startBatch(true, jsonLines(validLines(12)...))] = "PROCESSED"
	}
	for id, status := range want {
		last, _ := api.follow(id)
		if last.Status != status {
			t.Errorf("batch %s ended with %s (%q), want %s", id, last.Status, last.ErrorMessage, status)
			continue
		}
		eventually(t, "the announcement of batch "+id, func() bool {
			events, err := cloud.busEvents()
			return err == nil && len(events[id]) > 0
		})
		assert(t, status != "PROCESSED" || hasStored(last.Counts, 12),
			"batch %s has the counts %+v, want 12 lines stored", id, last.Counts)
		eventually(t, "the delivery of the end of batch "+id, func() bool {
			for _, r := range receiver.requests() {
				if bytes.Contains(r.body, []byte(id)) {
					return true
				}
			}
			return false
		})
	}
	log := ok(os.ReadFile(filepath.Join(cloud.Data, "logs", "functions.log")))(t)
	for what, text := range map[string]string{
		"function": `"platform.throttled","reason":"ConcurrentInvocationLimitExceeded"`,
		"table":    `"platform.throttled","operation":"`,
	} {
		assert(t, strings.Contains(string(log), text), "no %s was throttled: the limits are too wide for this test",
			what)
	}
}

// hasStored reports whether counts say that n lines are stored.
func hasStored(c client.Counts, n int64) bool { return c.Ingested != nil && *c.Ingested == n }
