// ReconcilePartitions is the Lambda function of the state ReconcilePartitions: it finds duplicate IDs and looks
// entities up over the whole batch, for some partitions of them.
package main

import (
	"context"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
	"sluice/shared/platform/entity/entitydb"
)

// memoryLimit is the memory, in bytes, from which on garbage is collected more often. The memory is digests without
// pointers, up to 62 MB for the largest batch, so that collecting costs little, and waiting for it would double them.
const memoryLimit = 96 << 20

func main() {
	debug.SetMemoryLimit(memoryLimit)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_ENTITIES", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Reconcile, (&pipeline.Reconcile{
		Batches:    batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit),
		Entities:   entitydb.NewStatuses(env.DynamoDB(), env.EntitiesTable),
		Work:       env.Work(),
		NewAttempt: pipeline.NewAttempt,
		Log:        env.Log,
	}).Run))
}
