// ExportBatch is the Lambda function that writes the accepted lines of processed batches as Parquet. The function
// publishevents invokes it asynchronously for each batch with an export to come.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/export/parquetfile"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK", "BUCKET_EXPORT")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Export, (&pipeline.Export{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable),
		Uploads: env.Uploads(),
		Work:    env.Work(),
		Files:   env.ExportFiles(),
		Write:   parquetfile.Write,
		Attempt: setup.RequestID,
		Lease:   15 * time.Minute, // the function's timeout in template.yaml
		Now:     time.Now,
		Log:     env.Log,
	}).Run))
}
