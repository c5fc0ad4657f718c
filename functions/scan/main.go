// Scan is run by S3 for every upload and, where GuardDuty scans, by its results and by the clock.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"sluice/shared/intake"
	"sluice/shared/setup"
)

func main() {
	f := setup.Must(context.Background(), "TABLE_BATCHES", "TABLE_DOCUMENTS", "BUCKET_UPLOADS", "STATE_MACHINE_ARN", "MAX_UPLOAD_BYTES",
		"MALWARE_SCAN", "SCAN_PATIENCE")
	lines, documents, results, err := f.Scanners()
	if err != nil {
		f.Log.Error("cannot start", "error", err)
		os.Exit(1)
	}
	files := f.Uploads()
	patience := intake.Patience{Attempts: 5, Pause: 2 * time.Second}
	in := &intake.Intake{
		Batches:   f.Batches(),
		Uploads:   files,
		Scanner:   lines,
		Results:   results,
		Machine:   f.Machine(),
		Documents: &intake.Documents{Store: f.Documents(), Files: files, Scanner: documents, Results: results, MaxBytes: f.MaxUploadBytes, Patience: patience, Log: f.Log},
		MaxBytes:  f.MaxUploadBytes,
		Patience:  patience,
		Now:       time.Now,
		Log:       f.Log,
	}
	lambda.Start(in.Handle)
}
