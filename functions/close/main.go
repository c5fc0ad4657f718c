// Close ends a batch.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES")
	lambda.Start((&pipeline.Close{
		Batches: f.Batches(),
		Now:     time.Now,
		Log:     f.Log,
	}).Run)
}
