package webhookhttp_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/connect/webhook"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestDeliveriesInPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w, other := f.create(), f.create()
	var ids []string
	for i := range 7 {
		outcome := webhook.Failed
		if i%2 == 0 {
			outcome = webhook.Successful
		}
		ids = append([]string{f.deliver(w, i, outcome).ID}, ids...)
	}
	f.deliver(other, 0, webhook.Failed)
	read := func(query string) (got []string, pages int) {
		t.Helper()
		for next := ""; ; {
			var page wire.Deliveries
			f.must("GET", "/v1/webhooks/"+w.ID+"/deliveries?"+query+next, "", &page)
			for _, d := range page.Deliveries {
				got = append(got, d.ID)
			}
			pages++
			if page.Next == nil {
				return got, pages
			}
			next = "&next=" + url.QueryEscape(*page.Next)
		}
	}
	if got, pages := read("limit=3"); !cmp.Equal(ids, got) || pages != 3 {
		t.Errorf("got %v in %d pages, want %v in 3", got, pages, ids)
	}
	if got, _ := read("limit=2&outcome=Failed"); !cmp.Equal([]string{ids[1], ids[3], ids[5]}, got) {
		t.Errorf("failed: got %v, want every other of %v", got, ids)
	}
	if got, _ := read("outcome=Pending"); len(got) != 0 {
		t.Errorf("pending: got %v, want none", got)
	}
	var page wire.Deliveries
	f.must("GET", "/v1/webhooks/"+w.ID+"/deliveries?limit=1", "", &page)
	difftest.Reply(t, "the page of another webhook", 422)(
		f.send("GET", "/v1/webhooks/"+other.ID+"/deliveries?next="+url.QueryEscape(*page.Next), "", nil))
}

// A page ends early where the reply would become too large for the gateway.
func TestLargeDeliveriesFitIntoReplies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	const count, size = 24, 250 << 10
	for i := range count {
		d := f.deliver(w, i, webhook.Failed)
		d.ID, d.Type = webhook.NewDeliveryID(fmt.Sprint("large", i), w.ID, f.now), webhook.Batch
		d.Messages[0].Text = []byte(`{"x":"` + strings.Repeat("y", size) + `"}`)
		errtest.Fatal(t, errtest.Of(f.store.CreateDelivery(t.Context(), d)))
	}
	found, next := 0, ""
	for {
		var page wire.Deliveries
		status, body := f.send("GET", "/v1/webhooks/"+w.ID+"/deliveries?limit=100"+next, "", &page)
		if status != 200 || len(body) > 6<<20 {
			t.Fatalf("a page has %d bytes, %d; want at most 6 MiB", len(body), status)
		}
		if found += len(page.Deliveries); page.Next == nil {
			break
		}
		next = "&next=" + url.QueryEscape(*page.Next)
	}
	difftest.Equal(t, "deliveries", 2*count, found)
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	d := f.deliver(w, 0, webhook.Pending)
	d.Attempts = []webhook.Attempt{
		{Number: 1, At: f.now, Took: time.Second, Outcome: webhook.TimedOut, Code: "timed_out", Message: "Too slow."},
		{Number: 2, At: f.now, Outcome: webhook.Failed, Code: "status", Message: "The receiver answered 500.",
			Status: 500},
	}
	d.AttemptCount = 1
	d.NextAttemptAt = f.now.Add(time.Minute)
	errtest.Fatal(t, f.store.SaveAttempt(t.Context(), d))
	text := func(s string) *string { return &s }
	want := wire.Delivery{
		ID: d.ID, WebhookID: w.ID, Type: string(webhook.Single), Code: text("status"),
		Message:   text("The receiver answered 500."),
		Events:    []wire.DeliveryEvent{{ID: d.Messages[0].ID, EventType: "batchtransaction:ingestionProcessed"}},
		CreatedAt: f.now, NextAttemptAt: &d.NextAttemptAt, Run: 1, AttemptCount: 1, Payload: d.Body(),
		Attempts: []wire.Attempt{
			{Number: 1, At: f.now, Milliseconds: 1000, Outcome: string(webhook.TimedOut), Code: text("timed_out"),
				Message: text("Too slow.")},
			{Number: 2, At: f.now, Outcome: string(webhook.Failed), Code: text("status"),
				Message: text("The receiver answered 500."),
				Status:  new(int64(500)), Answer: text("")},
		},
	}
	var got wire.Delivery
	f.must("GET", "/v1/webhooks/"+w.ID+"/deliveries/"+d.ID, "", &got)
	difftest.Equal(t, "the result", want, got)
	code, body := f.send("GET", "/v1/webhooks/"+w.ID+"/deliveries/"+w.ID, "", nil)
	difftest.Equal(t, "an unknown delivery", []any{404, `{"message":"Delivery not found."}`}, []any{code, body})
}

func TestResend(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	one := "/v1/webhooks/" + w.ID
	d := f.deliver(w, 0, webhook.Successful)
	var again wire.Delivery
	f.must("POST", one+"/deliveries/"+d.ID+"/resend", "", &again)
	if again.Run != 2 || again.Outcome != nil || again.EndedAt != nil {
		t.Errorf("sent again: %+v, want a pending second run", again)
	}
	for i := range 6 {
		f.deliver(w, 10+i, []webhook.Outcome{webhook.Failed, webhook.Successful, webhook.TimedOut}[i%3])
	}
	f.started = nil
	resend := func(body string, want int) {
		t.Helper()
		var reply wire.Resent
		f.must("POST", one+"/resend", body, &reply)
		if reply.Resent != int64(want) || reply.Next != nil || len(f.started) != want {
			t.Errorf("%s: %+v and %d executions, want %d", body, reply, len(f.started), want)
		}
		f.started = nil
	}
	since := func(minutes int) string { return f.now.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339) }
	resend(`{"since":"`+since(14)+`","outcomes":["Successful"]}`, 1)
	resend(`{"since":"`+since(12)+`"}`, 3)
	resend(`{"since":"`+since(0)+`"}`, 1)
	resend(`{"since":"`+since(0)+`"}`, 0) // all are pending by now

	f.must("PUT", one, `{"url":"https://receiver.test","eventTypes":["*"],"enabled":false}`, nil)
	for _, path := range []string{one + "/resend", one + "/deliveries/" + d.ID + "/resend"} {
		difftest.Reply(t, path+" to a disabled webhook", 409, "disabled")(
			f.send("POST", path, `{"since":"`+since(0)+`"}`, nil))
	}
	f.must("POST", one+"/test", "", &again)
	if again.Events[0].EventType != "webhook:test" || len(f.started) != 1 {
		t.Errorf("test of a disabled webhook: %+v", again)
	}
}

// One request sends at most two hundred deliveries; the next ones continue where it ended.
func TestResendManyInSteps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.create()
	const count = 450
	for i := range count {
		f.deliver(w, i, webhook.Failed)
	}
	var resent []int
	for next := ""; ; {
		var reply wire.Resent
		f.must("POST", "/v1/webhooks/"+w.ID+"/resend", `{"since":"`+f.now.Format(time.RFC3339)+`"`+next+`}`, &reply)
		resent = append(resent, int(reply.Resent))
		if reply.Next == nil {
			break
		}
		next = `,"next":"` + *reply.Next + `"`
	}
	if !cmp.Equal([]int{200, 200, 50}, resent) {
		t.Errorf("sent again: %v, want 200, 200 and 50", resent)
	}
}
