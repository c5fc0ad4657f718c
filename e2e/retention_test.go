package e2e

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
)

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
