// CloseBatch is the Lambda function of the states Close and GiveUp: it ends a batch in PROCESSED or in ERROR.
// EventBridge invokes it for every execution that did not succeed.
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
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "ANNOUNCE_FUNCTION",
		"TABLE_ADMISSION", "SLOTS", "INGEST_CONCURRENCY")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Close, (&pipeline.Close{
		Batches: batchsetup.NewBatches(env),
		Slots:   batchsetup.NewSlots(env),
		Now:     time.Now,
		Log:     env.Log,
	}).Handle))
}
