// Ingest is the Lambda function of the state IngestChunk: it stores the accepted lines of one chunk.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
	"sluice/shared/transaction/transactiondb"
)

func main() {
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
