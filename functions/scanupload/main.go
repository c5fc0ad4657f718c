// ScanUpload is the Lambda function that S3 invokes for every uploaded object and EventBridge every five minutes and,
// where GuardDuty scans, for every result. It has uploads scanned, starts the state machine for clean batches, and
// sweeps.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/functions/setup"
	"sluice/functions/setup/batchsetup"
	"sluice/shared/access/auth/authdb"
	"sluice/shared/ingest/intake"
	"sluice/shared/ingest/pipeline"
)

func main() {
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_DOCUMENTS", "TABLE_CLIENTS", "BUCKET_UPLOADS",
		"STATE_MACHINE_ARN", "ANNOUNCE_FUNCTION", "MAX_UPLOAD_BYTES", "MAX_UNPACK_RATIO", "MALWARE_SCAN",
		"SCAN_PATIENCE", "SWEEP_AGE", "UPLOAD_PATIENCE", "TABLE_ADMISSION", "SLOTS", "INGEST_CONCURRENCY")
	scanner, guardDuty, err := batchsetup.NewScanner(env)
	env.Check(err)
	retry := intake.RetryPolicy{Attempts: 5, Pause: 2 * time.Second}
	registry := authdb.New(env.DynamoDB(), env.ClientsTable)
	batches := batchsetup.NewBatches(env)
	in := &intake.Intake{
		Batches: batches, Uploads: env.Uploads(), Machine: batchsetup.NewMachine(env), Registry: registry,
		Sweep:   batchsetup.NewSweep(env, batches),
		Scanner: scanner, GuardDuty: guardDuty, Retry: retry, Now: time.Now, Log: env.Log, Metrics: env.Metrics,
		MaxBytes: env.MaxUploadBytes, MaxRatio: env.MaxUnpackRatio, NewAttempt: pipeline.NewAttempt,
		Documents: batchsetup.NewDocuments(env, registry, scanner, guardDuty, retry),
	}
	lambda.Start(in.Handle)
}
