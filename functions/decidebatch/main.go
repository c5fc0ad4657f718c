// DecideBatch is the Lambda function of the state Verdict: it decides whether a validated batch is ingested.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/batchsetup"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "ANNOUNCE_FUNCTION", "BUCKET_WORK",
		"TABLE_ADMISSION", "SLOTS", "INGEST_CONCURRENCY")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Verdict, (&pipeline.Verdict{
		Batches:    batchsetup.NewBatches(env),
		Work:       env.Work(),
		Slots:      batchsetup.NewSlots(env),
		NewAttempt: pipeline.NewAttempt,
		Now:        time.Now,
		Log:        env.Log,
	}).Run))
}
