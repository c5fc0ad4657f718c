package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The deliver function is killed before and after each of its calls to AWS. Every delivery succeeds: once, or twice
// where the receiver has answered and that could not be recorded.
func TestDeliveriesSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKillingCloud(t)
	var mu sync.Mutex
	var table []string
	t.Cleanup(func() {
		slices.Sort(table)
		t.Logf("%d kills\n%s", len(table), strings.Join(table, "\n"))
	})
	// deliver has a test delivered to a webhook of a tenant of its own, as a tenant may have few webhooks at a time,
	// and returns how often the receiver got it.
	deliver := func(t *testing.T, rule killRule) (state killState, received int, d deliveryView) {
		t.Helper()
		s := loginTenantOf(t, cloud.Environment)
		receiver := s.newReceiver()
		w := s.newWebhook(receiver.URL, "")
		rule.Function, rule.Payload = "deliver", w.ID
		read := cloud.arm(t, rule)
		d = s.test(w)
		state = read()
		for _, r := range receiver.requests() {
			if r.header.Get("x-sluice-delivery") == d.ID {
				received++
			}
		}
		return state, received, d
	}
	unharmed, _, _ := deliver(t, killRule{Call: 1e6})
	if unharmed.Calls < 4 {
		t.Fatalf("deliver makes %d calls, want 4 or more", unharmed.Calls)
	}
	for i := range 2 * unharmed.Calls {
		kill := killRule{Call: i/2 + 1, After: i%2 == 1}
		t.Run(fmt.Sprintf("call %d after %v", kill.Call, kill.After), func(t *testing.T) {
			t.Parallel()
			state, received, d := deliver(t, kill)
			if state.Killed == "" || d.summary() != "Successful -" || d.AttemptCount != 1 {
				t.Errorf("killed at %q, the delivery is %s after %d attempts, want a kill and one success",
					state.Killed, d.summary(),
					d.AttemptCount)
			}
			// The last call records the attempt.
			want := 1
			if kill.Call == unharmed.Calls && !kill.After {
				want = 2
			}
			if received != want {
				t.Errorf("killed at %q, it was received %d times, want %d", state.Killed, received, want)
			}
			mu.Lock()
			defer mu.Unlock()
			table = append(table, fmt.Sprintf("call %d, after it: %-5v  %-40s  received %d", kill.Call, kill.After,
				state.Killed, received))
		})
	}
}
