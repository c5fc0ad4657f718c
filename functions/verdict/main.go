// Verdict decides what becomes of a validated batch.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "BUCKET_WORK")
	lambda.Start((&pipeline.Verdict{
		Batches: f.Batches(),
		Work:    f.Work(),
		Attempt: pipeline.NewAttempt,
		Now:     time.Now,
		Log:     f.Log,
	}).Run)
}
