// IngestChunk is the Lambda function of the state IngestChunk: it stores the accepted lines of one chunk.
package main

import (
	"context"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/stepsetup"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	debug.SetGCPercent(stepsetup.GCPercent)
	debug.SetMemoryLimit(stepsetup.MemoryLimit)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_TRANSACTIONS", "BUCKET_UPLOADS", "BUCKET_WORK",
		"INGEST_SECONDS", "TABLE_ADMISSION")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Ingest, stepsetup.NewIngest(env).Run))
}
