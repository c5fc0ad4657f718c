package delivery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhooktest"
	"sluice/shared/kit/errtest"
)

var start = time.Date(2025, 11, 25, 14, 3, 21, 0, time.UTC)

// simulation runs the deliveries of webhooks by a clock of its own: it takes the place of Step Functions, of the
// receivers, and of the key in KMS.
type simulation struct {
	t          *testing.T
	tenant     string
	now        time.Time
	store      webhook.Store
	dispatcher *Dispatcher
	step       *Step
	// queue are the calls of the step that are due, names the executions that were started.
	queue []dueCall
	// surviving means that functions may be killed, and are called again then.
	surviving bool
	names     map[string]bool
	// answer makes the receiver's answer; received are the requests that reached it.
	answer   func(r *http.Request, body []byte) (*outbound.Reply, error)
	received []received
	// announced are the events about webhooks.
	announced []event.Message
	// enter is called before each call that the functions make, but those to DynamoDB, and its result after the call;
	// see killer.
	enter func() (leave func())
}

type dueCall struct {
	at time.Time
	in Input
}

// received is a request that reached the receiver.
type received struct {
	at                time.Time
	delivery, webhook string
	header            http.Header
	body              string
	// accepted means that the answer was 2xx.
	accepted bool
}

func newSimulation(t *testing.T) *simulation { return simulationOn(t, webhooktest.NewMemory()) }

func simulationOn(t *testing.T, store webhook.Store) *simulation {
	s := &simulation{
		t: t, tenant: uuid.NewString(), now: start, store: store, names: map[string]bool{},
		enter: func() func() { return func() {} },
	}
	clock := func() time.Time { return s.now }
	s.dispatcher = &Dispatcher{Store: s.store, Starter: s, CollectTime: webhook.CollectTime, Now: clock}
	s.step = &Step{
		Store: s.store, Receivers: s, Secrets: s, Events: s, Now: clock, Random: func() float64 { return 0.5 },
		Policy: webhook.Policy{
			FirstPause: 5 * time.Second, MaxPause: time.Hour, Patience: 24 * time.Hour,
			DisableAfter: 5 * 24 * time.Hour,
		},
		Carriers: 1, OfferPause: time.Hour, NewHolder: func(context.Context) string { return uuid.NewString() },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	s.answerWith(200)
	return s
}

// Start implements Starter.
func (s *simulation) Start(_ context.Context, name string, in Start) error {
	defer s.enter()()
	if len(name) > 80 {
		s.t.Errorf("the execution %s has a name of %d characters, want at most 80", name, len(name))
	}
	if !s.names[name] {
		s.names[name] = true
		s.queue = append(s.queue, dueCall{s.now.Add(time.Duration(in.Wait) * time.Second),
			Input{Tenant: in.Tenant, WebhookID: in.WebhookID, DeliveryID: in.DeliveryID, Run: in.Run}})
	}
	return nil
}

// Do takes the place of outbound.Client.
func (s *simulation) Do(_ context.Context, _ string, r *http.Request) (*outbound.Reply, error) {
	defer s.enter()()
	body := errtest.Must(io.ReadAll(r.Body))(s.t)
	reply, err := s.answer(r, body)
	s.received = append(s.received, received{
		at: s.now, delivery: r.Header.Get(webhook.HeaderDelivery), webhook: r.URL.Path, header: r.Header,
		body:     string(body),
		accepted: err == nil && reply.Status/100 == 2,
	})
	return reply, err
}

// Open takes the place of sealed.Box: a sealed secret is the secret.
func (s *simulation) Open(_ context.Context, _, _ string, sealed []byte) ([]byte, error) {
	defer s.enter()()
	return sealed, nil
}

// Send takes the events about webhooks and passes them on to the other webhooks of the tenant.
func (s *simulation) Send(ctx context.Context, m event.Message) error {
	defer s.enter()()
	s.announced = append(s.announced, m)
	return s.dispatcher.Send(ctx, m)
}

func (s *simulation) answerWith(status int) {
	s.answer = func(*http.Request, []byte) (*outbound.Reply, error) { return &outbound.Reply{Status: status}, nil }
}

func (s *simulation) create(id string, change func(*webhook.Webhook)) webhook.Webhook {
	s.t.Helper()
	w := webhook.Webhook{
		ID: id, Tenant: s.tenant, URL: "https://receiver.test/" + id, Enabled: true, EventTypes: []string{"*"},
		Type: webhook.Single, BatchSize: 10, Secret: []byte("secret of " + id), CreatedAt: s.now, UpdatedAt: s.now,
	}
	if change != nil {
		change(&w)
	}
	errtest.Fatal(s.t, s.store.Create(s.t.Context(), w))
	return w
}

// newMessage returns the event of a batch that ended now.
func (s *simulation) newMessage(batch string) event.Message {
	return event.Message{
		ID: event.NewID(event.BatchProcessed, batch), Tenant: s.tenant, Type: event.BatchProcessed,
		RelativeURL: "/" + batch,
		Payload:     fmt.Appendf(nil, `{"batch_id":%q}`, batch), When: s.now, CorrelationID: batch, CausationID: batch,
	}
}

func (s *simulation) send(batch string) {
	s.t.Helper()
	errtest.Fatal(s.t, s.dispatcher.Send(s.t.Context(), s.newMessage(batch)))
}

// runUntil makes all calls of the step that are due by a time, in their order.
func (s *simulation) runUntil(end time.Time) {
	s.t.Helper()
	for {
		next := -1
		for i, c := range s.queue {
			if !c.at.After(end) && (next < 0 || c.at.Before(s.queue[next].at)) {
				next = i
			}
		}
		if next < 0 {
			s.now = end
			return
		}
		c := s.queue[next]
		s.queue = slices.Delete(s.queue, next, next+1)
		if c.at.After(s.now) {
			s.now = c.at
		}
		s.call(c.in)
	}
}

// call calls the step once, and again later if it asks for that.
func (s *simulation) call(in Input) {
	var out Output
	handle := func() (err error) {
		out, err = s.step.Handle(s.t.Context(), in)
		return err
	}
	if s.surviving {
		s.survive(handle)
	} else if err := handle(); err != nil {
		s.t.Fatal(err)
	}
	if !out.Done {
		s.queue = append(s.queue, dueCall{s.now.Add(time.Duration(out.Wait) * time.Second), in})
	}
}

func (s *simulation) webhook(id string) webhook.Webhook {
	s.t.Helper()
	return errtest.Must(s.store.Get(s.t.Context(), s.tenant, id))(s.t)
}

// deliveries returns the deliveries of a webhook, oldest first.
func (s *simulation) deliveries(id string) []webhook.Delivery {
	s.t.Helper()
	var all []webhook.Delivery
	for position := ""; ; {
		page, next, err := s.store.ListDeliveries(s.t.Context(), s.tenant, id, position, 1000)
		errtest.Fatal(s.t, err)
		all = append(all, page...)
		if position = next; next == "" {
			slices.Reverse(all)
			return all
		}
	}
}
