// Admit is the Lambda function of the state Admit: it lets a validated batch begin ingestion.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Admit, (&pipeline.Admit{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Now:     time.Now,
		Log:     env.Log,
	}).Run))
}
