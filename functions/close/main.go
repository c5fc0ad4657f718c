// Close is the Lambda function of the states Close and GiveUp: it ends a batch in PROCESSED or in ERROR. EventBridge
// invokes it for every execution that did not succeed.
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
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "ANNOUNCE_FUNCTION")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Close, (&pipeline.Close{
		Batches: env.Announcing(batchdb.New(env.DynamoDB(), env.BatchesTable).Audited(env.Audit)),
		Now:     time.Now,
		Log:     env.Log,
	}).Handle))
}
