// DigestFile is the Lambda function of the states DigestFile and DigestAccepted: it computes the digests of a file.
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
	lambda.Start(pipeline.Measured(env.Metrics, metric.Digest, stepsetup.NewDigest(env).Run))
}
