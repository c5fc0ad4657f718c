// Package delivery brings events to webhooks. The Dispatcher records a delivery for each webhook that wants an event,
// and starts an execution of the state machine of deliveries (statemachine/delivery.asl.json) that is named after both.
// Its step, Step, makes one attempt and says how long to wait until the next.
//
// Both can run any number of times, also at the same time: a delivery is stored under an ID that follows from event and
// webhook, an execution of a name starts once, and each attempt is recorded by a conditional write.
package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
)

// Dispatcher begins deliveries. It is an event.Sender.
type Dispatcher struct {
	Store webhook.Store
	// Starter starts executions; see Machine.
	Starter Starter
	// CollectTime is how long a delivery of the type Batch collects messages.
	CollectTime time.Duration
	Now         func() time.Time
}

// Starter starts executions of the state machine of deliveries.
type Starter interface {
	// Start starts the execution of a name. Repeating it is success, even with another input.
	Start(ctx context.Context, name string, in Start) error
}

// Start is the input of an execution.
type Start struct {
	Tenant     string `json:"tenant"`
	WebhookID  string `json:"webhook_id"`
	DeliveryID string `json:"delivery_id"`
	Run        int    `json:"run"`
	// Wait is the number of seconds before the first attempt.
	Wait int `json:"wait"`
}

var _ event.Sender = (*Dispatcher)(nil)

// Send implements event.Sender. Webhooks that the service has disabled get a delivery that has ended, so that it can be
// sent again. A webhook gets no message about its own end. One that fails here does not keep the message from the
// others.
func (s *Dispatcher) Send(ctx context.Context, m event.Message) error {
	webhooks, err := s.Store.List(ctx, m.Tenant)
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range webhooks {
		isAboutItself := m.Type == event.WebhookDisabled && m.CausationID == w.ID
		if w.Wants(m.Type) && m.Type != event.WebhookTest && !isAboutItself {
			errs = append(errs, s.sendTo(ctx, w, m))
		}
	}
	return errors.Join(errs...)
}

func (s *Dispatcher) sendTo(ctx context.Context, w webhook.Webhook, m event.Message) error {
	d, err := webhook.NewDelivery(w, m, s.Now())
	switch {
	case err != nil:
		return err
	case w.IsDisabledByService():
		d.IsOpen, d.Outcome, d.Code, d.EndedAt = false, webhook.Failed, webhook.CodeDisabled, d.CreatedAt
		_, err = s.Store.CreateDelivery(ctx, d)
		return err
	case !w.Enabled:
		return nil
	case w.Type == webhook.Batch:
		return s.collect(ctx, w, d)
	}
	return s.begin(ctx, d)
}

// begin stores a delivery of one message and starts its execution. One that has ended needs none.
func (s *Dispatcher) begin(ctx context.Context, d webhook.Delivery) error {
	stored, err := s.Store.CreateDelivery(ctx, d)
	if err != nil || stored.Outcome != webhook.Pending {
		return err
	}
	return s.start(ctx, stored, 0)
}

// collect adds a message to the open delivery of a webhook. Its execution waits until the time for collecting is over;
// a delivery that is full is begun again without a wait.
func (s *Dispatcher) collect(ctx context.Context, w webhook.Webhook, d webhook.Delivery) error {
	d, err := s.Store.Collect(ctx, w, d)
	if errors.Is(err, webhook.ErrNotFound) {
		return nil // deleted meanwhile
	}
	if err != nil || d.Outcome != webhook.Pending {
		return err
	}
	if d.IsOpen && !d.CanCollect(1, w.BatchSize) {
		if d, err = s.Store.StopCollecting(ctx, d, d.Run+1, s.Now()); err != nil {
			return err
		}
	}
	wait := 0
	if d.Run == 1 {
		wait = int(s.CollectTime / time.Second)
	}
	return s.start(ctx, d, wait)
}

// SendTest begins the delivery of a test message to one webhook, independent of its event types and whether or not it
// is enabled. id is new for each test.
func (s *Dispatcher) SendTest(ctx context.Context, w webhook.Webhook, id string) (webhook.Delivery, error) {
	payload, err := json.Marshal(map[string]string{"webhook_id": w.ID})
	if err != nil {
		return webhook.Delivery{}, err
	}
	w.Type = webhook.Single
	d, err := webhook.NewDelivery(w, event.Message{
		ID: event.NewID(event.WebhookTest, id), Tenant: w.Tenant, Type: event.WebhookTest,
		RelativeURL: webhookURL(w), Payload: payload, When: s.Now(), CorrelationID: w.ID, CausationID: w.ID,
	}, s.Now())
	if err != nil {
		return webhook.Delivery{}, err
	}
	return d, s.begin(ctx, d)
}

// webhookURL is the path of a webhook in the interface.
func webhookURL(w webhook.Webhook) string { return "/v1/webhooks/" + w.ID }

// Resend begins the next run of a delivery, pending or not, and returns the delivery. The execution is started first:
// if the rest is lost, it begins the run itself.
func (s *Dispatcher) Resend(ctx context.Context, d webhook.Delivery) (webhook.Delivery, error) {
	d.Run++
	if err := s.start(ctx, d, 0); err != nil {
		return webhook.Delivery{}, err
	}
	return s.Store.BeginRun(ctx, d.Tenant, d.WebhookID, d.ID, d.Run, s.Now())
}

func (s *Dispatcher) start(ctx context.Context, d webhook.Delivery, wait int) error {
	return s.Starter.Start(ctx, executionName(d), Start{d.Tenant, d.WebhookID, d.ID, d.Run, wait})
}

// executionName returns the name of the execution of a run: event and webhook and, after the first run, its number. For
// two UUIDs it has at most 80 characters, as Step Functions demands, for up to a million runs.
func executionName(d webhook.Delivery) string {
	name := d.Messages[0].ID + "_" + d.WebhookID
	if d.Run > 1 {
		name += fmt.Sprintf("_%d", d.Run)
	}
	return name
}

// Machine is the state machine of deliveries in Step Functions.
type Machine struct {
	client *sfn.Client
	arn    string
}

// NewMachine returns the state machine with the given ARN.
func NewMachine(client *sfn.Client, arn string) *Machine { return &Machine{client, arn} }

// Start implements Starter.
func (m *Machine) Start(ctx context.Context, name string, in Start) error {
	input, err := json.Marshal(in)
	if err != nil {
		return err
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &m.arn, Name: &name, Input: aws.String(string(input)),
	})
	var exists *types.ExecutionAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("start delivery %s: %w", name, err)
	}
	return nil
}
