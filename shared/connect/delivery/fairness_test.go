package delivery

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhooktest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Receivers that hang delay no receiver of another tenant, and those of their own tenant for seconds, whether few or
// many hang: one of four processes is left. Each delivery has its turn, and no attempt is made twice at once.
func TestSlowReceiversDelayNobodyElse(t *testing.T) {
	for _, c := range []struct{ slowTenants, events, wantSame, wantOther int }{
		{1, 1, 15, 5}, {1, 10, 15, 5}, {9, 1, 15, 5}, {9, 10, 15, 5},
	} {
		t.Run(fmt.Sprintf("%d tenants, %d events", c.slowTenants, c.events), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLoad(t, 0)
				l.run(c.slowTenants, c.events)
				for path, took := range l.arrivals {
					want := c.wantOther
					if path != "other/fast" {
						want = c.wantSame
					}
					if took > time.Duration(want)*time.Second {
						t.Errorf("%s got its last event after %v, want %d s at most", path, took, want)
					}
				}
				difftest.Equal(t, "attempts made twice at once", 0, l.doubled)
				difftest.Equal(t, "fast receivers that got events", c.slowTenants+1, len(l.arrivals))
				if l.mostHanging > 3 {
					t.Errorf("%d processes waited for receivers at a time, want at most 3 of 4", l.mostHanging)
				}
				for id, attempts := range l.attempts {
					if attempts < 2 {
						t.Errorf("delivery %s had %d attempts in two minutes, want at least 2", id, attempts)
					}
				}
				t.Logf("arrivals %v, at most %d processes", l.arrivals, l.mostHanging)
			})
		})
	}
}

// Carriers that are killed lose nothing: their places and their attempts become free.
func TestKilledCarriers(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			l := newLoad(t, seed+1)
			l.run(1, 5)
			difftest.Equal(t, fmt.Sprintf("seed %d: fast receivers that got events", seed), 2, len(l.arrivals))
			for path, took := range l.arrivals {
				if took > time.Minute {
					t.Errorf("seed %d: %s got its last event after %v, want a minute at most", seed, path, took)
				}
			}
		})
	}
}

// load runs deliveries to slow and fast receivers in four processes. It takes the place of Step Functions, Lambda, the
// receivers and KMS, in the time of a bubble.
type load struct {
	*webhooktest.Memory
	t          *testing.T
	step       *Step
	processes  chan struct{}
	executions sync.WaitGroup
	// random decides when processes are killed; nil for never.
	random *rand.Rand

	mu    sync.Mutex
	begin time.Time
	// arrivals is when fast receivers got their last event, attempts how many each delivery to a slow one had.
	arrivals map[string]time.Duration
	attempts map[string]int
	running  map[string]bool
	// hanging counts the calls to slow receivers that each process waits for.
	hanging              map[any]int
	doubled, mostHanging int
}

func newLoad(t *testing.T, seed uint64) *load {
	l := &load{
		Memory: webhooktest.NewMemory(), t: t, processes: make(chan struct{}, 4), begin: time.Now(),
		arrivals: map[string]time.Duration{}, attempts: map[string]int{}, running: map[string]bool{},
		hanging: map[any]int{},
	}
	if seed > 0 {
		l.random = rand.New(rand.NewPCG(seed, 0))
	}
	l.step = &Step{
		Store: l, Receivers: l, Secrets: l, Events: l, Now: time.Now, Random: rand.Float64, Carriers: 1,
		OfferPause: 250 * time.Millisecond, NewHolder: func(context.Context) string { return uuid.NewString() },
		Policy: webhook.Policy{FirstPause: 5 * time.Second, MaxPause: time.Hour, Patience: 2 * time.Minute},
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	return l
}

// run has slow tenants, each with nine webhooks that hang and one that is fast, get some events, and a tenant with a
// fast webhook alone get one. It waits for the end of all deliveries.
func (l *load) run(slowTenants, events int) {
	dispatcher := &Dispatcher{Store: l, Starter: l, Now: time.Now}
	send := func(tenant string, events int, names ...string) {
		for _, name := range names {
			errtest.Fatal(l.t, l.Create(l.t.Context(), webhook.Webhook{
				ID: tenant + "-" + name, Tenant: tenant, URL: "https://receiver.test/" + tenant + "/" + name,
				Enabled: true, EventTypes: []string{"*"}, Type: webhook.Single,
			}))
		}
		for i := range events {
			errtest.Fatal(l.t, dispatcher.Send(l.t.Context(), event.Message{
				ID: uuid.NewString(), Tenant: tenant, Type: event.BatchProcessed, Payload: []byte("{}"),
				When: time.Now(), CausationID: fmt.Sprint(i),
			}))
		}
	}
	for i := range slowTenants {
		var names []string
		for w := range 9 {
			names = append(names, fmt.Sprint("slow", w))
		}
		send(fmt.Sprint("slow", i), events, append(names, "fast")...)
	}
	send("other", 1, "fast")
	l.executions.Wait()
}

// Start implements Starter by an execution that calls the step as the state machine does.
func (l *load) Start(_ context.Context, _ string, in Start) error {
	l.executions.Go(func() {
		for {
			l.processes <- struct{}{}
			out, err := l.invoke(Input{Tenant: in.Tenant, WebhookID: in.WebhookID, DeliveryID: in.DeliveryID, Run: 1})
			<-l.processes
			switch {
			case err != nil:
				time.Sleep(time.Second)
			case out.Done:
				return
			default:
				time.Sleep(time.Duration(out.Wait) * time.Second)
			}
		}
	})
	return nil
}

type processKey struct{}

// invoke calls the step in a process, which is killed after some time.
func (l *load) invoke(in Input) (Output, error) {
	ctx := context.WithValue(l.t.Context(), processKey{}, new(int))
	ctx, end := context.WithTimeout(ctx, 90*time.Second)
	defer end()
	if l.random != nil {
		l.mu.Lock()
		after := time.Duration(l.random.ExpFloat64() * float64(20*time.Second))
		l.mu.Unlock()
		defer time.AfterFunc(after, end).Stop()
	}
	return l.step.Handle(ctx, in)
}

// Do takes the place of outbound.Client.
func (l *load) Do(ctx context.Context, _ string, r *http.Request) (*outbound.Reply, error) {
	path, delivery := strings.TrimPrefix(r.URL.Path, "/"), r.Header.Get(webhook.HeaderDelivery)
	process := ctx.Value(processKey{})
	change := func(by int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if by > 0 && l.running[delivery] {
			l.doubled++
		}
		l.running[delivery] = by > 0
		if strings.HasSuffix(path, "fast") {
			l.arrivals[path] = time.Since(l.begin)
			return
		}
		l.attempts[delivery]++
		if l.hanging[process] += by; l.hanging[process] == 0 {
			delete(l.hanging, process)
		}
		l.mostHanging = max(l.mostHanging, len(l.hanging))
	}
	change(1)
	defer change(-1)
	if strings.HasSuffix(path, "fast") {
		return &outbound.Reply{Status: 200}, ctx.Err()
	}
	select {
	case <-time.After(outbound.DefaultTimeout):
		return nil, &outbound.Error{Reason: outbound.TimedOut}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Open takes the place of sealed.Box.
func (l *load) Open(ctx context.Context, _, _ string, sealed []byte) ([]byte, error) {
	return sealed, ctx.Err()
}

// Send ignores the events about webhooks.
func (l *load) Send(context.Context, event.Message) error { return nil }

// LeavePlace leaves the place unless the process was killed.
func (l *load) LeavePlace(ctx context.Context, p webhook.Place) error {
	return unlessEnded(ctx, func() error { return l.Memory.LeavePlace(ctx, p) })
}

// SaveAttempt saves the attempt unless the process was killed.
func (l *load) SaveAttempt(ctx context.Context, d webhook.Delivery) error {
	return unlessEnded(ctx, func() error { return l.Memory.SaveAttempt(ctx, d) })
}

func unlessEnded(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}
