// Admit lets a validated batch into ingestion.
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
	lambda.Start((&pipeline.Admit{
		Batches: f.Batches(),
		Now:     time.Now,
		Log:     f.Log,
	}).Run)
}
