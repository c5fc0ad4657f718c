package transactionhttp_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/errtest"
)

// payment asks for a page of the transactions of a payment.
func (a *api) payment(t *testing.T, path, query string) events.APIGatewayProxyResponse {
	t.Helper()
	values, err := url.ParseQuery(query)
	errtest.Fatal(t, err)
	return a.send(t, events.APIGatewayProxyRequest{HTTPMethod: "GET",
		Path: "/tm/realtime/api/transactions" + path, MultiValueQueryStringParameters: values})
}

// transactionsOf reads all pages of a payment and returns "ID: modifications" of each transaction.
func (a *api) transactionsOf(t *testing.T, query string) (all []string, pages int) {
	t.Helper()
	for next := ""; ; {
		r := a.payment(t, "/payments/p", query+next)
		var out struct {
			Items []struct {
				ID            string `json:"transaction_external_id"`
				Modifications []struct {
					ID string `json:"modification_external_id"`
				}
			}
			Next *string
		}
		if err := json.Unmarshal([]byte(r.Body), &out); err != nil || r.StatusCode != 200 || pages > 100 {
			t.Fatalf("%s: got %d %s", query, r.StatusCode, r.Body)
		}
		for _, item := range out.Items {
			text := item.ID + ":"
			for _, m := range item.Modifications {
				text += " " + m.ID
			}
			all = append(all, text)
		}
		if pages++; out.Next == nil {
			return all, pages
		}
		next = "&next=" + *out.Next
	}
}

// deliver stores a line of a batch with a payment, received some time ago, and indexes it.
func (a *api) deliver(t *testing.T, batchID string, number int64, age time.Duration, payment, id, modification string) {
	t.Helper()
	errtest.Fatal(t, errtest.Of(a.transactions.Put(t.Context(), []transaction.Version{{Tenant: a.caller.Tenant,
		TransactionID: id, Modification: modification, ReceivedAt: now.Add(-age), Batch: batchID, Line: number,
		Text: fmt.Appendf(nil, `{"payment_external_id":%q }`, payment)}})))
	a.index.Add(a.caller.Tenant, lineindex.Batch{ID: batch.ID(batchID), ReceivedAt: now.Add(-age)}, number, payment, id,
		modification, "r")
}

// deliverSingle records a single transaction and, unless it is refused, stores it.
func (a *api) deliverSingle(t *testing.T, status int, age time.Duration, payment, id, modification string) {
	t.Helper()
	if status == 201 {
		errtest.Fatal(t, a.transactions.Add(t.Context(), transaction.Version{Tenant: a.caller.Tenant, TransactionID: id,
			Modification: modification, ReceivedAt: now.Add(-age),
			Text: fmt.Appendf(nil, `{"payment_external_id":%q}`, payment)}))
	}
	errtest.Fatal(t, a.singles.Record(t.Context(), observation.Event{Tenant: a.caller.Tenant, At: now.Add(-age),
		Status: status, PaymentID: payment, TransactionID: id, ModificationID: modification, RequestID: "r"}))
}

// Each transaction of a payment comes once, with all its modifications, where its newest one with the payment is, over
// pages of any size.
func TestTransactionsOfAPayment(t *testing.T) {
	a := newAPI(t)
	first, second := a.createBatch(t, batch.Processed), a.createBatch(t, batch.Processed)
	failed := a.createBatch(t, batch.Failed)
	a.deliver(t, first, 1, time.Hour, "p", "t1", "m1")
	a.deliver(t, first, 2, time.Hour, "p", "t2", "m1")
	a.deliver(t, first, 3, time.Hour, "p", "t1", "m2") // again
	a.deliver(t, first, 4, time.Hour, "p", "t3", "m1")
	a.deliver(t, second, 1, time.Hour, "p", "t4", "m1") // at the same time, in a greater batch
	a.deliver(t, second, 2, time.Hour, "q", "t1", "m3") // another payment
	a.deliver(t, failed, 1, time.Minute, "p", "t2", "m2")
	a.deliver(t, failed, 2, time.Minute, "p", "t5", "m1") // is not visible
	a.deliverSingle(t, 201, time.Hour, "p", "t6", "m1")
	a.deliverSingle(t, 201, time.Hour, "p", "t3", "m2")      // after its line at the same time
	a.deliverSingle(t, 201, 30*time.Minute, "p", "t7", "m1") // the newest
	a.deliverSingle(t, 400, 10*time.Minute, "p", "t3", "m9")
	a.deliverSingle(t, 400, 10*time.Minute, "p", "t8", "m1")
	a.deliverSingle(t, 400, 10*time.Minute, "p", "", "m1")
	// The newest version of this modification has another payment, and the older one none of this transaction's.
	a.deliver(t, first, 5, time.Hour, "p", "t9", "m1")
	a.deliverSingle(t, 201, time.Minute, "q", "t9", "m1")
	want := []string{"t7: m1", "t4: m1", "t1: m1 m2 m3", "t2: m1", "t3: m1 m2", "t6: m1"}
	for limit := 1; limit <= 7; limit++ {
		got, pages := a.transactionsOf(t, fmt.Sprint("limit=", limit))
		if diff := cmp.Diff(want, got); diff != "" || pages > 1+len(want)/limit {
			t.Errorf("limit %d, %d pages (-want +got):\n%s", limit, pages, diff)
		}
	}
	if got, _ := a.transactionsOf(t, ""); !slices.Equal(got, want) {
		t.Errorf("without a limit got %q", got)
	}
	path, query := a.payment(t, "/payments/p", ""), a.payment(t, "", "payment_external_id=p")
	if path.Body != query.Body {
		t.Errorf("by a query parameter got %s, want %s", query.Body, path.Body)
	}
	if !strings.Contains(path.Body, `"transaction":{"payment_external_id":"p" }`) {
		t.Errorf("got %s, want lines as they were sent", path.Body)
	}
	a.caller.Tenant = "t2"
	if got, _ := a.transactionsOf(t, ""); got != nil {
		t.Errorf("another tenant got %q", got)
	}
}

// A page ends before the reply is too large, and a transaction that no reply holds says where it goes on.
func TestLargeTransactionsOfAPayment(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t, batch.Processed)
	text := strings.Repeat("x", 300_000)
	for i := range 3 {
		for m := range 8 {
			v := transaction.Version{Tenant: "t1", TransactionID: fmt.Sprint("t", i), Modification: fmt.Sprint("m", m),
				ReceivedAt: now, Batch: id, Line: int64(i*8 + m + 1),
				Text: fmt.Appendf(nil, `{"payment_external_id":"p","x":%q}`, text)}
			if i == 2 {
				v.Text = fmt.Appendf(nil, `{"payment_external_id":"p","x":%q}`, text+text)
			}
			errtest.Fatal(t, errtest.Of(a.transactions.Put(t.Context(), []transaction.Version{v})))
			a.index.Add("t1", lineindex.Batch{ID: batch.ID(id), ReceivedAt: now}, v.Line, "p", v.TransactionID,
				v.Modification, "r")
		}
	}
	got, pages := a.transactionsOf(t, "")
	all := "m0 m1 m2 m3 m4 m5 m6 m7"
	want := []string{"t0: " + all, "t1: " + all, "t2: m0 m1 m2 m3 m4 m5"}
	if !slices.Equal(got, want) || pages != 2 {
		t.Errorf("got %q in %d pages, want %q in 2", got, pages, want)
	}
}

// T/payments is a transaction, and the forms of the query exclude each other.
func TestBadPaymentQueries(t *testing.T) {
	a := newAPI(t)
	id := a.createBatch(t, batch.Processed)
	a.store(t, "t1", "payments", "m", id, "note", now)
	if got := a.descriptions(t, "payments"); !slices.Equal(got, []string{"note"}) {
		t.Errorf("T/payments is %q", got)
	}
	for _, c := range []struct {
		path, query, code string
		status            int
	}{
		{"", "", "missing", 422},
		{"", "payment_external_id=", "missing", 422},
		{"", "payment_external_id=p&transaction_external_id=t", "extra_forbidden", 422},
		{"", "payment_external_id=p&after=m", "extra_forbidden", 422},
		{"", "transaction_external_id=t&limit=1", "extra_forbidden", 422},
		{"", "transaction_external_id=t&next=x", "extra_forbidden", 422},
		{"", "payment_external_id=p&payment_external_id=q", "repeated", 422},
		{"", "payment_external_id=" + strings.Repeat("p", 256), "string_too_long", 422},
		{"/payments/p", "payment_external_id=p", "extra_forbidden", 422},
		{"/payments/p", "limit=0", "number_range", 422},
		{"/payments/p", "limit=101", "number_range", 422},
		{"/payments/p", "next=x", "page_token", 422},
		{"/payments/p", "next=", "page_token", 422},
		{"/payments/p/q", "", "Not found.", 404},
		{"/payments/%E9", "", "string_type", 422},
	} {
		r := a.payment(t, c.path, c.query)
		if r.StatusCode != c.status || !strings.Contains(r.Body, `"`+c.code+`"`) {
			t.Errorf("%s?%.60s: got %d %s, want %d with %s", c.path, c.query, r.StatusCode, r.Body, c.status, c.code)
		}
	}
	a.caller.Permissions = []string{"BatchRead"}
	if r := a.payment(t, "/payments/p", ""); r.StatusCode != 403 {
		t.Errorf("without permission got %d %s, want 403", r.StatusCode, r.Body)
	}
}
