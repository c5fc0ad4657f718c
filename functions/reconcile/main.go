// Reconcile compares one part of the IDs and entity references of a whole batch.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "TABLE_ENTITIES", "BUCKET_WORK")
	lambda.Start((&pipeline.Reconcile{
		Batches:  f.Batches(),
		Entities: f.Entities(),
		Work:     f.Work(),
		Attempt:  pipeline.NewAttempt,
		Log:      f.Log,
	}).Run)
}
