// Screennames is the Lambda function of the state ScreenPartitions: it compares the names of unknown entities of some
// partitions of a batch with watchlists.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/listsetup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_WATCHLISTS", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Screen, (&pipeline.Screen{
		Batches:    batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Lists:      listsetup.New(env),
		Work:       env.Work(),
		NewAttempt: pipeline.NewAttempt,
		Log:        env.Log,
	}).Run))
}
