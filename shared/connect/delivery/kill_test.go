package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/connect/event"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// killer ends a function at one of its calls, before the call is made or after it, as if its process was killed.
type killer struct {
	calls, at int
	after     bool
	killed    bool
}

// errKilled is the panic of a killed function.
var errKilled = errors.New("killed")

func (k *killer) enter() (leave func()) {
	k.calls++
	call := k.calls
	k.kill(call, false)
	return func() { k.kill(call, true) }
}

func (k *killer) kill(call int, after bool) {
	if call == k.at && after == k.after && !k.killed {
		k.killed = true
		panic(errKilled)
	}
}

// Do passes a request on to DynamoDB.
func (k *killer) Do(r *http.Request) (*http.Response, error) {
	defer k.enter()()
	return http.DefaultClient.Do(r)
}

// survive calls a function, and again until it is not killed, as Lambda and Step Functions do.
func (s *simulation) survive(f func() error) {
	s.t.Helper()
	for {
		killed := errtest.Must(func() (killed bool, err error) {
			defer func() {
				if p := recover(); p != nil {
					if p != errKilled {
						panic(p)
					}
					killed = true
				}
			}()
			return false, f()
		}())(s.t)
		if !killed {
			return
		}
		s.now = s.now.Add(time.Second)
	}
}

// surviveSend has the event of a batch delivered.
func (s *simulation) surviveSend(batch string) {
	m := s.newMessage(batch)
	s.survive(func() error { return s.dispatcher.Send(context.Background(), m) })
}

// Whichever of its calls a function is killed at, each event reaches its webhook: once, or twice where the receiver has
// answered and that could not be recorded. Nothing is lost, no event about a webhook is another one the second time,
// and nothing is left to do.
func TestKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, scenario := range []struct {
		name string
		// play plays until everything has ended, and reports how many messages the receivers should have accepted.
		play func(s *simulation) (want int)
		// events are the types of the events about webhooks.
		events string
	}{
		{"delivered at the second attempt", playSecondAttempt, ""},
		{"gone", playGone, "webhook:disabled"},
		{"recovered", playRecovered, "webhook:recovered"},
		{"batches", playBatches, ""},
		{"sent again", playResend, "webhook:recovered"},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			t.Parallel()
			server := dynamotest.Start(t)
			runs, doubled := 0, 0
			for at, reached := 1, true; reached; at++ {
				for _, after := range []bool{false, true} {
					k := &killer{at: at, after: after}
					s := simulationKilledBy(t, server, k)
					want := scenario.play(s)
					accepted, once := s.accepted()
					difftest.Equal(t,
						fmt.Sprintf("killed at call %d (after it: %v): messages were accepted", at, after), want, once)
					doubled += accepted - once
					if accepted-once > 2 { // a whole delivery of the type Batch
						t.Errorf("killed at call %d (after it: %v): %d messages came twice", at, after, accepted-once)
					}
					difftest.Equal(t, fmt.Sprintf("killed at call %d (after it: %v): announced", at, after),
						scenario.events, s.announcedTypes())
					if reached = k.killed; reached {
						runs++
					}
				}
			}
			t.Logf("%d kills: 0 messages lost, %d came twice", runs, doubled)
		})
	}
}

// simulationKilledBy returns a simulation whose functions a killer kills, with two webhooks.
func simulationKilledBy(t *testing.T, server *dynamodb.Client, k *killer) *simulation {
	leaveCarriers(t, server)
	options := server.Options()
	options.HTTPClient, options.RetryMaxAttempts = k, 1
	s := simulationOn(t, webhookdb.New(dynamodb.New(options), "test-webhooks"))
	at := k.at
	k.at = 0 // not while the webhooks are made
	s.create("w1", func(w *webhook.Webhook) {
		w.EventTypes = []string{string(event.BatchProcessed), string(event.WebhookRecovered)}
	})
	s.create("w2", func(w *webhook.Webhook) {
		w.Type, w.BatchSize, w.EventTypes = webhook.Batch, 2, []string{string(event.BatchFailed)}
	})
	s.create("w3", func(w *webhook.Webhook) { w.EventTypes = []string{string(event.WebhookDisabled)} })
	k.calls, k.at, s.enter = 0, at, k.enter
	s.surviving = true
	return s
}

// leaveCarriers removes the places and offers that another simulation has left, whose clock began at the same time.
func leaveCarriers(t *testing.T, server *dynamodb.Client) {
	rows := dynamo.Table{DB: server, Name: "test-webhooks"}
	for item, err := range rows.All(t.Context(), "calls#0", "") {
		errtest.Fatal(t, err)
		key := dynamo.Item{"owner": item["owner"], "part": item["part"]}
		errtest.Fatal(t, rows.Apply(t.Context(), "remove", rows.Delete(key, "", nil)))
	}
}

// accepted returns how many messages receivers have answered with 2xx, and how many different ones these are.
func (s *simulation) accepted() (all, different int) {
	seen := map[string]bool{}
	for _, r := range s.received {
		if !r.accepted {
			continue
		}
		for _, part := range strings.Split(r.body, `"causationId":"`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			all++
			seen[r.webhook+id] = true
		}
	}
	return all, len(seen)
}

// announcedTypes returns the types of the different events about webhooks.
func (s *simulation) announcedTypes() string {
	seen := map[string]bool{}
	var types []string
	for _, m := range s.announced {
		text := errtest.Must(m.Encode())(s.t)
		if !seen[string(text)] {
			seen[string(text)] = true
			types = append(types, string(m.Type))
		}
	}
	return strings.Join(types, " ")
}

// answers makes the receiver answer each request to w1 with the next status, and the last one for ever.
func (s *simulation) answers(statuses ...int) {
	s.answer = func(r *http.Request, _ []byte) (*outbound.Reply, error) {
		if !strings.HasSuffix(r.URL.Path, "w1") {
			return &outbound.Reply{Status: 200}, nil
		}
		status := statuses[0]
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
		return &outbound.Reply{Status: status}, nil
	}
}

func playSecondAttempt(s *simulation) int {
	s.answers(500, 200)
	s.surviveSend("b")
	s.runUntil(start.Add(time.Hour))
	if h := s.surviveGet("w1").Health; h != (webhook.Health{}) {
		s.t.Errorf("health %+v, want none", h)
	}
	return 1
}

func playGone(s *simulation) int {
	s.answers(410)
	s.surviveSend("b")
	s.runUntil(start.Add(time.Hour))
	if w := s.surviveGet("w1"); w.Enabled || w.Health.DisabledReason != webhook.ReasonGone {
		s.t.Errorf("the webhook is enabled: %v, %+v; want it gone", w.Enabled, w.Health)
	}
	return 1 // that w1 is disabled, to w3
}

func playRecovered(s *simulation) int {
	s.step.Policy.Patience = time.Second
	s.answers(500)
	s.surviveSend("lost")
	s.runUntil(start.Add(time.Hour))
	s.answers(200)
	s.surviveSend("first")
	s.surviveSend("second")
	s.runUntil(start.Add(2 * time.Hour))
	if h := s.surviveGet("w1").Health; h != (webhook.Health{}) {
		s.t.Errorf("health %+v, want none", h)
	}
	return 3 // both, and that w1 has recovered
}

func playBatches(s *simulation) int {
	for i := range 3 {
		m := s.newMessage(fmt.Sprint("b", i))
		m.ID, m.Type = event.NewID(event.BatchFailed, m.CausationID), event.BatchFailed
		s.survive(func() error { return s.dispatcher.Send(context.Background(), m) })
	}
	s.runUntil(start.Add(time.Hour))
	return 3
}

func playResend(s *simulation) int {
	s.step.Policy.Patience = time.Second
	s.answers(500)
	s.surviveSend("b")
	s.runUntil(start.Add(time.Hour))
	s.answers(200)
	var d webhook.Delivery
	s.survive(func() error { d = s.deliveries("w1")[0]; return nil })
	s.survive(func() error { _, err := s.dispatcher.Resend(context.Background(), d); return err })
	s.runUntil(start.Add(2 * time.Hour))
	return 2 // the batch, and that w1 has recovered
}

func (s *simulation) surviveGet(id string) (w webhook.Webhook) {
	s.survive(func() error { w = s.webhook(id); return nil })
	return w
}
