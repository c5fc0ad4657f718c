//go:build verify

package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/connect/event"
)

// killRule says at which of its calls to AWS a function is killed (local/README.md, Killing functions).
type killRule struct {
	Function string
	// Call counts from 1 those calls that a function makes for an event with Payload in it.
	Call int
	// After means that the call is answered, but the function does not get the answer.
	After   bool
	Payload string
}

// killState is what has become of a killRule: the calls that counted, and the one at which the function was killed.
type killState struct {
	Calls  int
	Killed string
}

// unharmed is the call of a rule that only counts calls.
const unharmed = 1e6

// callFaults sends a signed request to the part of the local cloud that kills functions, and decodes its answer into
// out, which may be nil.
func (e *Environment) callFaults(operation string, in, out any) error {
	resp, err := e.callSigned(context.Background(), "POST", "sluice", "",
		http.Header{"X-Amz-Target": {"SluiceFaults." + operation}}, []byte(jsonText(in)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered with %s", operation, resp.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// arm has a function killed by a rule, and returns how the rule's state is read.
func (e *Environment) arm(rule killRule) (read func() (killState, error), err error) {
	var kill struct {
		Number int `json:"number"`
	}
	err = e.callFaults("Arm", rule, &kill)
	return func() (state killState, err error) { return state, e.callFaults("State", kill, &state) }, err
}

// eachKill has a function killed before and after each of its calls to AWS: run is called once with a rule that only
// counts the calls, of which there must be some, and then for each time at which the function is killed.
func eachKill(t *testing.T, function string, least int, run func(t *testing.T, k killRule) killState) {
	t.Helper()
	calls := run(t, killRule{Function: function, Call: unharmed}).Calls
	require(t, calls >= least, "%s makes %d calls, want %d or more", function, calls, least)
	for i := range 2 * calls {
		k := killRule{Function: function, Call: i/2 + 1, After: i%2 == 1}
		t.Run(fmt.Sprintf("%s call %d after %v", function, k.Call, k.After), func(t *testing.T) {
			t.Parallel()
			state := run(t, k)
			if t.Logf("killed at %q", state.Killed); state.Killed == "" {
				t.Error("the function was not killed")
			}
		})
	}
}

// killed calls do while a function is killed by a rule, and returns the state of the rule after it.
func (e *Environment) killed(t *testing.T, k killRule, do func()) killState {
	t.Helper()
	read := ok(e.arm(k))(t)
	do()
	return ok(read())(t)
}

// killing is a session of a tenant of its own, which has a webhook, in a cloud whose functions are killed.
type killing struct {
	*session
	receiver *receiver
}

// newKilling makes a tenant whose batches may be announced twice.
func newKilling(t *testing.T, e *Environment) killing {
	t.Helper()
	s := loginBatchTenant(t, e)
	e.killsFunctionsOf.Store(s.tenantID, true)
	c := killing{s, s.newReceiver()}
	c.newWebhook(c.receiver.URL, client.WebhookSettings{})
	return c
}

// deliveries returns how often the receiver got the event about the end of a batch.
func (r *receiver) deliveries(t *testing.T, id string) (n int) {
	t.Helper()
	for _, r := range r.requests() {
		if ok(event.Decode(r.body))(t).CausationID == id {
			n++
		}
	}
	return n
}

// killRun is one batch during which a function is killed.
type killRun struct {
	killRule
	killState
	// status is the one in which the batch ended, events how often that was announced to the bus, delivered how often
	// to the webhook.
	status            string
	events, delivered int
	// seconds is the time from the end of the batch until its announcement was seen.
	seconds float64
	// swept means that it was announced only after a sweep.
	swept bool
	// exported means that the accepted lines are written as Parquet.
	exported bool
}

// run makes a batch end by end while a function is killed at one of its calls, and waits for the announcement.
func (c killing) run(t *testing.T, k killRule, end func(api *session, u client.Upload)) killRun {
	t.Helper()
	api := c.in(t)
	u := api.newUpload(true)
	k.Payload = cmp.Or(k.Payload, u.BatchID)
	r := killRun{killRule: k}
	r.killState = c.environment.killed(t, k, func() {
		end(api, u)
		last, _ := api.follow(u.BatchID)
		r.status = last.Status
		r.waitForAnnouncement(t, c, u.BatchID)
	})
	return r
}

// waitForAnnouncement waits until the end of a batch is announced to the bus and to the webhook, and nothing is
// recorded to be announced any more. It sweeps if that takes long.
func (r *killRun) waitForAnnouncement(t *testing.T, c killing, id string) {
	t.Helper()
	ended := time.Now()
	eventually(t, fmt.Sprintf("the announcement of batch %s with %+v", id, r.killRule), func() bool {
		row := c.environment.batchRow(t, id) // before the events: what comes after it is not owed
		_, r.exported = row["parquet"]
		r.events = len(ok(c.environment.busEvents())(t)[id])
		if r.seconds == 0 && r.events > 0 {
			r.seconds = time.Since(ended).Seconds()
		}
		if !r.swept && time.Since(ended) > 8*time.Second {
			r.swept = true
			c.environment.invoke(t, "scan", scheduledEvent, true) // which is repeated if it is killed, too
		}
		r.delivered = c.receiver.deliveries(t, id)
		return r.events > 0 && r.delivered > 0 && row["unannounced"] == nil
	})
}

// killRuns collects runs.
type killRuns struct {
	mu   sync.Mutex
	runs []killRun
}

func (k *killRuns) add(r killRun) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs = append(k.runs, r)
}

// table returns what the runs add up to, and a line for each.
func (k *killRuns) table() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	slices.SortStableFunc(k.runs, func(a, b killRun) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.status, b.status), cmp.Compare(a.Call, b.Call))
	})
	var lines strings.Builder
	counts := map[string]int{}
	count := func(name string, holds bool) {
		if holds {
			counts[name]++
		}
	}
	for _, r := range k.runs {
		count("announced", r.events > 0)
		count("announced twice", r.events > 1)
		count("delivered", r.delivered > 0)
		count("delivered twice", r.delivered > 1)
		count("announced only after a sweep", r.swept)
		fmt.Fprintf(&lines, "%-9s call %2d after it %-5v %-24.24s %-18s bus %d webhook %d %6.2f s\n", r.Function,
			r.Call,
			r.After, r.Killed, r.status, r.events, r.delivered, r.seconds)
	}
	return fmt.Sprintf("%d runs: %v\n%s", len(k.runs), counts, &lines)
}
