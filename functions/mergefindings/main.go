// MergeFindings is the Lambda function of the state SettleChunk: it merges all findings about one chunk.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/stepsetup"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/metric"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Settle, stepsetup.NewSettle(env).Run))
}
