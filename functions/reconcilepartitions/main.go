// ReconcilePartitions is the Lambda function of the state ReconcilePartitions: it finds duplicate IDs and looks
// entities up over the whole batch, for some partitions of them.
package main

import (
	"context"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/stepsetup"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	debug.SetMemoryLimit(stepsetup.MemoryLimit)
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_ENTITIES", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Reconcile, stepsetup.NewReconcile(env).Run))
}
