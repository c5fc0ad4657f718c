package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
)

const findPath = "/tm/realtime/api/find"

// found returns "kind status" of each item that has an ID, over pages of a size.
func (s *session) found(id, kind string, limit int) (items []client.FoundItem, summary string) {
	s.t.Helper()
	var all []string
	for next := ""; ; {
		page := ok(s.client.Find(s.t.Context(), client.FindQuery{ID: id, Kind: kind, Limit: limit}, next))(s.t)
		items = append(items, page.Items...)
		for _, item := range page.Items {
			all = append(all, item.Kind+" "+wire.OrZero(item.Status))
		}
		if next = wire.OrZero(page.Next); next == "" {
			return items, strings.Join(all, ", ")
		}
	}
}

// expectFound waits until an ID finds items of kinds and statuses, and returns them.
func (s *session) expectFound(id, want string) []client.FoundItem {
	s.t.Helper()
	items, got := s.found(id, "", 0)
	becomesTrue(func() bool {
		items, got = s.found(id, "", 0)
		return got == want
	})
	require(s.t, got == want, "%s finds %q, want %q", id, got, want)
	return items
}

// ids returns the identifiers of a line by their kinds.
func (l line) ids() map[string]string {
	return map[string]string{client.FoundPayment: l["payment_external_id"].(string),
		client.FoundTransaction: l.transactionID(), client.FoundModification: l.modificationID(),
		client.FoundRequest: l["request_uuid"].(string)}
}

// A line of a batch is found by each of its IDs once the batch has ended, whatever became of it, with the place to
// read, and by its tenant alone.
func TestLinesAreFound(t *testing.T) {
	api := beginBatchTenant(t)
	other := loginNewTenant(t)
	newLine := func() line {
		return validLine().with("payment_external_id", "p/"+uuid.NewString())
	}
	accepted, rejected, refused := newLine(), newLine().with("payment_type", "none"), newLine()
	dropping := client.UploadOptions{MaxRejected: &client.RejectLimit{Lines: 1}}
	processed := api.expectProcessWith(client.StatusProcessed, dropping, jsonLines(validLine(), accepted, rejected))
	failed := api.expectProcess(client.StatusValidationFailed,
		jsonLines(refused, validLine().with("payment_type", "none")))
	for _, c := range []struct {
		line   line
		status string
		batch  client.Status
		number int64
	}{{accepted, client.FoundIngested, processed, 2}, {rejected, client.FoundRejected, processed, 3},
		{refused, client.FoundNotIngested, failed, 1}} {
		for kind, id := range c.line.ids() {
			item := api.expectFound(id, kind+" "+c.status)[0]
			equal(t, kind+" of the batch", c.batch.BatchID, wire.OrZero(item.BatchID))
			equal(t, kind+" at the line", c.number, wire.OrZero(item.Line))
			equal(t, kind+" is", id, item.ID)
			equal(t, kind+" of the payment", c.line.ids()["payment"], wire.OrZero(item.PaymentExternalID))
			api.expect(http.StatusOK, http.MethodGet, wire.OrZero(item.Href), "")
			_, elsewhere := other.found(id, "", 0)
			equal(t, "another tenant finds", "", elsewhere)
		}
		transactions, _, err := api.client.PaymentTransactions(t.Context(), c.line.ids()["payment"], "")
		must(t, err)
		assert(t, len(transactions) == 1 == (c.status == client.FoundIngested),
			"the payment of a line that is %s has %+v", c.status, transactions)
	}
}

// A single transaction is found by each of its IDs at once, whether it was stored or not, and by its payment among the
// lines of batches, over pages of any size.
func TestSingleTransactionsAreFound(t *testing.T) {
	api := beginBatchTenant(t)
	payment := uuid.NewString()
	newLine := func() line { return validLine().with("payment_external_id", payment) }
	first, second := newLine(), newLine()
	api.expectProcess(client.StatusProcessed, jsonLines(first, second))
	stored := newLine().with("transaction_external_id", second.transactionID())
	refused := newLine().withSender("nobody")
	for text, status := range map[string]int{stored.String(): 201, refused.String(): 400} {
		api.expect(status, http.MethodPost, singlePath, text)
	}
	for _, kind := range []string{client.FoundModification, client.FoundRequest} {
		for status, l := range map[string]line{client.FoundIngested: stored, client.FoundRejected: refused} {
			items, got := api.found(l.ids()[kind], "", 0)
			require(t, got == kind+" "+status, "found %q, want %s %s", got, kind, status)
			api.expect(http.StatusOK, http.MethodGet, wire.OrZero(items[0].Href), "")
		}
	}
	_, got := api.found(refused.transactionID(), "", 0)
	equal(t, "a refused transaction is", "transaction rejected", got)
	api.expectFound(second.transactionID(), "transaction ingested, transaction ingested")
	becomesTrue(func() bool {
		items, _ := api.found(payment, client.FoundPayment, 0)
		return len(items) == 4
	})
	for limit := 1; limit <= 5; limit++ {
		items, _ := api.found(payment, client.FoundPayment, limit)
		equal(t, fmt.Sprint("items in pages of ", limit), 4, len(items))
		var transactions []string
		for next := ""; ; {
			var page struct {
				Items []client.Transaction
				Next  string
			}
			api.expectReply(http.StatusOK, http.MethodGet, transactionsPath+"payments/"+payment+
				fmt.Sprint("?limit=", limit)+next, "", &page)
			for _, item := range page.Items {
				transactions = append(transactions, item.TransactionExternalID)
			}
			if page.Next == "" {
				break
			}
			next = "&next=" + page.Next
		}
		equal(t, fmt.Sprint("transactions in pages of ", limit), []string{second.transactionID(),
			first.transactionID()}, transactions)
	}
}

// Objects are found by their IDs with the permission to read them, and lines with either of two.
func TestObjectsAreFound(t *testing.T) {
	api := beginBatchTenant(t, receivers)
	r := api.newReceiver()
	api.newWebhook(r.URL, client.WebhookSettings{})
	batch := api.expectProcess(client.StatusProcessed, jsonLines(validLine())).BatchID
	entity := api.newEntity("")
	delivery := r.waitFor(t, 1)[0].header.Get("X-Sluice-Delivery")
	objects := map[string]string{client.FoundBatch: batch, client.FoundEntity: entity,
		client.FoundDocument: api.newDocument(""), client.FoundEvent: delivery,
		client.FoundScreening: api.newScreening(uuid.NewString(), entity)}
	onlyBatches := loginAs(t, environment, newClient(t, environment, api.tenantID, "--permission", "BatchRead"))
	for kind, id := range objects {
		items, got := api.found(id, "", 0)
		require(t, len(items) == 1 && items[0].Kind == kind, "%s finds %q, want a %s", id, got, kind)
		api.expect(http.StatusOK, http.MethodGet, wire.OrZero(items[0].Href), "")
		items, got = onlyBatches.found(id, "", 0)
		assert(t, len(items) == 1 == (kind == client.FoundBatch), "with BatchRead alone %s finds %q", kind, got)
	}
	inEU := loginAs(t, environment, newClient(t, environment, api.tenantID, "--geographic", "EU"))
	hidden := inEU.newEntity(`,"accessLayers":{"geographic":["EU"]}`)
	_, got := api.found(hidden, "", 0)
	equal(t, "an entity out of reach", "", got)
	_, got = inEU.found(hidden, "", 0)
	equal(t, "an entity within reach", "entity Unknown", got)
}

func TestBadFindQueries(t *testing.T) {
	api := begin(t)
	long := strings.Repeat("i", 256)
	for query, code := range map[string]string{"": "missing", "?id=" + long: "string_too_long",
		"?id=a&id=b": "repeated", "?id=a&kind=x": "enum", "?id=a&limit=101": "number_range",
		"?id=a&next=x": "page_token", "?id=a&x=y": "extra_forbidden"} {
		api.expect(http.StatusUnprocessableEntity, http.MethodGet, findPath+query, "", code)
	}
	const path = "/tm/realtime/api/transactions"
	for query, code := range map[string]string{"?payment_external_id=a&transaction_external_id=b": "extra_forbidden",
		"?payment_external_id=" + long: "string_too_long", "/payments/a?next=x": "page_token",
		"/payments/a?limit=0": "number_range", "/payments/a?kind=payment": "extra_forbidden"} {
		api.expect(http.StatusUnprocessableEntity, http.MethodGet, path+query, "", code)
	}
	api.expect(http.StatusNotFound, http.MethodGet, path+"/payments", "", "Transaction not found.")
	api.expect(http.StatusOK, http.MethodGet, path+"/payments/"+url.PathEscape("a ü"), "", `"items":[]`)
}
