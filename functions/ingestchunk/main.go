// IngestChunk is the Lambda function of the state IngestChunk: it stores the accepted lines of one chunk.
package main

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/ingest/transaction/transactiondb"
	"sluice/shared/kit/metric"
)

func main() {
	// A line leaves far more garbage than is kept at a time, a few megabytes, so that the usual setting collects many
	// times a second. The limit is for chunks of very long lines.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(96 << 20)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "BUCKET_UPLOADS", "BUCKET_WORK",
		"INGEST_SECONDS", "TABLE_ADMISSION")
	transactions, err := transactiondb.New(env.DynamoDB(), env.TransactionsTable)
	env.Check(err)
	lambda.Start(pipeline.Measured(env.Metrics, metric.Ingest, (&pipeline.Ingest{
		Batches:      batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Transactions: transactions,
		Uploads:      env.Uploads(),
		Work:         env.Work(),
		Slots:        &admission.Slots{Queue: admissiondb.New(env.DynamoDB(), env.AdmissionTable), Now: time.Now},
		Budget:       env.IngestTime,
		Now:          time.Now,
		Log:          env.Log,
	}).Run))
}
