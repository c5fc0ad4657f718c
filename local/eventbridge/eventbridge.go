// Package eventbridge provides the default event bus of EventBridge. It passes events to the functions of the rules
// whose patterns they match, runs the rules that have a schedule, and serves PutEvents.
package eventbridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"sluice/local/template"
)

// Config describes a Bus.
type Config struct {
	Rules   []template.Rule
	Region  string
	Account string
	// Invoke invokes a function, named by its logical ID, asynchronously on behalf of a rule.
	Invoke func(rule template.Rule, function string, event []byte) error
	// NewID returns a UUID, used as the ID of an event.
	NewID func() string
	// Log receives each event that is put on the bus by PutEvents, as a line of JSON; nil for none.
	Log io.Writer
}

// Bus is a running event bus. It is safe for concurrent use.
type Bus struct {
	Config
	cancel context.CancelFunc
	ended  sync.WaitGroup
	// mu keeps lines of the log apart.
	mu sync.Mutex
}

// New starts the schedules, which run until Close.
func New(ctx context.Context, c Config) *Bus {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &Bus{Config: c, cancel: cancel}
	for _, r := range c.Rules {
		if r.Every > 0 {
			b.ended.Go(func() { b.runSchedule(ctx, r) })
		}
	}
	return b
}

// Close stops the schedules and waits for the events being sent.
func (b *Bus) Close() {
	b.cancel()
	b.ended.Wait()
}

// Publish passes an event, as JSON, to the functions of every rule whose pattern it matches. It tries all of them and
// returns their errors joined.
func (b *Bus) Publish(event []byte) error {
	var decoded map[string]any
	if err := json.Unmarshal(event, &decoded); err != nil {
		return err
	}
	var errs []error
	for _, r := range b.Rules {
		if r.Matches(decoded) {
			errs = append(errs, b.invokeAll(r, event))
		}
	}
	return errors.Join(errs...)
}

// invokeAll passes an event to all functions of a rule.
func (b *Bus) invokeAll(r template.Rule, event []byte) error {
	var errs []error
	for _, f := range r.Functions {
		errs = append(errs, b.Invoke(r, f, event))
	}
	return errors.Join(errs...)
}

// runSchedule sends the events of a rule with a schedule until the context ends.
func (b *Bus) runSchedule(ctx context.Context, r template.Rule) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case at := <-tick.C:
			_ = b.invokeAll(r, b.scheduledEvent(r, at)) // an error does not end the schedule
		case <-ctx.Done():
			return
		}
	}
}

// scheduledEvent returns the event that a schedule sends.
func (b *Bus) scheduledEvent(r template.Rule, at time.Time) []byte {
	text, _ := json.Marshal(map[string]any{
		"version": "0", "id": b.NewID(), "detail-type": "Scheduled Event", "source": "aws.events", "account": b.Account,
		"region": b.Region,
		"time":   at.UTC().Format(time.RFC3339),
		"resources": []string{
			"arn:" + template.Partition + ":events:" + b.Region + ":" + b.Account + ":rule/" + r.Name,
		},
		"detail": map[string]any{},
	})
	return text
}
