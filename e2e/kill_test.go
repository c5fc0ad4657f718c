package e2e

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
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
	"sluice/shared/event"
)

// killRule says at which of its calls to AWS a function is killed (local/README.md, Killing functions).
type killRule struct {
	Function string
	Call     int
	After    bool
	Payload  string
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
	e, err := startLocalCloud(t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
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
		m, err := event.Decode(r.body)
		if err != nil {
			t.Fatal(err)
		}
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
	var kill struct {
		Number int `json:"number"`
	}
	if err := c.callFaults("Arm", k, &kill); err != nil {
		t.Fatal(err)
	}
	end(api, u)
	last, _ := api.follow(u.BatchID)
	r := killRun{killRule: k, status: last.Status}
	r.waitForAnnouncement(t, c, u.BatchID)
	if err := c.callFaults("State", kill, &r.killState); err != nil {
		t.Fatal(err)
	}
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
		all, err := c.busEvents()
		if err != nil {
			t.Fatal(err)
		}
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

// uploading returns an end of a batch by the upload of a file.
func uploading(t *testing.T, file []byte) func(*session, client.Upload) {
	return func(_ *session, u client.Upload) {
		if code, text := put(t, u, file); code != http.StatusOK {
			t.Errorf("upload: %d %s", code, text)
		}
	}
}

// Each function that ends batches, and the one that announces it, is killed before and after each of its calls to AWS.
// Every batch ends as it would have ended, and is announced: once, unless announce is killed when the bus has the event
// and the record does not say so, which is between two calls. The accepted lines of every processed batch are written
// as Parquet.
func TestAnnouncementsSurviveKills(t *testing.T) {
	t.Parallel()
	cloud := newKillingCloud(t)
	onboardEntities(t, cloud.Environment)
	cloud.killRepeatedRequests(t)
	login(t, cloud.Environment).setTenant("parquet=true")
	invalid := []byte(strings.Replace(validLine().String(), `"EUR"`, `"E"`, 1) + "\n")
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, test := range []struct {
		name, function, status string
		end                    func(t *testing.T) func(*session, client.Upload)
	}{
		{"close", "close", "PROCESSED",
			func(t *testing.T) func(*session, client.Upload) { return uploading(t, jsonLines(validLine())) }},
		{"announce", "announce", "PROCESSED",
			func(t *testing.T) func(*session, client.Upload) { return uploading(t, jsonLines(validLine())) }},
		{"export", "export", "PROCESSED",
			func(t *testing.T) func(*session, client.Upload) { return uploading(t, jsonLines(validLine())) }},
		{"verdict", "verdict", "VALIDATION_FAILED",
			func(t *testing.T) func(*session, client.Upload) { return uploading(t, invalid) }},
		{"scan", "scan", "ERROR",
			func(t *testing.T) func(*session, client.Upload) { return uploading(t, []byte(eicar)) }},
		{"scan of a packed file", "scan", "PROCESSED", func(t *testing.T) func(*session, client.Upload) {
			return uploading(t, packGzip(t, jsonLines(validLine())))
		}},
		{"close after a failure", "close", "ERROR", func(t *testing.T) func(*session, client.Upload) {
			return func(_ *session, u client.Upload) {
				cloud.invoke(t, "close", `{"batch_id":"`+u.BatchID+`","failure":{"Error":"E","Cause":"C"}}`, true)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			calls := cloud.run(t, killRule{Function: test.function, Call: 1e6}, test.end(t)).Calls
			if calls == 0 {
				t.Fatalf("%s makes no calls", test.function)
			}
			for i := range 2 * calls {
				kill := killRule{Function: test.function, Call: i/2 + 1, After: i%2 == 1}
				if test.status == "PROCESSED" && test.function == "scan" && !kill.After {
					continue // it makes many calls, and to be killed before one is as to be killed after the one before
				}
				t.Run(fmt.Sprintf("call %d after %v", kill.Call, kill.After), func(t *testing.T) {
					t.Parallel()
					r := cloud.run(t, kill, test.end(t))
					// It makes more calls for a batch whose slot others were given at the same time, and now it made
					// fewer.
					isSpared := r.Killed == "" && r.Calls < kill.Call
					if r.Killed == "" && !isSpared || r.status != test.status {
						t.Errorf("killed at %q, the batch ended with %s, want a kill and %s", r.Killed, r.status,
							test.status)
					}
					if mayDouble := test.function == "announce" && kill.Call > 1; r.events > 1 && !mayDouble {
						t.Errorf("killed at %q, the end is announced %d times, want once", r.Killed, r.events)
					}
					if r.exported != (r.status == "PROCESSED") {
						t.Errorf("killed at %q, a batch in %s has a Parquet file: %v", r.Killed, r.status, r.exported)
					}
					if r.delivered != 1 {
						t.Errorf("killed at %q, the end is delivered %d times, want once", r.Killed, r.delivered)
					}
					runs.add(r)
				})
			}
		})
	}
}

var everyKill = flag.Bool("every-kill", false, "kill the sweep at each of its calls, too, which takes minutes")

// The sweep is killed at each of its calls while it ends a batch that was never uploaded.
func TestAnnouncementsSurviveKillsOfTheSweep(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	cloud := newKillingCloud(t)
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	for _, after := range []bool{false, true} {
		for call, killed := 1, true; killed; call++ {
			event := fmt.Sprintf(`{"detail-type":"Scheduled Event","source":"aws.events","id":"%d %v"}`, call, after)
			k := killRule{Function: "scan", Call: call, After: after, Payload: event}
			r := cloud.run(t, k, func(api *session, u client.Upload) {
				cloud.expectNoUpload(t, u.BatchID)
				cloud.invoke(t, "scan", event, false)
				eventually(t, "the end of the batch", func() bool {
					cloud.sweep(t)
					now, err := api.client.Status(t.Context(), u.BatchID)
					return err == nil && now.Status == "ERROR"
				})
			})
			if killed = r.Killed != ""; killed {
				runs.add(r)
			}
			if r.status != "ERROR" || r.events != 1 {
				t.Errorf("killed at %q, the batch ended with %s, announced %d times, want ERROR and once", r.Killed,
					r.status, r.events)
			}
		}
	}
}

// Many batches end while all functions are killed by chance.
func TestAnnouncementsSurviveRandomKills(t *testing.T) {
	if !*everyKill {
		t.Skip("needs -every-kill")
	}
	const seed, batches = "13", 300
	cloud := newKillingCloud(t, "random:"+seed+":100")
	onboardEntities(t, cloud.Environment)
	var runs killRuns
	t.Cleanup(func() { t.Log(runs.table()) })
	t.Run("batches", func(t *testing.T) {
		for i := range batches {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				file := jsonLines(validLine())
				switch i % 3 {
				case 1:
					file = []byte("{}\n")
				case 2:
					file = []byte(eicar)
				}
				runs.add(cloud.run(t, killRule{Function: "none", Call: 1}, uploading(t, file)))
			})
		}
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
