package announce_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/connect/announce"
	"sluice/shared/connect/event"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

var endedAt = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// sender records the messages that it is given. It fails with its errors in turn first; hangs makes it wait for the end
// of the context.
type sender struct {
	mu    sync.Mutex
	sent  []event.Message
	errs  []error
	hangs bool
}

func (s *sender) Send(ctx context.Context, m event.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return err
	}
	s.sent = append(s.sent, m)
	return nil
}

// requests is a requester that records the requests.
type requests struct {
	asked []batch.ID
	err   error
}

func (r *requests) AnnounceBatch(_ context.Context, id batch.ID) error {
	r.asked = append(r.asked, id)
	return r.err
}

type fixture struct {
	*announce.Announcer
	store *batchdb.Store
	bus   *sender
	clock time.Time
	// attempt is the name of the invocation.
	attempt string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{store: batchdb.New(dynamotest.Start(t), "test-batches"), bus: &sender{}, clock: endedAt, attempt: "a"}
	f.Announcer = &announce.Announcer{
		Batches: f.store, Senders: map[batch.Receiver]event.Sender{batch.EventBus: f.bus, batch.Webhooks: &sender{}},
		Attempt: func(context.Context) string { return f.attempt },
		Lease:   30 * time.Second, BusDelay: time.Millisecond, Patience: 10 * time.Second,
		Now: func() time.Time { return f.clock }, Log: slog.New(slog.DiscardHandler),
	}
	return f
}

// endBatch stores a batch that has ended in ERROR.
func (f *fixture) endBatch(t *testing.T) batch.Batch {
	t.Helper()
	b := batchtest.NewBatch(t, "a tenant")
	errtest.Fatal(t, f.store.Create(t.Context(), b))
	ended, err := f.store.Apply(t.Context(), b.ID, batch.Transition{To: batch.Failed, At: endedAt, ErrorMessage: "m"})
	errtest.Fatal(t, err)
	return ended
}

// unannounced returns the receivers to whom the end of a batch is still to be announced.
func (f *fixture) unannounced(t *testing.T, id batch.ID) []batch.Receiver {
	t.Helper()
	b := errtest.Must(f.store.Get(t.Context(), id))(t)
	return b.Unannounced
}

func TestAnnounceBatch(t *testing.T) {
	f := newFixture(t)
	b := f.endBatch(t)
	want := errtest.Must(announce.MessageOf(b))(t)
	f.bus.errs = []error{errors.New("no answer")}
	for _, step := range []struct {
		name    string
		attempt string
		after   time.Duration
		fails   bool
		sent    int
	}{
		{"the bus does not answer", "a", 0, true, 0},
		{"another request meanwhile", "b", time.Second, false, 0},
		{"the retry", "a", time.Second, false, 1},
		{"again", "a", time.Second, false, 1},
		{"another request later", "b", time.Hour, false, 1},
	} {
		f.attempt, f.clock = step.attempt, f.clock.Add(step.after)
		if _, err := f.Handle(t.Context(), announce.Input{Batch: b.ID}); (err != nil) != step.fails {
			t.Errorf("%s: got error %v, want one: %v", step.name, err, step.fails)
		}
		difftest.Equal(t, step.name+": messages on the bus", step.sent, len(f.bus.sent))
	}
	difftest.Equal(t, "messages on the bus", []event.Message{want}, f.bus.sent)
	if rest := f.unannounced(t, b.ID); rest != nil {
		t.Errorf("still to be told: %v, want none", rest)
	}
}

// An announcement whose function was killed is made by another request, once the killed one cannot run any more.
func TestAnnouncementOfAKilledAttempt(t *testing.T) {
	f := newFixture(t)
	b := f.endBatch(t)
	errtest.Fatal(t, errtest.Of(f.store.ClaimAnnouncement(t.Context(), b.ID, "killed", f.clock, f.clock.Add(f.Lease))))
	for want, after := range []time.Duration{30 * time.Second, 31 * time.Second} {
		f.clock = endedAt.Add(after)
		errtest.Fatal(t, errtest.Of(f.Handle(t.Context(), announce.Input{Batch: b.ID})))
		difftest.Equal(t, fmt.Sprintf("after %v: messages", after), want, len(f.bus.sent))
	}
}

// The event bus is notified after the others, which recognise repeated events.
func TestTheBusIsToldLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		record := func(name string, after time.Duration) event.Sender {
			return senderFunc(func(context.Context, event.Message) error {
				time.Sleep(after)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
				return nil
			})
		}
		a := &announce.Announcer{BusDelay: time.Second, Patience: time.Minute, Log: slog.New(slog.DiscardHandler)}
		m := event.Message{ID: "m", Type: event.WebhookTest, Payload: []byte("{}")}
		for after, want := range map[time.Duration]string{900 * time.Millisecond: "[webhooks bus]",
			2 * time.Second: "[bus webhooks]"} {
			order = nil
			a.Senders = map[batch.Receiver]event.Sender{
				batch.EventBus: record("bus", 0), batch.Webhooks: record("webhooks", after),
			}
			errtest.Fatal(t, errtest.Of(a.Handle(t.Context(), announce.Input{Message: &m})))
			difftest.Equal(t, fmt.Sprintf("webhooks that need %v: told", after), want, fmt.Sprint(order))
		}
	})
}

type senderFunc func(context.Context, event.Message) error

func (f senderFunc) Send(ctx context.Context, m event.Message) error { return f(ctx, m) }

// A receiver that fails or hangs keeps no other from being told, and is told alone the next time.
func TestReceiversAreToldApart(t *testing.T) {
	for name, broken := range map[string]*sender{
		"fails": {errs: []error{errors.New("down")}}, "hangs": {hangs: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.Patience = 10 * time.Millisecond
			const other = batch.Receiver("other")
			f.Senders[other] = broken
			m := event.Message{ID: "m", Type: event.WebhookTest, Payload: []byte("{}")}
			errtest.Fails(t, "a receiver was not notified",
				errtest.Of(f.Handle(t.Context(), announce.Input{Message: &m})))
			difftest.Equal(t, "messages on the bus", []event.Message{m}, f.bus.sent)
		})
	}
}

func TestWrongInputs(t *testing.T) {
	f := newFixture(t)
	open := batchtest.NewBatch(t, "a tenant")
	errtest.Fatal(t, f.store.Create(t.Context(), open))
	f.Senders = nil // a later release has recorded a receiver that this one does not know
	for name, test := range map[string]struct {
		in    announce.Input
		fails bool
	}{
		"nothing":          {announce.Input{}, true},
		"both":             {announce.Input{Batch: open.ID, Message: &event.Message{}}, true},
		"unknown batch":    {announce.Input{Batch: "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f"}, true},
		"has not ended":    {announce.Input{Batch: open.ID}, false},
		"unknown receiver": {announce.Input{Batch: f.endBatch(t).ID}, true},
	} {
		if _, err := f.Handle(t.Context(), test.in); (err != nil) != test.fails {
			t.Errorf("%s: got error %v, want one: %v", name, err, test.fails)
		}
	}
}

// Every function that ends a batch, or finds it ended, asks for its announcement until it is announced. A request that
// fails changes nothing for the batch.
func TestBatchesAskForAnnouncements(t *testing.T) {
	f := newFixture(t)
	asked := &requests{err: errors.New("no answer")}
	store := &announce.Batches{Store: f.store, Requester: asked, Log: slog.New(slog.DiscardHandler)}
	b := batchtest.NewBatch(t, "a tenant")
	errtest.Fatal(t, store.Create(t.Context(), b))
	end := func() error {
		_, err := store.Apply(t.Context(), b.ID, batch.Transition{To: batch.Failed, At: endedAt})
		return err
	}
	get := func() error {
		_, err := store.Get(t.Context(), b.ID)
		return err
	}
	isConflict := func(err error) bool { return errors.As(err, new(*batch.ConflictError)) }
	for _, step := range []struct {
		name string
		call func() error
		is   func(error) bool
		want int
	}{
		{"read before the end", get, func(err error) bool { return err == nil }, 0},
		{"end", end, func(err error) bool { return err == nil }, 1},
		{"end again", end, isConflict, 2},
		{"read after the end", get, func(err error) bool { return err == nil }, 3},
		{"announced", func() error { return f.store.MarkAnnounced(t.Context(), b, batch.Receivers()) },
			func(err error) bool { return err == nil }, 3},
		{"end after the announcement", end, isConflict, 3},
		{"read after the announcement", get, func(err error) bool { return err == nil }, 3},
	} {
		if err := step.call(); !step.is(err) {
			t.Errorf("%s: got error %v", step.name, err)
		}
		if got := len(asked.asked); got != step.want || slices.ContainsFunc(asked.asked,
			func(id batch.ID) bool { return id != b.ID }) {
			t.Errorf("%s: asked for %v, want %d times for the batch", step.name, asked.asked, step.want)
		}
	}
}

// exports records the exports that are asked for; the first request fails.
type exports struct{ asked []batch.ID }

func (e *exports) RequestWork(_ context.Context, id batch.ID) error {
	e.asked = append(e.asked, id)
	if len(e.asked) == 1 {
		return errors.New("no answer")
	}
	return nil
}

// An export is asked for until it is recorded. It does not keep the receivers waiting, and is not a receiver itself.
func TestExportsAreRequested(t *testing.T) {
	f := newFixture(t)
	asked := &exports{}
	f.Workers = map[batch.Receiver]announce.WorkRequester{batch.Export: asked}
	b := batchtest.NewBatch(t, "a tenant")
	b.Status = batch.InProgress
	errtest.Fatal(t, f.store.Create(t.Context(), b))
	processed := batch.Transition{To: batch.Processed, At: endedAt, Export: true}
	errtest.Fatal(t, errtest.Of(f.store.Apply(t.Context(), b.ID, processed)))
	for i, fails := range []bool{true, false, false} {
		f.clock = f.clock.Add(time.Hour)
		if i == 2 {
			errtest.Fatal(t, f.store.MarkExported(t.Context(), b.ID, "parquet/b"))
		}
		if _, err := f.Handle(t.Context(), announce.Input{Batch: b.ID}); (err != nil) != fails {
			t.Errorf("request %d: got error %v, want one: %v", i, err, fails)
		}
		difftest.Equal(t, fmt.Sprintf("request %d: messages on the bus", i), 1, len(f.bus.sent))
		owed := []batch.Receiver{batch.Export}
		if i == 2 {
			owed = nil
		}
		if got := f.unannounced(t, b.ID); !slices.Equal(got, owed) {
			t.Errorf("request %d: the batch owes %v, want %v", i, got, owed)
		}
	}
	difftest.Equal(t, "exports asked for", []batch.ID{b.ID, b.ID}, asked.asked)
}
