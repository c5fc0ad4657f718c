// AdmitBatch is the Lambda function of the states AwaitValidation and AwaitIngestion: it makes a batch wait for its
// slot.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/batchsetup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_ADMISSION", "SLOTS", "INGEST_CONCURRENCY")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Admit, (&pipeline.Admit{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Slots:   batchsetup.NewSlots(env),
		Now:     time.Now,
		Log:     env.Log,
	}).Run))
}
