package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/transactiondb"
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

// A stored line has the white space with which it was sent.
func TestReadBackKeepsWhiteSpace(t *testing.T) {
	s := begin(t)
	l := validLine()
	text := strings.ReplaceAll(strings.ReplaceAll(l.String(), ",", " ,\t"), ":{", " :  {")
	s.expectProcess(client.StatusProcessed, []byte(text+"\n"))
	s.expect(http.StatusOK, http.MethodGet, transactionsPath+l.transactionID(), "", `"transaction":`+text+`}`)
}

// A transaction with 20,000 versions of one modification is read as fast as any other, in one page.
func TestTransactionWithManyVersions(t *testing.T) {
	s := begin(t, manyRequests)
	l, single := validLine(), validLine()
	file := jsonLines(l, single)
	u := s.newUpload(true)
	must(t, s.client.UploadFile(t.Context(), u, bytes.NewReader(file), int64(len(file)), nil))
	s.expectEnd(client.StatusProcessed, u.BatchID)
	db := s.environment.tables(t)
	store := ok(transactiondb.New(db, s.environment.Prefix+"-transactions"))(t)
	const count, window = 20_000, 5000
	text, newest := []byte(l.String()), time.Now().UTC()
	for first := 0; first < count; first += window {
		versions := make([]transaction.Version, window)
		for i := range versions {
			versions[i] = transaction.Version{
				Tenant: s.tenantID, TransactionID: l.transactionID(), Modification: l.modificationID(),
				Batch:      u.BatchID,
				ReceivedAt: newest.Add(-time.Duration(first + i)), Line: 1, MainEntity: transaction.Sender,
				Text: text,
			}
		}
		must(t, store.Put(t.Context(), versions))
	}
	// Both are read in turn, and again while their fastest readings differ, because other tests use the processors as
	// well. Code that reads all versions takes a second every time, thirty times as long as is allowed.
	const patience = 30 * time.Second
	fastest := map[bool]time.Duration{true: time.Hour, false: time.Hour}
	isEqual := func() bool { return fastest[true] <= 3*fastest[false]+20*time.Millisecond }
	for begun := time.Now(); fastest[true] == time.Hour || !isEqual() && time.Since(begun) < patience; {
		for hasMany, read := range map[bool]line{true: l, false: single} {
			start := time.Now()
			r := s.call(http.MethodGet, transactionsPath+url.PathEscape(read.transactionID()), "")
			fastest[hasMany] = min(fastest[hasMany], time.Since(start))
			var got client.Transaction
			if err := json.Unmarshal(r.text, &got); err != nil || r.status != http.StatusOK || got.NextAfter != "" ||
				len(got.Modifications) != 1 || hasMany && !got.Modifications[0].ReceivedAt.Equal(newest) {
				t.Fatalf("got %d %s, %v; want the newest version and no further page", r.status, r.text, err)
			}
		}
	}
	t.Logf("the page of %d versions takes %v, that of one %v", count, fastest[true], fastest[false])
	if !isEqual() {
		t.Errorf("the page of %d versions takes %v, want about the %v of one", count, fastest[true], fastest[false])
	}
}

// A line expires so many days after its receipt as its tenant had set when its batch was created, or when it was sent
// singly. What has expired is gone for readers, although DynamoDB has not deleted it yet.
func TestRetention(t *testing.T) {
	t.Parallel()
	skipWithout(t, manyRequests)
	db := environment.tables(t)
	api := loginNewTenant(t)
	api.enableBatches()
	api.onboardParties()
	table := aws.String(environment.Prefix + "-transactions")
	items := func(l line) []map[string]types.AttributeValue {
		t.Helper()
		page, err := db.Query(t.Context(), &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: aws.String("#t = :t"),
			ExpressionAttributeNames: map[string]string{"#t": "transaction"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":t": &types.AttributeValueMemberS{Value: api.tenantID + "#" + l.transactionID()}},
		})
		require(t, err == nil && len(page.Items) == 1, "%d items of %s, %v; want 1", len(page.Items), l.transactionID(),
			err)
		return page.Items
	}
	expiry := func(l line) string {
		t.Helper()
		if n, ok := items(l)[0]["expires"].(*types.AttributeValueMemberN); ok {
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
	if got := expiry(forever); got != "" {
		t.Errorf("a line that was stored before the setting expires at %s, want never", got)
	}
	for _, l := range []line{inBatch, single} {
		want := strconv.FormatInt(received(l).Add(24*time.Hour).Unix(), 10)
		if got := expiry(l); got != want {
			t.Errorf("a line with a retention of a day expires at %q, want %s", got, want)
		}
		item := items(l)[0]
		item["expires"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Unix(), 10)}
		ok(db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: table, Item: item}))(t)
		api.expect(http.StatusNotFound, http.MethodGet, transactionsPath+l.transactionID(), "")
	}
	received(forever)
}
