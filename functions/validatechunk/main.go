// ValidateChunk is the Lambda function of the state ValidateChunk: it reads one chunk and validates its lines.
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
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "BUCKET_UPLOADS", "BUCKET_WORK", "TABLE_INDEX",
		"SECRETS_KEY_ID")
	lambda.Start(pipeline.Measured(env.Metrics, metric.Validate, stepsetup.NewValidate(env).Run))
}
