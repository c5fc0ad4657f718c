package webhookdb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// newDelivery returns the delivery of an event that happened some seconds after at.
func newDelivery(t *testing.T, w webhook.Webhook, eventID string, seconds int) webhook.Delivery {
	t.Helper()
	d := errtest.Must(webhook.NewDelivery(w, event.Message{
		ID: eventID, Tenant: tenant, Type: event.BatchProcessed, Payload: []byte(`{}`),
		When: at.Add(time.Duration(seconds) * time.Second),
	}, at))(t)
	return d
}

func single(w webhook.Webhook) webhook.Webhook {
	w.Type = webhook.Single
	return w
}

func mustGet(t *testing.T, s webhook.Store, d webhook.Delivery) webhook.Delivery {
	t.Helper()
	return errtest.Must(s.GetDelivery(t.Context(), tenant, d.WebhookID, d.ID))(t)
}

// normal returns a delivery with empty lists in place of nil ones, as it is read.
func normal(d webhook.Delivery) webhook.Delivery {
	d.Attempts = append([]webhook.Attempt{}, d.Attempts...)
	return d
}

func TestRunOfADelivery(t *testing.T) { forEachStore(t, testRunOfADelivery) }

func testRunOfADelivery(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	d := newDelivery(t, single(newWebhook("w1")), "e1", 0)
	for range 2 {
		errtest.Fatal(t, errtest.Of(s.CreateDelivery(ctx, d)))
	}
	difftest.Equal(t, "created", normal(d), mustGet(t, s, d))
	for _, key := range [][3]string{{"other", "w1", d.ID}, {tenant, "w2", d.ID}, {tenant, "w1", "other"}} {
		errtest.Is(t, fmt.Sprintf("delivery %v", key), errtest.Of(s.GetDelivery(ctx, key[0], key[1], key[2])),
			webhook.ErrNotFound)
	}

	failed := d
	failed.Attempts = []webhook.Attempt{{
		Number: 1, At: at, Took: 12 * time.Millisecond, Outcome: webhook.Failed, Code: webhook.CodeStatus,
		Message: "The receiver answered 500.", Status: 500, Answer: "é",
	}}
	failed.AttemptCount, failed.NextAttemptAt = 1, at.Add(5*time.Second)
	errtest.Fatal(t, s.SaveAttempt(ctx, failed))
	errtest.Is(t, "the same attempt again", s.SaveAttempt(ctx, failed), webhook.ErrChanged)
	difftest.Equal(t, "after an attempt", failed, mustGet(t, s, d))
	again, err := s.CreateDelivery(ctx, d) // repeated late: it changes nothing
	errtest.Fatal(t, err)
	difftest.Equal(t, "created after an attempt", failed, again)
	difftest.Equal(t, "after it was created again", failed, mustGet(t, s, d))
	ended := failed
	ended.Outcome, ended.EndedAt, ended.NextAttemptAt, ended.AttemptCount = webhook.Successful, at.Add(time.Minute),
		time.Time{}, 2
	ended.Attempts = append(slices.Clone(failed.Attempts), webhook.Attempt{Number: 2, At: at,
		Outcome: webhook.Successful})
	errtest.Fatal(t, s.SaveAttempt(ctx, ended))
	difftest.Equal(t, "after the last attempt", ended, mustGet(t, s, d))
	ended.AttemptCount = 3
	for what, err := range map[string]error{"attempt": s.SaveAttempt(ctx, ended), "end": s.EndDelivery(ctx, ended)} {
		errtest.Is(t, what+" of a delivery that has ended", err, webhook.ErrChanged)
	}

	second := normal(failed)
	second.Attempts, second.AttemptCount, second.NextAttemptAt = ended.Attempts, 2, time.Time{}
	second.Run, second.RunAt = 2, at.Add(time.Hour)
	for i := range 2 { // repeated, later
		got := errtest.Must(s.BeginRun(ctx, tenant, "w1", d.ID, 2, at.Add(time.Hour+time.Duration(i))))(t)
		difftest.Equal(t, "second run", second, got)
	}
	errtest.Is(t, "attempt of the first run", s.SaveAttempt(ctx, ended), webhook.ErrChanged)
	second.Outcome, second.Code, second.EndedAt = webhook.Failed, webhook.CodeDisabled, at
	errtest.Fatal(t, s.EndDelivery(ctx, second))
	difftest.Equal(t, "ended", second, mustGet(t, s, d))
	errtest.Is(t, "run of an unknown delivery", errtest.Of(s.BeginRun(ctx, tenant, "w1", "other", 2, at)),
		webhook.ErrNotFound)
}

func TestListDeliveries(t *testing.T) { forEachStore(t, testListDeliveries) }

func testListDeliveries(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	w := single(newWebhook("w1"))
	var ids []string
	for i := range 7 {
		d := newDelivery(t, w, fmt.Sprint("e", i), i)
		ids = append(ids, d.ID)
		errtest.Fatal(t, errtest.Of(s.CreateDelivery(ctx, d)))
	}
	type list func(position string) ([]webhook.Delivery, string, error)
	pages := func(position string, read list) (found []string, sizes []int) {
		t.Helper()
		for {
			page, next, err := read(position)
			errtest.Fatal(t, err)
			for _, d := range page {
				found = append(found, d.ID)
			}
			sizes = append(sizes, len(page))
			if position = next; next == "" {
				return found, sizes
			}
		}
	}
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	got, sizes := pages("", func(p string) ([]webhook.Delivery, string, error) {
		return s.ListDeliveries(ctx, tenant,
			"w1", p, 3)
	})
	if !slices.Equal(got, newest) {
		t.Errorf("newest first: got %v in pages of %v, want %v", got, sizes, newest)
	}
	since := func(p string) ([]webhook.Delivery, string, error) {
		return s.ListDeliveriesSince(ctx, tenant, "w1", p, 2)
	}
	if got, _ := pages(webhook.FirstDeliveryID(at.Add(3*time.Second)), since); !slices.Equal(got, ids[3:]) {
		t.Errorf("since the fourth: got %v, want %v", got, ids[3:])
	}
	if got, _ := pages(webhook.FirstDeliveryID(at.Add(7*time.Second)), since); len(got) != 0 {
		t.Errorf("since later: got %v, want none", got)
	}
}

// Messages fill one delivery after the other; each is in one of them, however often and by how many it is announced.
func TestCollect(t *testing.T) { forEachStore(t, testCollect) }

func testCollect(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	w := create(t, s, newWebhook("w1"))
	var g errgroup.Group
	g.SetLimit(8)
	for i := range 60 {
		d := newDelivery(t, w, fmt.Sprint("e", i%25), i%25)
		g.Go(func() error { _, err := s.Collect(ctx, w, d); return err })
	}
	errtest.Fatal(t, g.Wait())
	found, _, err := s.ListDeliveries(ctx, tenant, "w1", "", 100)
	errtest.Fatal(t, err)
	seen := map[string]int{}
	for _, d := range found {
		if len(d.Messages) > w.BatchSize {
			t.Errorf("a delivery has %d messages, want at most %d", len(d.Messages), w.BatchSize)
		}
		for _, m := range d.Messages {
			seen[m.ID]++
		}
	}
	difftest.Equal(t, "result", []any{3, 25}, []any{len(found), len(seen)})
	for id, n := range seen {
		difftest.Equal(t, "times that message "+id+" was collected", 1, n)
	}
}

func TestStopCollecting(t *testing.T) { forEachStore(t, testStopCollecting) }

func testStopCollecting(t *testing.T, s webhook.Store) {
	ctx := t.Context()
	w := create(t, s, newWebhook("w1"))
	first := errtest.Must(s.Collect(ctx, w, newDelivery(t, w, "e1", 0)))(t)
	second, err := s.Collect(ctx, w, newDelivery(t, w, "e2", 1)) // with w as it was read before
	if err != nil || second.ID != first.ID || len(second.Messages) != 2 {
		t.Fatalf("the second message is in %s with %d messages, %v; want %s with 2", second.ID, len(second.Messages),
			err, first.ID)
	}
	closed, err := s.StopCollecting(ctx, second, 2, at.Add(time.Minute))
	if err != nil || closed.IsOpen || closed.Run != 2 || !closed.RunAt.Equal(at.Add(time.Minute)) {
		t.Errorf("closed: %+v, %v; want run 2", closed, err)
	}
	difftest.Equal(t, "closed again", closed, errtest.Must(s.StopCollecting(ctx, second, 1, at.Add(time.Hour)))(t))
	for id, want := range map[string]string{"e2": first.ID, "e3": "another"} {
		d, err := s.Collect(ctx, w, newDelivery(t, w, id, 2))
		if err != nil || (want == "another") != (d.ID != first.ID) {
			t.Errorf("message %s is in %s, %v; want %s", id, d.ID, err, want)
		}
	}
	large := newDelivery(t, w, "e4", 3)
	large.Messages[0].Text = []byte(strings.Repeat("x", webhook.MaxBodyBytes))
	d := errtest.Must(s.Collect(ctx, w, large))(t)
	difftest.Equal(t, "a message without room is in", large.ID, d.ID)
	errtest.Fatal(t, s.Delete(ctx, tenant, "w1"))
	errtest.Is(t, "collect for a deleted webhook", errtest.Of(s.Collect(ctx, w, newDelivery(t, w, "e5", 4))),
		webhook.ErrNotFound)
}

// A delivery outlives the row of its collected event. The event that is announced once more changes nothing of it.
func TestEventOfADeliveryThatIsKeptLonger(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), dynamotest.Start(t)
	s := webhookdb.New(db, table)
	w := create(t, s, newWebhook("w1"))
	d := newDelivery(t, w, "e1", 0)
	errtest.Fatal(t, errtest.Of(s.Collect(ctx, w, d)))
	want, err := s.StopCollecting(ctx, d, 1, at.Add(time.Minute))
	errtest.Fatal(t, err)
	_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: dynamo.Item{
		"owner": dynamo.String(tenant + "#w1#events"), "part": dynamo.String("e1"),
	}})
	errtest.Fatal(t, err)
	w = errtest.Must(s.Get(ctx, tenant, "w1"))(t)
	difftest.Equal(t, "collected again", want, errtest.Must(s.Collect(ctx, w, d))(t))
	difftest.Equal(t, "after it was collected again", want, mustGet(t, s, d))
}
