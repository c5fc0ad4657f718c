// Scan is run by S3 for every upload and, where GuardDuty scans, by its results and by the clock.
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
	env := setup.MustLoad(context.Background(), "TABLE_BATCHES", "TABLE_DOCUMENTS", "BUCKET_UPLOADS", "STATE_MACHINE_ARN", "MAX_UPLOAD_BYTES",
		"MALWARE_SCAN", "SCAN_PATIENCE")
	lines, documents, results, err := env.Scanners()
	env.Check(err)
	files := env.Uploads()
	patience := intake.Patience{Attempts: 5, Pause: 2 * time.Second}
	in := &intake.Intake{
		Batches:   batchdb.New(env.DynamoDB(), env.BatchesTable),
		Uploads:   files,
		Scanner:   lines,
		Results:   results,
		Machine:   env.Machine(),
		Documents: &intake.Documents{Store: documentdb.New(env.DynamoDB(), env.DocumentsTable), Files: files, Scanner: documents, Results: results, MaxBytes: env.MaxUploadBytes, Patience: patience, Log: env.Log},
		MaxBytes:  env.MaxUploadBytes,
		Patience:  patience,
		Now:       time.Now,
		Log:       env.Log,
	}
	lambda.Start(in.Handle)
}
