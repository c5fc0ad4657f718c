package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
)

// A page of what was found is asked for with all that the query has.
func TestFind(t *testing.T) {
	const reply = `{"items": [{"kind": "payment", "id": "a b", "batch_id": null, "line": null,
		"transaction_external_id": "t", "modification_external_id": "m", "payment_external_id": "a b",
		"status": "ingested", "received_at": "2026-11-27T00:00:00Z", "href": "/t"}], "next": "y",
		"searched": {"from": null, "to": "2026-11-27T00:00:00Z"}}`
	c, _ := answering(t, answer{"GET /tm/realtime/api/find?id=a+b", 200, reply},
		answer{"GET /tm/realtime/api/find?id=a+b&kind=payment&limit=5&next=x", 200, reply})
	text := func(s string) *string { return &s }
	at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	want := client.Found{Items: []client.FoundItem{{Kind: client.FoundPayment, ID: "a b",
		TransactionExternalID: text("t"), ModificationExternalID: text("m"), PaymentExternalID: text("a b"),
		Status: text(client.FoundIngested), ReceivedAt: &at, Href: text("/t")}}, Next: text("y"),
		Searched: wire.SearchedTimes{To: at}}
	for _, q := range []client.FindQuery{{ID: "a b"}, {ID: "a b", Kind: client.FoundPayment, Limit: 5}} {
		next := ""
		if q.Kind != "" {
			next = "x"
		}
		got, err := c.Find(t.Context(), q, next)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	}
}

// The transactions of a payment are complete: one that its page does not hold is read by itself.
func TestPaymentTransactions(t *testing.T) {
	const list = "GET /tm/realtime/api/transactions?next=x&payment_external_id=.."
	c, _ := answering(t,
		answer{list, 200, `{"items": [{"transaction_external_id": "a", "modifications": [
			{"modification_external_id": "m1", "transaction": { "x": 1 }}]},
			{"transaction_external_id": "b", "modifications": [], "next_after": "m1"}], "next": "y"}`},
		answer{"GET /tm/realtime/api/transactions/b", 200, `{"transaction_external_id": "b", "modifications": [
			{"modification_external_id": "m1", "transaction": {}}], "next_after": "m1"}`},
		answer{"GET /tm/realtime/api/transactions/b?after=m1", 200, `{"transaction_external_id": "b",
			"modifications": [{"modification_external_id": "m2", "transaction": {}}]}`})
	page, next, err := c.PaymentTransactions(t.Context(), "..", "x")
	var got []string
	for _, transaction := range page {
		for _, m := range transaction.Modifications {
			got = append(got, transaction.TransactionExternalID+" "+m.ModificationExternalID)
		}
	}
	if diff := cmp.Diff([]string{"a m1", "b m1", "b m2"}, got); err != nil || next != "y" || diff != "" {
		t.Errorf("next %q, error %v (-want +got):\n%s", next, err, diff)
	}
}
