// Ingest is the Lambda function of the state IngestChunk: it stores the accepted lines of one chunk.
package main

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
	"sluice/shared/transaction/transactiondb"
)

func main() {
	// A line leaves far more garbage than is kept at a time, a few megabytes, so that the usual setting collects many
	// times a second. The limit is for chunks of very long lines.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(96 << 20)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "BUCKET_UPLOADS", "BUCKET_WORK",
		"INGEST_SECONDS")
	transactions, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	lambda.Start(pipeline.Measured(env.Metrics, metric.Ingest, (&pipeline.Ingest{
		Batches:      batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Transactions: transactions,
		Uploads:      env.Uploads(),
		Work:         env.Work(),
		Budget:       env.IngestTime,
		Now:          time.Now,
		Log:          env.Log,
	}).Run))
}
