// Plan is the first state of a batch.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "MAX_LINE_BYTES", "MAX_TRANSACTIONS", "MAP_CONCURRENCY")
	lambda.Start((&pipeline.Plan{
		Batches:         f.Batches(),
		ChunkBytes:      f.ChunkBytes,
		MaxLineBytes:    f.MaxLineBytes,
		MaxTransactions: f.MaxTransactions,
		Concurrency:     int(f.MapConcurrency),
		Now:             time.Now,
		Log:             f.Log,
	}).Run)
}
