package webhookdb_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// TestStoredWebhooks pins the stored items: one golden item for each kind of row, with every attribute set.
func TestStoredWebhooks(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), dynamotest.Start(t)
	s := webhookdb.New(client, table)
	w := create(t, s, newWebhook("w1"))
	d := errtest.Must(s.Collect(ctx, w, newDelivery(t, w, "e1", 0)))(t)
	d = errtest.Must(s.StopCollecting(ctx, d, 2, at.Add(time.Minute)))(t)
	d.Attempts = []webhook.Attempt{{
		Number: 1, At: at, Took: 12 * time.Millisecond, Outcome: webhook.Failed, Code: webhook.CodeGone,
		Message: "The receiver answered 410.", Status: 410, Answer: "gone",
	}}
	d.AttemptCount, d.Outcome, d.Code, d.EndedAt = 1, webhook.Failed, webhook.CodeGone, at.Add(2*time.Minute)
	errtest.Fatal(t, s.SaveAttempt(ctx, d))
	waiting := newDelivery(t, single(w), "e2", 5)
	waiting.NextAttemptAt = at.Add(time.Hour)
	errtest.Fatal(t, errtest.Of(s.CreateDelivery(ctx, waiting)))
	errtest.Fatal(t, s.ClaimAttempt(ctx, waiting, "carrier", at, at.Add(time.Second)))
	waiting.ClaimedBy, waiting.ClaimedUntil = "carrier", at.Add(time.Second)
	offer := webhook.Offer{Tenant: tenant, WebhookID: "w1", DeliveryID: waiting.ID, Run: 1}
	errtest.Fatal(t, s.Offer(ctx, "0", offer, at))
	place := webhook.Place{Group: "0", Holder: "carrier"}
	errtest.Fatal(t, errtest.Of(s.HoldPlace(ctx, place, at, at.Add(time.Second))))
	errtest.Fatal(t, errtest.Of(s.MarkFailing(ctx, tenant, "w1", at.Add(time.Second), true)))
	if _, _, err := s.MarkRecovered(ctx, tenant, "w1", at.Add(time.Second), at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	w = errtest.Must(s.Disable(ctx, tenant, "w1", webhook.ReasonGone, at.Add(2*time.Second)))(t)
	errtest.Fatal(t, errtest.Of(s.PagingKey(ctx, []byte("0123456789abcdef0123456789abcdef"))))
	dynamotest.CompareStored(t, client, table, "webhooks")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, table, "webhooks")
	s = webhookdb.New(client, table)
	got := errtest.Must(s.Get(ctx, tenant, "w1"))(t)
	difftest.Equal(t, "webhook", w, got)
	difftest.Equal(t, "offers", []webhook.Offer{offer}, errtest.Must(s.ListOffers(ctx, "0"))(t))
	place.Holder = "other"
	isFree := errtest.Must(s.HoldPlace(ctx, place, at, at.Add(time.Second)))(t)
	difftest.Equal(t, "the place is free", false, isFree)
	page, _, err := s.ListDeliveries(ctx, tenant, "w1", "", 10)
	// Golden files show JSON with other white space than is stored.
	sameJSON := cmp.Transformer("JSON", func(m webhook.Message) (v any) {
		errtest.Fatal(t, json.Unmarshal(m.Text, &v))
		return []any{m.ID, string(m.Type), v}
	})
	errtest.Fatal(t, err)
	difftest.Equal(t, "deliveries", []webhook.Delivery{normal(waiting), d}, page, sameJSON)
	difftest.Equal(t, "an event that was collected is in", d.ID,
		errtest.Must(s.Collect(ctx, got, newDelivery(t, w, "e1", 0)))(t).ID)
}
