// Ingest stores the accepted lines of one chunk of a batch.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "BUCKET_UPLOADS", "BUCKET_WORK", "INGEST_SECONDS")
	transactions, err := f.Transactions()
	if err != nil {
		f.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
	lambda.Start((&pipeline.Ingest{
		Batches:      f.Batches(),
		Transactions: transactions,
		Uploads:      f.Uploads(),
		Work:         f.Work(),
		Budget:       f.IngestTime,
		Now:          time.Now,
		Log:          f.Log,
	}).Run)
}
