// Screennames is the Lambda function of the state ScreenPartitions: it compares the names of unknown entities of some
// partitions of a batch with watchlists.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
	"sluice/shared/setup/screeningsetup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_WATCHLISTS", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Screen, (&pipeline.Screen{
		Batches:    batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Lists:      screeningsetup.NewWatchlists(env),
		Work:       env.Work(),
		NewAttempt: pipeline.NewAttempt,
		Log:        env.Log,
	}).Run))
}
