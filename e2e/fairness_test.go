package e2e

import (
	"context"
	"net/http"
	"testing"
	"time"

	"sluice/client"
)

// Hanging receivers delay no fast receiver: not another tenant's, and their own tenant's not for long.
func TestSlowReceiversDelayNobodyElse(t *testing.T) { testSlowReceivers(t, 1) }

// testSlowReceivers has nine webhooks hang with some events each, and then measures how long events of the same tenant
// and of another one take from the end of a batch to a receiver that answers at once.
func testSlowReceivers(t *testing.T, events int) {
	slow := beginBatchTenant(t, receivers)
	other := loginBatchTenant(t, environment)
	hanging, fast, fastOfOther := slow.newReceiver(), slow.newReceiver(), other.newReceiver()
	ended := make(chan struct{})
	hanging.answers(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	})
	other.newWebhook(fastOfOther.URL, client.WebhookSettings{})
	var hangs []client.Webhook
	for range 9 {
		hangs = append(hangs, slow.newWebhook(hanging.URL, client.WebhookSettings{}))
	}
	slow.newWebhook(fast.URL, client.WebhookSettings{})
	t.Cleanup(func() { // no attempt is left for other tests
		close(ended)
		for _, w := range hangs {
			must(t, slow.client.DeleteWebhook(context.WithoutCancel(t.Context()), w.ID))
		}
	})
	for range events {
		slow.endBatch()
	}
	ofSame := time.Now()
	other.endBatch()
	ofOther := time.Now()
	fastOfOther.waitFor(t, 1)
	toOther := time.Since(ofOther)
	fast.waitFor(t, events)
	toSame := time.Since(ofSame)
	t.Logf("beside %d hanging deliveries: %v to a receiver of the same tenant, %v to one of another tenant",
		9*events, toSame, toOther)
	assert(t, toSame < 15*time.Second, "receiver of the same tenant: events after %v, want less than 15 s", toSame)
	assert(t, toOther < 5*time.Second, "receiver of another tenant: event after %v, want less than 5 s", toOther)
	if events > 1 {
		return // it takes minutes; the simulation in shared/connect/delivery shows that each has its turn
	}
	eventually(t, "an attempt of each hanging delivery", func() bool {
		seen := map[string]bool{}
		for _, r := range hanging.requests() {
			seen[r.header.Get("x-sluice-delivery")] = true
		}
		return len(seen) == 9*events
	})
}
