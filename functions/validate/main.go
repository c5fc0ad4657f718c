// Validate reads one chunk of a batch.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK")
	lambda.Start((&pipeline.Validate{
		Batches: f.Batches(),
		Uploads: f.Uploads(),
		Work:    f.Work(),
		Attempt: pipeline.NewAttempt,
		Log:     f.Log,
	}).Run)
}
