// Reconcile is the Lambda function of the state ReconcilePartitions: it finds duplicate IDs and looks entities up over
// the whole batch, for some partitions of them.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/entity/entitydb"
	"sluice/shared/metric"
	"sluice/shared/pipeline"
	"sluice/shared/setup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_ENTITIES", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Reconcile, (&pipeline.Reconcile{
		Batches:    batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Entities:   entitydb.NewStatuses(env.DynamoDB(), env.EntitiesTable),
		Work:       env.Work(),
		NewAttempt: pipeline.NewAttempt,
		Log:        env.Log,
	}).Run))
}
