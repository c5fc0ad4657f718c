// Export is the Lambda function that writes the accepted lines of processed batches as Parquet. Announce invokes it
// asynchronously for each batch whose row owes the file.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/export/parquetfile"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
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
