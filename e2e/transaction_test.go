package e2e

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
)

// The IDs that no path can carry are read by a query parameter, which the client uses by itself.
func TestTransactionIDsThatNoPathCanCarry(t *testing.T) {
	s := begin(t)
	var lines []line
	for _, id := range []string{".", "..", "batch"} {
		lines = append(lines, validLine().with("transaction_external_id", id))
	}
	s.expectProcess(client.StatusProcessed, jsonLines(lines...))
	for _, l := range lines {
		got, err := s.client.Transaction(t.Context(), l.transactionID())
		if err != nil || got.TransactionExternalID != l.transactionID() {
			t.Errorf("reading %q: %+v, %v", l.transactionID(), got, err)
			continue
		}
		found := false
		for _, m := range got.Modifications {
			found = found || m.ModificationExternalID == l.modificationID() && string(m.Transaction) == l.String()
		}
		assert(t, found, "%q does not have the modification %s", l.transactionID(), l.modificationID())
	}
	const path = "/tm/realtime/api/transactions"
	s.expect(http.StatusUnprocessableEntity, http.MethodGet, path, "")
	s.expect(http.StatusNotFound, http.MethodGet, path+"?transaction_external_id=unknown", "")
	s.expect(http.StatusNotFound, http.MethodGet, path+"/unknown?after=m", "")
}

// A line expires so many days after its receipt as its tenant had set when its batch was created, or when it was sent
// singly. What has expired is gone for readers, although DynamoDB has not deleted it yet.
func TestRetention(t *testing.T) {
	t.Parallel()
	skipWithout(t, manyRequests)
	api := loginBatchTenant(t, environment)
	item := func(l line) dynamo.Item {
		t.Helper()
		found := environment.items(t, "transactions", "transaction", api.tenantID+"#"+l.transactionID())
		require(t, len(found) == 1, "%d items of %s, want 1", len(found), l.transactionID())
		return found[0]
	}
	expiry := func(l line) string {
		t.Helper()
		if n, ok := item(l)["expires"].(*types.AttributeValueMemberN); ok {
			return n.Value
		}
		return ""
	}
	received := func(l line) time.Time {
		t.Helper()
		got, err := api.client.Transaction(t.Context(), l.transactionID())
		require(t, err == nil && len(got.Modifications) == 1, "reading %s: %+v, %v", l.transactionID(), got, err)
		return got.Modifications[0].ReceivedAt
	}
	forever, inBatch, single := validLine(), validLine(), validLine()
	api.expectProcess(client.StatusProcessed, jsonLines(forever))
	api.setTenant("retention_days=1")
	api.expectProcess(client.StatusProcessed, jsonLines(inBatch))
	ok(api.client.SendTransaction(t.Context(), []byte(single.String()), client.SendOptions{}))(t)
	difftest.Equal(t, "a line that was stored before the setting expires at", "", expiry(forever))
	for _, l := range []line{inBatch, single} {
		want := strconv.FormatInt(received(l).Add(24*time.Hour).Unix(), 10)
		difftest.Equal(t, "a line with a retention of a day expires at", want, expiry(l))
		expired := item(l)
		expired["expires"] = dynamo.Number(time.Now().Unix())
		environment.putItem(t, "transactions", expired)
		api.expect(http.StatusNotFound, http.MethodGet, transactionsPath+l.transactionID(), "")
	}
	received(forever)
}
