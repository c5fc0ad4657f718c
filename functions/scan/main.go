// Scan is the Lambda function that S3 invokes for every uploaded object and, where GuardDuty scans, EventBridge for
// every result and every five minutes. It has uploads scanned and starts the state machine for clean batches.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/batch/batchdb"
	"sluice/shared/document/documentdb"
	"sluice/shared/intake"
	"sluice/shared/setup"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_DOCUMENTS", "BUCKET_UPLOADS",
		"STATE_MACHINE_ARN", "MAX_UPLOAD_BYTES",
		"MALWARE_SCAN", "SCAN_PATIENCE")
	lines, documents, guardDuty, err := env.Scanners()
	env.Check(err)
	retry := intake.RetryPolicy{Attempts: 5, Pause: 2 * time.Second}
	in := &intake.Intake{
		Batches: batchdb.New(env.DynamoDB(), env.BatchesTable), Uploads: env.Uploads(), Machine: env.Machine(),
		Scanner: lines, GuardDuty: guardDuty, MaxBytes: env.MaxUploadBytes, Retry: retry, Now: time.Now, Log: env.Log,
		Documents: &intake.Documents{
			Store: documentdb.New(env.DynamoDB(), env.DocumentsTable), Files: env.Uploads(),
			Scanner: documents, GuardDuty: guardDuty, MaxBytes: env.MaxUploadBytes, Retry: retry, Log: env.Log,
		},
	}
	lambda.Start(in.Handle)
}
