package e2e

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

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

// killing is a cloud whose functions can be killed, with a webhook of its tenant.
type killing struct {
	*Environment
	receiver *receiver
}

// newKillingCloud starts a local cloud whose functions are killed by rules, and where a test wants it.
func newKillingCloud(t *testing.T, rules ...string) killing {
	t.Helper()
	requires(t, otherSettings)
	options := []string{"--kill", "none", "--set", "SweepAge=1"}
	for _, r := range rules {
		options = append(options, "--kill", r)
	}
	e := ok(startLocalCloud(t.TempDir(), options...))(t)
	e.killsFunctions = true
	stopAtEnd(t, e)
	api := login(t, e)
	c := killing{e, api.newReceiver()}
	api.newWebhook(c.receiver.URL, "")
	return c
}

// deliveries returns how often the receiver got the event about the end of a batch.
func (c killing) deliveries(t *testing.T, id string) (n int) {
	t.Helper()
	for _, r := range c.receiver.requests() {
		m := ok(event.Decode(r.body))(t)
		if m.CausationID == id {
			n++
		}
	}
	return n
}

// callFaults sends a signed request to the part of the local cloud that kills functions, and decodes its answer into
// out.
func (c killing) callFaults(operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, c.AWSEndpointURL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Amz-Target", "SluiceFaults."+operation)
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(request.Context(),
		aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey}, request,
		hex.EncodeToString(sum[:]), "sluice", c.Region, time.Now()); err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered with %s", operation, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// arm has a function killed by a rule, and returns how the rule's state is read.
func (c killing) arm(t *testing.T, rule killRule) (read func() killState) {
	t.Helper()
	var kill struct {
		Number int `json:"number"`
	}
	must(t, c.callFaults("Arm", rule, &kill))
	return func() (state killState) {
		t.Helper()
		must(t, c.callFaults("State", kill, &state))
		return state
	}
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
	api := login(t, c.Environment)
	u := api.newUpload(true)
	k.Payload = cmp.Or(k.Payload, u.BatchID)
	read := c.arm(t, k)
	end(api, u)
	last, _ := api.follow(u.BatchID)
	r := killRun{killRule: k, status: last.Status}
	r.waitForAnnouncement(t, c, u.BatchID)
	r.killState = read()
	return r
}

// waitForAnnouncement waits until the end of a batch is announced to the bus and to the webhook, and nothing is
// recorded to be announced any more. It sweeps if that takes long.
func (r *killRun) waitForAnnouncement(t *testing.T, c killing, id string) {
	t.Helper()
	ended := time.Now()
	eventually(t, fmt.Sprintf("the announcement of batch %s with %+v", id, r.killRule), func() bool {
		row := c.batchRow(t, id) // before the events: what comes after it is not owed
		_, isOwed := row["unannounced"]
		_, r.exported = row["parquet"]
		all := ok(c.busEvents())(t)
		if r.seconds == 0 && len(all[id]) > 0 {
			r.seconds = time.Since(ended).Seconds()
		}
		if !r.swept && time.Since(ended) > 8*time.Second {
			r.swept = true
			c.sweep(t)
		}
		r.events, r.delivered = len(all[id]), c.deliveries(t, id)
		return r.events > 0 && r.delivered > 0 && !isOwed
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
	announced, doubled, swept, delivered, deliveredTwice := 0, 0, 0, 0, 0
	for _, r := range k.runs {
		if r.events > 0 {
			announced++
		}
		if r.events > 1 {
			doubled++
		}
		if r.delivered > 0 {
			delivered++
		}
		if r.delivered > 1 {
			deliveredTwice++
		}
		if r.swept {
			swept++
		}
		when := "before"
		if r.After {
			when = "after"
		}
		fmt.Fprintf(&lines, "%-9s call %2d %-6s %-24.24s %-18s bus %d webhook %d %6.2f s\n", r.Function, r.Call, when,
			r.Killed, r.status, r.events, r.delivered, r.seconds)
	}
	n := len(k.runs)
	return fmt.Sprintf("%d runs. Bus: %d announced, %d lost, %d doubled. Webhook: %d delivered, %d lost, %d doubled. "+
		"%d only after a sweep.\n%s", n, announced, n-announced, doubled, delivered, n-delivered, deliveredTwice, swept,
		&lines)
}
