package batchdb_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/batch/batchtest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// others do something before the first transaction of a client is sent.
type others struct {
	once sync.Once
	do   func()
}

// Do is the method of the client of DynamoDB.
func (o *others) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
		o.once.Do(o.do)
	}
	return http.DefaultClient.Do(r)
}

// A batch that becomes PROCESSED between the look at the file and the transition of another one is named by that one,
// also if it is the first with the file.
func TestFileProcessedMeanwhile(t *testing.T) {
	t.Parallel()
	db := dynamotest.Start(t)
	s := batchdb.New(db, "test-batches")
	file := &batch.File{Tenant: "tenant", SHA256: bytes.Repeat([]byte{7}, 32)}
	running := func() batch.Batch {
		b := batchtest.NewBatch(t, "tenant")
		b.Status = batch.InProgress
		errtest.Fatal(t, s.Create(t.Context(), b))
		return b
	}
	process := func(s *batchdb.Store, b batch.Batch) batch.Batch {
		b, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, At: b.CreatedAt, File: file})
		errtest.Fatal(t, err)
		return b
	}
	var before batch.ID
	for range 2 {
		meanwhile, b := running(), running()
		options := db.Options()
		options.HTTPClient = &others{do: func() {
			if got := process(s, meanwhile); got.DuplicateOf != before {
				t.Errorf("the batch meanwhile names %q, want %q", got.DuplicateOf, before)
			}
		}}
		if got := process(batchdb.New(dynamodb.New(options), "test-batches"), b); got.DuplicateOf != meanwhile.ID {
			t.Errorf("the batch names %q, want %q", got.DuplicateOf, meanwhile.ID)
		}
		before = b.ID
	}
}
