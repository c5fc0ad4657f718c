package batchdb_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// writeCounter counts the writes of single items that it sends on.
type writeCounter struct{ writes int }

func (c *writeCounter) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".UpdateItem") {
		c.writes++
	}
	return http.DefaultClient.Do(r)
}

// An announcement is recorded by one write, with any other debts of the batch, if the batch is as it was read. If it is
// not, there is one more.
func TestWritesOfAnAnnouncement(t *testing.T) {
	t.Parallel()
	options, counter := dynamotest.Start(t).Options(), &writeCounter{}
	options.HTTPClient = counter
	s := batchdb.New(dynamodb.New(options), "test-batches")
	all := batch.Receivers()
	for _, tt := range []struct {
		name       string
		owesExport bool
		// change changes the batch after it was read.
		change func(batch.Batch) error
		told   []batch.Receiver
		writes int
		owed   []batch.Receiver
	}{
		{"all are told", false, nil, all, 1, nil},
		{"an export is owed", true, nil, all, 1, []batch.Receiver{batch.Export}},
		{"one is told", false, nil, all[:1], 1, all[1:]},
		{"nobody is told", true, nil, nil, 0, append(batch.Receivers(), batch.Export)},
		{"exported meanwhile", true,
			func(b batch.Batch) error { return s.MarkExported(t.Context(), b.ID, "parquet/b") }, all, 2, nil},
		{"told meanwhile", true,
			func(b batch.Batch) error { return s.MarkAnnounced(t.Context(), b, all[:1]) }, all, 2,
			[]batch.Receiver{batch.Export}},
		{"all told meanwhile", true,
			func(b batch.Batch) error { return s.MarkAnnounced(t.Context(), b, all) }, all, 1,
			[]batch.Receiver{batch.Export}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := batchtest.NewBatch(t, "tenant")
			b.Status = batch.InProgress
			errtest.Fatal(t, s.Create(t.Context(), b))
			read := errtest.Must(s.Apply(t.Context(), b.ID,
				batch.Transition{To: batch.Processed, At: b.CreatedAt, Export: tt.owesExport}))(t)
			if tt.change != nil {
				errtest.Fatal(t, tt.change(read))
			}
			counter.writes = 0
			errtest.Fatal(t, s.MarkAnnounced(t.Context(), read, tt.told))
			difftest.Equal(t, "writes", tt.writes, counter.writes)
			got := errtest.Must(s.Get(t.Context(), b.ID))(t)
			if !batchtest.SameReceivers(got.Unannounced, tt.owed) {
				t.Errorf("the batch owes %v, want %v", got.Unannounced, tt.owed)
			}
		})
	}
}
