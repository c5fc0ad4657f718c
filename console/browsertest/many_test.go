package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// multiplyBatch puts copies of a batch that has ended into the table of batches, one a minute older than the other,
// with names such as "batch 00042". Only what lists show is true of them.
func (n *tenant) multiplyBatch(id string, copies int) {
	n.Helper()
	d := suite.cloud.Descriptor
	db := dynamodb.New(dynamodb.Options{Region: d.Region, BaseEndpoint: &d.DynamoDBURL,
		Credentials: credentials.NewStaticCredentialsProvider(d.AccessKeyID, d.SecretAccessKey, "")})
	table := d.Prefix + "-batches"
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	original, err := db.GetItem(n.Context(), &dynamodb.GetItemInput{TableName: &table,
		Key: map[string]types.AttributeValue{"id": text(id), "part": text("batch")}})
	if err != nil || original.Item == nil {
		n.Fatalf("the row of batch %s: %v, %v", id, original, err)
	}
	var writes []types.WriteRequest
	for i := range copies {
		item := map[string]types.AttributeValue{}
		for name, value := range original.Item {
			item[name] = value
		}
		at := time.Now().Add(-time.Duration(i+1) * time.Minute).UTC()
		item["id"], item["name"] = text(newIDAt(at)), text(fmt.Sprintf("batch %05d", i))
		item["created_at"], item["updated_at"] = text(at.Format(time.RFC3339)), text(at.Format(time.RFC3339))
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	group, ctx := errgroup.WithContext(n.Context())
	group.SetLimit(8)
	for some := range slices.Chunk(writes, 25) {
		group.Go(func() error {
			out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: some}})
			if err == nil && len(out.UnprocessedItems) > 0 {
				err = fmt.Errorf("%d rows were not written", len(out.UnprocessedItems[table]))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		n.Fatal(err)
	}
}

// newIDAt returns a new ID of a batch that was created at a time.
func newIDAt(at time.Time) string {
	u := uuid.Must(uuid.NewV7())
	for b, ms := 5, at.UnixMilli(); b >= 0; b, ms = b-1, ms>>8 {
		u[b] = byte(ms)
	}
	return u.String()
}

// Ten thousand batches are listed as they are scrolled to.
func TestTenThousandBatches(t *testing.T) {
	t.Parallel()
	tenant := newTenant(t)
	tenant.onboard("customer-1")
	tenant.multiplyBatch(tenant.upload(tenant.generate(3, 0)), 10_000)
	var list struct {
		Batches []json.RawMessage `json:"batches"`
	}
	tenant.call("GET", "/tm/realtime/api/transactions/batch?limit=100", "", &list)
	if len(list.Batches) != 100 {
		t.Errorf("the list has %d batches, want 100", len(list.Batches))
	}
}
