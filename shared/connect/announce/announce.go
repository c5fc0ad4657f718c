// Package announce makes events known: to the event bus of the AWS account, and to the webhooks of the tenant. It is
// the only way in which events leave the service.
//
// The end of a batch is announced at least once, even if functions are killed. The write that ends the batch records
// that it is unannounced; the function that made that write, or finds its record, asks the announce function to
// announce it (Batches); the function takes a receiver from the record once the receiver has the event (Announcer); and
// the sweep asks again for what remains (package intake).
package announce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"sluice/shared/connect/event"
	"sluice/shared/ingest/batch"
)

// Input is the input of the announce function, which has one of its members.
type Input struct {
	// Batch is the batch whose end is to be announced.
	Batch batch.ID `json:"batch_id,omitempty"`
	// Message is an event to be announced to all receivers.
	Message *event.Message `json:"message,omitempty"`
}

// WorkRequester asks for what a batch owes, as Worker does.
type WorkRequester interface {
	RequestWork(ctx context.Context, id batch.ID) error
}

// Announcer announces events. Its method Handle is the announce function.
type Announcer struct {
	Batches interface {
		// ClaimAnnouncement and MarkAnnounced are as in batch.Store.
		ClaimAnnouncement(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch, error)
		MarkAnnounced(ctx context.Context, b batch.Batch, to []batch.Receiver) error
	}
	Senders map[batch.Receiver]event.Sender
	// Workers do what batches owe besides announcements, and record it once it is done.
	Workers map[batch.Receiver]WorkRequester
	// Attempt names the invocation to which a context belongs. A retry of an invocation has the same name.
	Attempt func(context.Context) string
	// Lease is how long an invocation may take; after it, another one may announce the same batch.
	Lease time.Duration
	// BusDelay is how long the event bus waits for the other receivers at most, Patience how long an invocation waits
	// for one receiver.
	BusDelay time.Duration
	Patience time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

// Handle announces the end of a batch to the receivers that do not know it yet, or a message to all. It can be
// repeated. It returns an error if a receiver could not be reached; the others have the message nevertheless.
func (a *Announcer) Handle(ctx context.Context, in Input) (struct{}, error) {
	switch {
	case in.Message != nil && in.Batch == "":
		return struct{}{}, a.announceMessage(ctx, *in.Message)
	case in.Batch != "" && in.Message == nil:
		return struct{}{}, a.announceBatch(ctx, in.Batch)
	}
	return struct{}{}, errors.New("the input has neither batch_id nor message alone")
}

// announceBatch announces the end of a batch unless that is done, or being done by another invocation. It asks the
// workers for what the batch owes.
func (a *Announcer) announceBatch(ctx context.Context, id batch.ID) error {
	now := a.Now()
	b, err := a.Batches.ClaimAnnouncement(ctx, id, a.Attempt(ctx), now, now.Add(a.Lease))
	if errors.Is(err, batch.ErrNothingToAnnounce) {
		a.Log.DebugContext(ctx, "nothing to announce", "batch", id)
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	var receivers []batch.Receiver
	for _, r := range b.Unannounced {
		if worker := a.Workers[r]; worker != nil {
			errs = append(errs, worker.RequestWork(ctx, id))
		} else {
			receivers = append(receivers, r)
		}
	}
	if len(receivers) > 0 {
		errs = append(errs, a.announceTo(ctx, b, receivers))
	}
	return errors.Join(errs...)
}

// announceTo announces the end of a batch to receivers and records the reached ones.
func (a *Announcer) announceTo(ctx context.Context, b batch.Batch, receivers []batch.Receiver) error {
	m, err := MessageOf(b)
	if err != nil {
		return err
	}
	reached, err := a.send(ctx, m, receivers)
	if markErr := a.Batches.MarkAnnounced(ctx, b, reached); markErr != nil {
		return errors.Join(err, markErr)
	}
	if err == nil {
		a.Log.InfoContext(ctx, "batch announced", "batch", b.ID, "event", m.Type,
			"seconds", a.Now().Sub(b.UpdatedAt).Round(time.Millisecond).Seconds())
	}
	return err
}

// announceMessage announces a message to all receivers.
func (a *Announcer) announceMessage(ctx context.Context, m event.Message) error {
	var all []batch.Receiver
	for r := range a.Senders {
		all = append(all, r)
	}
	_, err := a.send(ctx, m, all)
	return err
}

// send sends a message to receivers, all at once but for the event bus: that waits a moment for the others. They
// recognise a message that they get again, whereas the bus passes it on again; as the last one, it gets it twice only
// if the function is killed before its next write. One that does not answer keeps the others waiting no longer than
// BusDelay. send returns those that have the message, and an error if there are others.
func (a *Announcer) send(ctx context.Context, m event.Message, to []batch.Receiver) (reached []batch.Receiver,
	err error) {
	errs := make([]error, len(to))
	var others sync.WaitGroup
	for i, r := range to {
		if r != batch.EventBus {
			others.Go(func() { errs[i] = a.sendTo(ctx, m, r) })
		}
	}
	othersDone := make(chan struct{})
	go func() {
		others.Wait()
		close(othersDone)
	}()
	if i := slices.Index(to, batch.EventBus); i >= 0 {
		busDelay := time.NewTimer(a.BusDelay)
		defer busDelay.Stop()
		select {
		case <-othersDone:
		case <-busDelay.C:
		}
		errs[i] = a.sendTo(ctx, m, batch.EventBus)
	}
	<-othersDone
	for i, r := range to {
		if errs[i] == nil {
			reached = append(reached, r)
			continue
		}
		a.Log.ErrorContext(ctx, "cannot announce", "event", m.Type, "id", m.ID, "about", m.CausationID, "to", r,
			"error", errs[i])
	}
	return reached, errors.Join(errs...)
}

// sendTo sends a message to one receiver.
func (a *Announcer) sendTo(ctx context.Context, m event.Message, to batch.Receiver) error {
	sender, known := a.Senders[to]
	if !known {
		return fmt.Errorf("nothing sends to %q", to) // a later release has recorded it
	}
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	return sender.Send(ctx, m)
}

// Bus is an event bus of EventBridge.
type Bus struct {
	client *eventbridge.Client
	name   string
}

var _ event.Sender = (*Bus)(nil)

// NewBus returns the event bus of the given name or ARN.
func NewBus(client *eventbridge.Client, name string) *Bus { return &Bus{client, name} }

// Send puts the message on the bus: as the detail of an event whose source and detail-type follow from its type.
func (b *Bus) Send(ctx context.Context, m event.Message) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		EventBusName: &b.name, Source: aws.String(m.Type.Source()), DetailType: aws.String(string(m.Type)),
		Detail: aws.String(string(text)), Time: &m.When,
	}}})
	if err != nil {
		return fmt.Errorf("put event %s on the bus: %w", m.ID, err)
	}
	// A request can succeed although the bus has refused its entry.
	for _, entry := range out.Entries {
		if entry.EventId == nil {
			return fmt.Errorf("put event %s on the bus: %s: %s", m.ID, aws.ToString(entry.ErrorCode),
				aws.ToString(entry.ErrorMessage))
		}
	}
	if out.FailedEntryCount > 0 || len(out.Entries) == 0 {
		return fmt.Errorf("put event %s on the bus: the answer has no entry for it", m.ID)
	}
	return nil
}
