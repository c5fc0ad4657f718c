// Package eventbridge is the default event bus of EventBridge: it hands events to the functions of the rules that ask for them, and
// runs the rules that have a schedule.
package eventbridge

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"sluice/local/template"
)

// Config is what a Bus needs.
type Config struct {
	Rules   []template.Rule
	Region  string
	Account string
	// Invoke invokes a function, given by its logical id, asynchronously for a rule.
	Invoke func(rule template.Rule, function string, event []byte) error
	NewID  func() string
}

// Bus is a running event bus. It is safe for concurrent use.
type Bus struct {
	Config
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// New starts the schedules. They end with Close.
func New(ctx context.Context, c Config) *Bus {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &Bus{Config: c, cancel: cancel}
	for _, r := range c.Rules {
		if r.Every > 0 {
			b.ended.Go(func() { b.run(ctx, r) })
		}
	}
	return b
}

// Close stops the schedules.
func (b *Bus) Close() {
	b.cancel()
	b.ended.Wait()
}

// Publish hands an event, as JSON, to the functions of every rule that asks for it.
func (b *Bus) Publish(event []byte) error {
	var decoded map[string]any
	if err := json.Unmarshal(event, &decoded); err != nil {
		return err
	}
	var errs []error
	for _, r := range b.Rules {
		if r.Matches(decoded) {
			errs = append(errs, b.invoke(r, event))
		}
	}
	return errors.Join(errs...)
}

func (b *Bus) invoke(r template.Rule, event []byte) error {
	var errs []error
	for _, f := range r.Functions {
		errs = append(errs, b.Invoke(r, f, event))
	}
	return errors.Join(errs...)
}

func (b *Bus) run(ctx context.Context, r template.Rule) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case at := <-tick.C:
			_ = b.invoke(r, b.scheduled(r, at)) // the next tick comes all the same
		case <-ctx.Done():
			return
		}
	}
}

// scheduled is the event of a schedule.
func (b *Bus) scheduled(r template.Rule, at time.Time) []byte {
	text, _ := json.Marshal(map[string]any{
		"version": "0", "id": b.NewID(), "detail-type": "Scheduled Event", "source": "aws.events", "account": b.Account, "region": b.Region,
		"time":      at.UTC().Format(time.RFC3339),
		"resources": []string{"arn:" + template.Partition + ":events:" + b.Region + ":" + b.Account + ":rule/" + r.Name},
		"detail":    map[string]any{},
	})
	return text
}
